package knee

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
)

// Bounds on input: outside of them a value is a mistake, not a measurement,
// and inside of them nothing below can overflow or take long.
const (
	maxConcurrency = 1 << 20
	maxMagnitude   = 1e15
	maxLevels      = 256
	// minLevels is the least number of levels that a fit needs.
	minLevels = 4
)

const (
	flagSplit     = "split"
	flagTTFTSplit = "ttft_split"
	flagValley    = "valley"
	flagUnstable  = "unstable"
)

// level is one concurrency while it is being judged.
type level struct {
	n      int
	runs   []Run     // sorted, so that nothing depends on their order
	logs   []float64 // ln X of runs, ascending
	cut    int       // runs below this index are a lower cluster
	y      float64   // median ln X of the kept runs
	ss     float64   // their sum of squares around y
	t99    float64   // median TTFT p99 of the kept runs, 0 = absent
	split  bool
	ttft   bool
	valley bool
}

func (l *level) kept() float64 { return float64(len(l.runs) - l.cut) }

// groupLevels sorts usable runs into levels and says what it left out.
func groupLevels(runs []Run) (levels []*level, warnings []string) {
	usable := make([]Run, 0, len(runs))
	badRuns, badTTFT := 0, 0
	for _, r := range runs {
		if r.ConcurrencyPerGPU < 1 || r.ConcurrencyPerGPU > maxConcurrency || !magnitude(r.TokPerSecPerGPU) {
			badRuns++
			continue
		}
		for _, v := range []*float64{&r.TTFTP50MS, &r.TTFTP99MS, &r.ITLMS} {
			if *v != 0 && !magnitude(*v) {
				*v = 0
				badTTFT++
			}
		}
		usable = append(usable, r)
	}
	if badRuns > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %s ignored: a concurrency outside 1..%d or a throughput that is not positive and finite; remove %s from the input",
			badRuns, plural.Of(len(runs), "run"), maxConcurrency, plural.Verb(badRuns, "it", "them")))
	}
	if badTTFT > 0 {
		warnings = append(warnings, plural.Of(badTTFT, "latency")+" ignored: not positive and finite")
	}
	slices.SortFunc(usable, compareRuns)
	for _, r := range usable {
		if len(levels) == 0 || levels[len(levels)-1].n != r.ConcurrencyPerGPU {
			levels = append(levels, &level{n: r.ConcurrencyPerGPU})
		}
		l := levels[len(levels)-1]
		l.runs = append(l.runs, r)
		l.logs = append(l.logs, exact.Log(r.TokPerSecPerGPU))
	}
	return levels, warnings
}

func magnitude(v float64) bool { return v >= 1/maxMagnitude && v <= maxMagnitude }

// compareRuns orders runs completely, so that any permutation of the same runs
// is the same input.
func compareRuns(a, b Run) int {
	return cmp.Or(
		cmp.Compare(a.ConcurrencyPerGPU, b.ConcurrencyPerGPU),
		cmp.Compare(a.TokPerSecPerGPU, b.TokPerSecPerGPU),
		cmp.Compare(a.TTFTP99MS, b.TTFTP99MS),
		cmp.Compare(a.TTFTP50MS, b.TTFTP50MS),
		cmp.Compare(a.ITLMS, b.ITLMS),
	)
}

// cleanLevels finds split levels and fills in the centres of what is kept.
func cleanLevels(levels []*level, rule gapRule) (noise float64, df int) {
	logs := make([][]float64, len(levels))
	for i, l := range levels {
		logs[i] = l.logs
	}
	cuts, noise, df := cleanCuts(logs, rule)
	for i, l := range levels {
		l.cut = cuts[i]
		l.split = l.cut > 0
		kept := l.logs[l.cut:]
		l.y = median(kept)
		l.ss = sumSquares(kept, l.y)
		l.t99 = medianOf(l.runs[l.cut:], ttftP99)
		l.ttft = MaxGap(collect(l.runs, ttftP99)) > maxTTFTGap
	}
	return noise, df
}

func ttftP99(r Run) float64 { return r.TTFTP99MS }

// collect returns the present values of a metric.
func collect(runs []Run, metric func(Run) float64) []float64 {
	v := make([]float64, 0, len(runs))
	for _, r := range runs {
		if x := metric(r); x > 0 {
			v = append(v, x)
		}
	}
	return v
}

