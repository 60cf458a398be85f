package sweep

import (
	"fmt"
	"strings"

	"github.com/perfsweep/perfsweep/knee"
)

// Decision is what a planner says next.
type Decision struct {
	Done bool
	Step Step
	// When done: the operating point (0 = none), and the sentence saying why.
	Point  OperatingPoint
	Reason string
}

// Unstable reports whether the campaign ended because its environment is not
// steady: what was measured until then is no finished answer.
func (d Decision) Unstable() bool { return d.Done && strings.HasPrefix(d.Reason, "unstable") }

// fitter is knee.Find, or a memo of it: replaying a campaign asks for the same
// few fits at every step.
type fitter func([]knee.Run, knee.Options) knee.Fit

// NextStep is the planner: pure, deterministic in (plan, runs).
func NextStep(p Plan, runs []Run) Decision { return nextStep(p, runs, knee.Find) }

func nextStep(p Plan, runs []Run, find fitter) Decision {
	if err := p.Validate(); err != nil {
		return Decision{Done: true, Reason: "the plan is not valid: " + err.Error()}
	}
	return newTape(p, runs, find).decide()
}

func (t *tape) decide() Decision {
	p := t.plan
	var d Decision
	switch {
	case p.Window > 1:
		d = t.confirmAgain()
	case p.Check:
		d = t.check()
	case p.Point > 0:
		d = t.prove()
	default:
		d = t.search()
	}
	if t.pending != nil {
		return Decision{Step: *t.pending}
	}
	d.Done = true
	return d
}

// search measures a curve, chooses the operating point and confirms it. The
// confirmation comes last, so a finished sweep is the beginning of a
// calibration.
func (t *tape) search() Decision {
	if !t.measureCurve() {
		return t.known()
	}
	op, ok := t.point(0)
	if !ok {
		return t.known()
	}
	if !t.plan.Confirm || !op.Healthy {
		return Decision{Point: op, Reason: op.Sentence()}
	}
	return t.confirm(op)
}

func (t *tape) measureCurve() bool {
	if len(t.plan.Levels) > 0 {
		return t.firstPass() && t.secondPass() && t.settleSplits()
	}
	s, ok := t.coarse()
	return ok && t.extend(s) && t.secondPass() && t.settleSplits() && t.lower() && t.refine() && t.locateObjective()
}

// known reports what there is when a campaign stops early.
func (t *tape) known() Decision {
	if t.pending != nil {
		return Decision{}
	}
	if t.failed != "" {
		return Decision{Point: OperatingPoint{Reason: t.failed}, Reason: t.failed}
	}
	op, need := choosePoint(t.plan, t.fit(false), t.view, 0)
	op.Measure, op.Healthy = need != 0, false
	if op.Reason == "" {
		op.Reason = "the campaign is not finished"
	}
	return Decision{Point: op, Reason: fmt.Sprintf("%s; %s", t.spent, op.Sentence())}
}
