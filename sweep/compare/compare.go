package compare

import (
	"fmt"
	"maps"
	"slices"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
)

// Side is one of the two curves. Fingerprint is nil where the curve came from
// elsewhere; All are its recorded runs, for their times.
type Side struct {
	Runs        []knee.Run
	All         []sweep.Run
	Fit         knee.Fit
	Point       sweep.OperatingPoint
	Fingerprint *sweep.Fingerprint
	// Good are the runs as Runs, by what they served within an objective, and SLO
	// is up to where it was met; both sides are judged by the same one, and
	// without one both are absent. A change of goodput counts as one of
	// throughput does.
	Good []sweep.GoodRun
	SLO  sweep.SLO
	// Notes are what its reader had to say of it.
	Notes []string
}

// Options say what counts as a change.
type Options struct {
	Confidence float64 // such as 0.95
	// The smallest parts by which a change of output throughput and of TTFT p99
	// matters.
	Throughput, TTFT float64
	// Paired says that the runs of a level are pairs, in their order: run i of A
	// and run i of B were made back to back.
	Paired bool
}

// Change is what became of one metric.
type Change struct {
	Shift
	// MedianA and MedianB are of one level; absent for all levels together.
	MedianA, MedianB float64
	// Corrected is P after Holm's correction for the number of levels; it equals
	// P where there is one test.
	Corrected float64
	Verdict   Verdict
	// More is how many more runs a side each level needs, where the verdict is
	// CannotTell; SpreadKnown is false if no level was repeated.
	More        int
	SpreadKnown bool
}

// Level is one concurrency that both sides measured.
type Level struct {
	ConcurrencyPerGPU int
	Throughput, TTFT  Change
	// Goodput is absent where no run of either side had a good request.
	Goodput Change
}

// Report is the answer.
type Report struct {
	// Throughput and TTFT are over all common levels, one test each, and so is
	// Goodput, nil unless both sides counted it by their objective.
	Throughput, TTFT Change
	Goodput          *Change
	Levels           []Level
	// Point is the level of A's operating point, a test of its own that was
	// chosen before B was looked at; nil if there is none or B lacks it.
	Point *Level
	// KneeRatio is B's knee over A's, between the extremes that their own
	// intervals allow; 0 unless both have one.
	KneeRatio, KneeLow, KneeHigh float64
	// SLORatio is the same of the concurrencies up to which the objective is met;
	// an end is open where the levels, not the objective, are what ends it.
	SLORatio, SLOLow, SLOHigh float64
	SLOLowOpen, SLOHighOpen   bool
	OnlyA, OnlyB              []int
	Interleaved               bool
	// Paired says that Throughput and TTFT are those of pairs.
	Paired   bool
	Warnings []string
}

// Curves compares B with A. An error says that they have too many runs, or are
// no pairs where they should be.
func Curves(a, b Side, o Options) (Report, error) {
	var r Report
	ra, rb := byLevel(a.Runs), byLevel(b.Runs)
	goodA, goodB := goodByLevel(a.Good), goodByLevel(b.Good)
	var xs, ts, gs []Stratum
	for _, n := range slices.Sorted(maps.Keys(ra)) {
		if a, b := len(ra[n]), len(rb[n]); a > MaxRuns || b > MaxRuns {
			return r, fmt.Errorf("%s of A and %d of B at %d per GPU: the exact test is for at most %d; leave some out, by a rule that does not look at their values", plural.Of(a, "run"), b, n, MaxRuns)
		}
		if len(rb[n]) == 0 {
			r.OnlyA = append(r.OnlyA, n)
			continue
		}
		x, t := strata(ra[n], rb[n])
		g := goodStratum(goodA[n], goodB[n])
		xs, ts, gs = append(xs, x), append(ts, t), append(gs, g)
		r.Levels = append(r.Levels, Level{n, one(x, o.Confidence), one(t, o.Confidence), one(g, o.Confidence)})
	}
	for _, n := range slices.Sorted(maps.Keys(rb)) {
		if len(ra[n]) == 0 {
			r.OnlyB = append(r.OnlyB, n)
		}
	}
	if counted(a.Good) && counted(b.Good) {
		r.Goodput = &Change{Shift: Between(gs, o.Confidence)}
	}
	r.Throughput, r.TTFT = Change{Shift: Between(xs, o.Confidence)}, Change{Shift: Between(ts, o.Confidence)}
	if o.Paired {
		if err := r.pair(ra, rb, goodA, goodB, o.Confidence); err != nil {
			return r, err
		}
	}
	r.settle(a.Point.ConcurrencyPerGPU, o)
	if a.Fit.HasKnee() && b.Fit.HasKnee() {
		r.KneeRatio = b.Fit.Knee / a.Fit.Knee
		r.KneeLow, r.KneeHigh = b.Fit.KneeLow/a.Fit.KneeHigh, b.Fit.KneeHigh/a.Fit.KneeLow
	}
	r.compareSLO(a.SLO, b.SLO)
	r.Interleaved = o.Paired || interleaved(a.All, b.All)
	r.remark(a, b)
	r.remarkObjective(a, b)
	return r, nil
}

