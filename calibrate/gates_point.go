package calibrate

import (
	"fmt"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
)

func (e *evidence) c8() GateResult {
	g := GateResult{ID: "C8", Name: "enough steady gate runs", State: Unmet,
		Threshold: fmt.Sprintf("%d or more valid of at most %s attempts, within-deployment sd of ln X at most %.2f", minRunsToWrite, e.attempts.allowance(), maxSW)}
	a := e.attempts
	g.Observed = fmt.Sprintf("%d valid of %s", len(a.valid), plural.Of(a.total, "attempt"))
	if len(a.gates) > 0 {
		g.Observed += " (" + a.why() + ")"
	}
	if e.limitsErr == nil {
		g.Observed += fmt.Sprintf(", sd %.4f", e.limits.SWRaw)
	}
	switch g.noData = a.total == 0; {
	case len(a.valid) < minRunsToWrite:
		g.Remedy = "resume the calibration with the target until the point is confirmed"
		if a.total > len(a.valid) {
			g.Remedy = "mend what makes runs invalid, then calibrate again in a new journal"
		}
	case a.tooMany():
		g.Remedy = "the valid runs were picked from too many attempts: calibrate again in a new journal"
	case e.limitsErr != nil || !(e.limits.SWRaw <= maxSW):
		g.Remedy = "runs of the same point differ too much for a floor: quieten the environment, then calibrate again"
	default:
		g.State = Met
	}
	return result(g)
}

func (e *evidence) c9() GateResult {
	g := GateResult{ID: "C9", Name: "the curve has a knee", State: Unmet,
		Threshold: "knee, latency_limited, a proved point or a labelled lower bound; the point and the next level healthy",
		Remedy:    "see the reasons"}
	g.Observed = string(e.fit.Status)
	if g.Observed == "" {
		g.Observed = "no fit"
	}
	if e.point.Basis != "" {
		g.Observed += ", basis " + e.point.Basis
	}
	switch {
	case e.op() <= 0:
		g.Observed += ", no operating point"
	case !e.point.Healthy:
		g.Observed += fmt.Sprintf(", %d per GPU is not proved healthy", e.op())
	default:
		g.State = state(e.basisFits())
	}
	return result(g)
}

// Bases of an operating point that are not a status of the fit.
const (
	basisProved     = "proved"
	basisLowerBound = "lower_bound"
)

// basisFits reports whether the point rests on something that may be written.
func (e *evidence) basisFits() bool {
	switch e.point.Basis {
	case basisProved:
		return true
	case basisLowerBound:
		return e.fit.Status == knee.NotSaturated
	case string(knee.Knee), string(knee.LatencyLimited):
		return e.fit.HasKnee()
	}
	return false
}
