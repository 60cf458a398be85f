package calibrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// reading is what one gate run read, whole-run estimators only, and where and
// when its attempt was made.
type reading struct {
	tokPerSecPerGPU float64
	ttftP50MS       float64
	ttftP99MS       float64
	window          int
	deployment      string
	began, ended    time.Time
	// kinds, whole and wholeLeast hold the gate run against its steady run and
	// against its own window, see pairedKinds.
	kinds, whole, wholeLeast float64
}

// attempts sums up the confirmation or check attempts at one concurrency: a
// gate run, and the steady run after it that watches for stalls.
type attempts struct {
	total   int
	stalled int
	// valid holds the readings of attempts in which every run is valid.
	valid []reading
	// gates counts attempts that failed, by run gate.
	gates map[string]int
	// made counts the attempts of each window.
	made map[int]int
	// opens are the windows that are the first of a cluster's; nil where there is
	// one cluster.
	opens map[int]bool
	// watched is how long their runs lasted, whatever became of them.
	watched time.Duration
	// shortP99 counts valid attempts whose TTFT p99 rests on too few requests.
	shortP99 int
}

// The run gate of lost workers, those whose violation is a stall, that of this
// tool, and the class of an attempt without a usable number.
const (
	gateReady     = "V1"
	gateStall     = "V6"
	gateWorkers   = "V7"
	gateClient    = "V8"
	missingMetric = "missing metric"
	unfinished    = "unfinished"
)

// attemptsAt collects the attempts made for purpose at n per GPU, paired in
// journal order as the planner makes them: a steady run belongs to the gate run
// before it, and an attempt whose gate run is INVALID ends there.
func attemptsAt(c sweep.Curve, n int, purpose sweep.Purpose) attempts {
	a := attempts{gates: map[string]int{}, made: map[int]int{}}
	var pair []sweep.Run
	flush := func() {
		if len(pair) > 0 {
			a.add(pair, c.Fingerprint)
		}
		pair = nil
	}
	for _, r := range c.Runs {
		if r.Step.Purpose != purpose || r.Step.ConcurrencyPerGPU != n {
			continue
		}
		if r.Step.Kind == loadgen.Gate {
			flush()
		}
		pair = append(pair, r)
		if r.Step.Kind == loadgen.Steady {
			flush()
		}
	}
	flush()
	return a
}

// add classes one attempt.
func (a *attempts) add(pair []sweep.Run, f sweep.Fingerprint) {
	a.total++
	a.made[max(pair[0].Window, 1)]++
	failed, caused := map[string]bool{}, map[string]bool{}
	for _, r := range pair {
		a.watched += max(r.Result.Ended.Sub(r.Result.Started), 0)
		for _, v := range r.Violations {
			failed[v.Gate] = true
			caused[v.Gate] = caused[v.Gate] || !r.Follows(v)
		}
		if r.Result.Stopped == "silence" {
			failed[gateStall] = true
		}
	}
	first := pair[0]
	var read reading
	if first.Step.Kind == loadgen.Gate && f.GPUs > 0 {
		w := first.Result.WholeRun
		read = reading{
			tokPerSecPerGPU: w.OutputTokPerSec / float64(f.GPUs), ttftP50MS: w.TTFTP50MS, ttftP99MS: w.TTFTP99MS,
			window: max(first.Window, 1), deployment: first.Deployment, began: first.Started, ended: pair[len(pair)-1].Result.Ended,
		}
	}
	complete := first.Step.Kind == loadgen.Gate && len(pair) == 2
	switch {
	case len(failed) > 0:
	case !complete:
		failed[unfinished] = true
	case !positive(read.tokPerSecPerGPU) || !positive(read.ttftP99MS) || !positive(read.ttftP50MS),
		!positive(first.Result.Window.OutputTokPerSec), !positive(pair[1].Result.Window.OutputTokPerSec):
		failed[missingMetric] = true
	default:
		read.pairedKinds(first.Result, pair[1].Result)
	}
	if failed[gateStall] || failed[gateWorkers] {
		a.stalled++
	}
	if len(failed) > 0 {
		for g := range failed {
			if cause, violated := caused[g]; cause || !violated {
				a.gates[g]++
			}
		}
		return
	}
	a.valid = append(a.valid, read)
	if f.Effort != sweep.Quick && first.Result.WholeRun.Requests < sweep.P99Requests {
		a.shortP99++
	}
}

func (a attempts) column(of func(reading) float64) []float64 {
	out := make([]float64, len(a.valid))
	for i, r := range a.valid {
		out[i] = of(r)
	}
	return out
}

func (a attempts) throughputs() []float64 {
	return a.column(func(r reading) float64 { return r.tokPerSecPerGPU })
}

func (a attempts) p99s() []float64 {
	return a.column(func(r reading) float64 { return r.ttftP99MS })
}

func (a attempts) p50s() []float64 {
	return a.column(func(r reading) float64 { return r.ttftP50MS })
}

// why names what the invalid attempts failed, such as "V2: 1, V6: 2".
func (a attempts) why() string { return counts(a.gates) }

func counts(m map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s: %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}

// invalidRuns counts the INVALID runs of a whole curve, and by the run gates that
// are a cause of their own.
func invalidRuns(c sweep.Curve) (n int, byGate map[string]int) {
	byGate = map[string]int{}
	for _, r := range c.Runs {
		if r.Valid() {
			continue
		}
		n++
		causes, _ := r.Causes()
		for _, v := range causes {
			byGate[v.Gate]++
		}
	}
	return n, byGate
}

// notUsed says how many runs of a curve are INVALID, "" if none is.
func notUsed(c sweep.Curve) string {
	n, by := invalidRuns(c)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s %s INVALID and %s not used (%s)",
		n, plural.Of(len(c.Runs), "run"), plural.Verb(n, "is", "are"), plural.Verb(n, "was", "were"), counts(by))
}
