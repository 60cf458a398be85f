package sweep

import (
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/loadgen"
)

// JudgeSLO is FindSLO over the valid steady runs of the first window. The
// percentiles are used however few requests they are of: a rough one widens
// the interval, a missing one is told. A further window measures a single level,
// which may be of another deployment than its neighbours: it moves no crossing,
// but what it misses is told.
func JudgeSLO(o loadgen.Objective, runs []Run) SLO {
	s := FindSLO(o, viewOf(inWindow(runs, 1)).latencies())
	for w := 2; w <= (Curve{Runs: runs}).Windows(); w++ {
		v := viewOf(inWindow(runs, w))
		for _, n := range v.levels() {
			if bad := missedAt(o, v, n); bad != "" && n <= s.LevelMet {
				s.Notes = append(s.Notes, fmt.Sprintf("in window %d %s", w, bad))
			}
		}
	}
	return s
}

func (v *view) latencies() []LatencyRun {
	var out []LatencyRun
	for _, n := range v.levels() {
		for _, e := range v.valid[n] {
			out = append(out, LatencyRun{ConcurrencyPerGPU: n, TTFTP99MS: e.TTFTP99MS, ITLP99MS: e.ITLP99MS})
		}
	}
	return out
}

// objectiveBound is the largest concurrency that an objective allows, +Inf
// where it bounds nothing. It only ever lowers an operating point: what the
// rules O-1 and O-2 refuse, no objective permits. bad says why none is allowed,
// unknown why that cannot be told.
func objectiveBound(p Plan, v *view) (most float64, bad, unknown string) {
	if p.Objective.IsZero() {
		return math.Inf(1), "", ""
	}
	switch s := FindSLO(p.Objective, v.latencies()); s.State {
	case SLOCrossed:
		return s.ConcurrencyPerGPU, "", ""
	case SLONotMet:
		return 0, fmt.Sprintf("the objective is not met even at %d per GPU, the lowest level", s.LevelMissed), ""
	case SLOInsufficient:
		return math.Inf(1), "", "the objective cannot be judged: " + s.Reason
	}
	return math.Inf(1), "", ""
}

// runsForPoint are kept back for what the operating point may still need: two
// runs of it and two of the level above.
const runsForPoint = 4

// locateObjective brings the levels on either side of the crossing of an
// objective to within half an octave, and looks for it below the lowest level
// where no level meets the objective. The knee comes first: it is not done with
// runs that the budget may not have.
func (t *tape) locateObjective() bool {
	if t.plan.Objective.IsZero() {
		return true
	}
	for t.counted+t.plan.Repeats+runsForPoint <= t.plan.MaxRuns {
		n, why := t.objectiveGap()
		if n == 0 || t.view.has(n) || t.view.unmeasurable(n) {
			return true
		}
		if !t.repeat(n, Refine, why) {
			return false
		}
	}
	return true
}

// objectiveGap is the level that would tell most of the objective, 0 if the
// ladder has none.
func (t *tape) objectiveGap() (n int, why string) {
	switch s := FindSLO(t.plan.Objective, t.view.latencies()); {
	case s.State == SLONotMet && t.lowest() > minLevel:
		return t.lowest() / 2, "no level meets the objective so far: does a lower one?"
	case s.State == SLOCrossed && float64(s.LevelMissed) > closeEnough*float64(s.LevelMet):
		why := fmt.Sprintf("the objective is met at %d per GPU and missed at %d, more than %.1f× apart", s.LevelMet, s.LevelMissed, closeEnough)
		return ladderNear(math.Sqrt(float64(s.LevelMet) * float64(s.LevelMissed))), why
	}
	return 0, ""
}

// missedAt says which limit of an objective the runs at n miss, by their median
// as in FindSLO, "" if they meet all. What is missing is no pass.
func missedAt(o loadgen.Objective, v *view, n int) string {
	for _, l := range []struct {
		what      string
		limit, at float64
	}{
		{"TTFT p99", o.TTFTMS, v.ttft99(n)},
		{"ITL p99", o.ITLMS, Median(v.collect(n, func(e loadgen.Estimate) float64 { return e.ITLP99MS }))},
	} {
		switch {
		case l.limit == 0 || l.at > 0 && l.at <= l.limit:
		case l.at == 0:
			return fmt.Sprintf("%s was not measured at %d per GPU, so the objective cannot be judged", l.what, n)
		default:
			return fmt.Sprintf("the objective is missed at %d per GPU: %s is %.4g ms, above %.4g ms", n, l.what, l.at, l.limit)
		}
	}
	return ""
}