// settle gives every change its verdict: those over all levels and those at the
// operating point are one test each, the levels are corrected for their number.
func (r *Report) settle(point int, o Options) {
	o.judge(&r.Throughput, &r.TTFT, r.Throughput.P, r.TTFT.P)
	if g := r.Goodput; g != nil {
		g.settle(g.P, o.Confidence, o.Throughput, true)
	}
	for i := range r.Levels {
		if l := r.Levels[i]; point == l.ConcurrencyPerGPU {
			o.judge(&l.Throughput, &l.TTFT, l.Throughput.P, l.TTFT.P)
			l.Goodput.settle(l.Goodput.P, o.Confidence, o.Throughput, true)
			r.Point = &l
		}
	}
	px := holm(pValues(r.Levels, func(l Level) float64 { return l.Throughput.P }))
	pt := holm(pValues(r.Levels, func(l Level) float64 { return l.TTFT.P }))
	pg := holm(pValues(r.Levels, func(l Level) float64 { return l.Goodput.P }))
	for i := range r.Levels {
		l := &r.Levels[i]
		o.judge(&l.Throughput, &l.TTFT, px[i], pt[i])
		l.Goodput.settle(pg[i], o.Confidence, o.Throughput, true)
	}
}

func (o Options) judge(x, t *Change, px, pt float64) {
	x.settle(px, o.Confidence, o.Throughput, true)
	t.settle(pt, o.Confidence, o.TTFT, false)
}

func (c *Change) settle(p, confidence, matters float64, moreIsBetter bool) {
	c.Corrected = p
	c.Verdict = judge(c.Shift, p, confidence, matters, moreIsBetter)
	if c.Verdict == CannotTell {
		c.More, c.SpreadKnown = moreRuns(c.Shift, confidence, matters)
	}
}

func one(s Stratum, confidence float64) Change {
	return Change{Shift: Between([]Stratum{s}, confidence), MedianA: sweep.Median(s.A), MedianB: sweep.Median(s.B)}
}

func byLevel(runs []knee.Run) map[int][]knee.Run {
	out := map[int][]knee.Run{}
	for _, r := range runs {
		out[r.ConcurrencyPerGPU] = append(out[r.ConcurrencyPerGPU], r)
	}
	return out
}

// strata are the throughputs and the TTFT p99 of a level; an absent latency is
// no value.
func strata(a, b []knee.Run) (x, t Stratum) {
	for _, r := range a {
		x.A = append(x.A, r.TokPerSecPerGPU)
		t.A = appendKnown(t.A, r.TTFTP99MS)
	}
	for _, r := range b {
		x.B = append(x.B, r.TokPerSecPerGPU)
		t.B = appendKnown(t.B, r.TTFTP99MS)
	}
	return x, t
}

func appendKnown(to []float64, v float64) []float64 {
	if v > 0 {
		return append(to, v)
	}
	return to
}

func pValues(levels []Level, p func(Level) float64) []float64 {
	out := make([]float64, len(levels))
	for i, l := range levels {
		out[i] = p(l)
	}
	return out
}