func medianOf(runs []Run, metric func(Run) float64) float64 {
	v := collect(runs, metric)
	slices.Sort(v)
	return median(v)
}

// trimCollapse leaves out the levels beyond the second one that lies more than
// 10 % below the peak (F5): deep inside a collapse they say nothing about the
// knee and pull it low. A curve that recovers, or would keep fewer than five
// levels, is left whole.
func trimCollapse(levels []*level) []*level {
	if len(levels) == 0 {
		return levels
	}
	peak := 0
	for i, l := range levels {
		if l.y > levels[peak].y {
			peak = i
		}
	}
	second, seen := 0, 0
	for i := peak + 1; i < len(levels); i++ {
		low := levels[i].y < levels[peak].y+exact.Log(0.9)
		if low {
			if seen++; seen == 2 {
				second = i
			}
		} else if seen >= 2 {
			return levels
		}
	}
	if seen < 2 || second+1 < 5 {
		return levels
	}
	return levels[:second+1]
}

// dropValleys marks the levels that lie far below both a lower and a higher
// level, which no rise-then-fall curve has, and returns the others. If too few
// would be left, all stay, marked.
func dropValleys(levels []*level) []*level {
	p := poolOf(levels)
	tol := max(baseGap, 3.5*p.sd0()*math.Sqrt(2/p.medianKept))
	var left []*level
	for i, l := range levels {
		below, above := math.Inf(-1), math.Inf(-1)
		for _, o := range levels[:i] {
			below = max(below, o.y)
		}
		for _, o := range levels[i+1:] {
			above = max(above, o.y)
		}
		l.valley = l.y < min(below, above)-tol
		if !l.valley {
			left = append(left, l)
		}
	}
	if len(left) < minLevels {
		return levels
	}
	return left
}

// pool is what the repeats of some levels say about noise.
type pool struct {
	runs       float64
	ss         float64 // around the medians
	df         float64
	medianKept float64
}

func poolOf(levels []*level) pool {
	p := pool{df: -float64(len(levels))}
	kept := make([]float64, len(levels))
	for i, l := range levels {
		kept[i] = l.kept()
		p.runs += kept[i]
		p.ss += l.ss
	}
	p.df += p.runs
	slices.Sort(kept)
	p.medianKept = max(median(kept), 1)
	return p
}

// sd0 is the pooled noise, 0 without repeats.
func (p pool) sd0() float64 { return math.Sqrt(p.ss / max(p.df, 1)) }

// assumedNoise stands in where no level was repeated.
const assumedNoise = 0.02

// sd is the pooled noise, assumed without repeats.
func (p pool) sd() float64 {
	if p.df <= 0 {
		return assumedNoise
	}
	return p.sd0()
}

// report renders a level for the fit.
func (l *level) report() Level {
	kept := l.runs[l.cut:]
	out := Level{
		ConcurrencyPerGPU: l.n,
		Runs:              len(l.runs),
		Kept:              len(kept),
		TokPerSecPerGPU:   medianOf(kept, func(r Run) float64 { return r.TokPerSecPerGPU }),
		TTFTP50MS:         medianOf(kept, func(r Run) float64 { return r.TTFTP50MS }),
		TTFTP99MS:         l.t99,
		ITLMS:             medianOf(kept, func(r Run) float64 { return r.ITLMS }),
	}
	for _, f := range []struct {
		on   bool
		name string
	}{{l.split, flagSplit}, {l.ttft, flagTTFTSplit}, {l.valley, flagValley}} {
		if f.on {
			out.Flags = append(out.Flags, f.name)
		}
	}
	return out
}

// flagWarnings says in words what the flags of a level mean.
func flagWarnings(levels []*level) []string {
	var w []string
	name := func(pick func(*level) bool) string {
		var s []string
		for _, l := range levels {
			if pick(l) {
				s = append(s, fmt.Sprint(l.n))
			}
		}
		return strings.Join(s, ", ")
	}
	if s := name(func(l *level) bool { return l.split }); s != "" {
		w = append(w, "throughput fell into two clusters at "+s+" per GPU; only the upper one is used")
	}
	if s := name(func(l *level) bool { return l.ttft }); s != "" {
		w = append(w, "TTFT p99 of equal runs differs more than threefold at "+s+" per GPU")
	}
	if s := name(func(l *level) bool { return l.valley }); s != "" {
		w = append(w, "throughput at "+s+" per GPU lies below both a lower and a higher level; measure it again")
	}
	return w
}
