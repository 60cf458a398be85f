package sweep

import (
	"fmt"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
)

// Runs that prove a point (§18.2, O-4): the point, its half and the next
// ladder value.
const (
	proveRuns     = 5
	proveSideRuns = 2
)

// prove measures a given point, its half and the ladder value above, and no
// other level. The confirmation's steady runs count as the point's own. It
// comes last: most of what refuses a point shows beside it.
func (t *tape) prove() Decision {
	n := t.plan.Point
	sides := []int{n / 2, LadderNext(n)}
	for range proveSideRuns {
		for _, q := range sides {
			if t.view.unmeasurable(q) {
				continue
			}
			if _, ok := t.run(q, Prove, fmt.Sprintf("to prove %d per GPU: its half and the level above", n)); !ok {
				return t.unproved()
			}
		}
	}
	if bound, bad := besidePoint(t.plan, t.view); bad != "" {
		return t.unconfirmed(OperatingPoint{ConcurrencyPerGPU: n, Bound: bound, Next: LadderNext(n)}, bad)
	}
	if t.plan.Confirm {
		want, tries := t.plan.proofAttempts()
		a, ok := t.attempts(n, Confirm, want, tries, 0)
		if !ok {
			return t.unproved()
		}
		if bad := a.verdict(n, want); bad != "" {
			return t.unconfirmed(OperatingPoint{ConcurrencyPerGPU: n, Next: LadderNext(n)}, bad)
		}
	} else {
		for range proveRuns {
			if _, ok := t.run(n, Prove, fmt.Sprintf("to prove %d per GPU: the point itself", n)); !ok {
				return t.unproved()
			}
		}
	}
	op, _ := provePoint(t.plan, t.fit(false), t.view)
	return Decision{Point: op, Reason: op.Sentence()}
}

// proofAttempts is how many valid attempts a point is proved with, and of how many.
func (p Plan) proofAttempts() (valid, tries int) {
	if p.Reconfirm {
		return checkValid, checkTries
	}
	return confirmValid, confirmTries
}

// besidePoint is what refuses a point whatever it does itself: a level beside
// it that cannot be measured, or one above whose TTFT is out of bounds.
func besidePoint(p Plan, v *view) (bound, why string) {
	half, next := p.Point/2, LadderNext(p.Point)
	switch t := v.ttft99(next); {
	case v.unmeasurable(half):
		return "", noValidRun(v, half)
	case v.unmeasurable(next):
		return boundNext, noValidRun(v, next)
	case v.has(next) && !(t > 0 && t <= p.SLOMaxTTFTMS):
		return boundNext, sloReason(next, t, p.SLOMaxTTFTMS)
	}
	return "", ""
}

func noValidRun(v *view, n int) string {
	return fmt.Sprintf("%d per GPU gave no valid run (%s)", n, gatesOf(v.invalid[n]))
}

func (t *tape) unproved() Decision {
	if t.failed != "" {
		return t.known()
	}
	op := OperatingPoint{ConcurrencyPerGPU: t.plan.Point, Next: LadderNext(t.plan.Point)}
	return t.unconfirmed(op, t.spent)
}

// provePoint is O-4: O-2 holds at the point, and throughput still gains e* per
// doubling from its half, which a curve past its knee does not. need is a
// level that must be measured first.
func provePoint(p Plan, fit knee.Fit, v *view) (op OperatingPoint, need int) {
	n, half, next := p.Point, p.Point/2, LadderNext(p.Point)
	op = OperatingPoint{ConcurrencyPerGPU: n, Next: next}
	if op.Bound, op.Reason = besidePoint(p, v); op.Reason != "" {
		return op, 0
	}
	want := map[int]int{half: proveSideRuns, n: proveRuns, next: proveSideRuns}
	if p.Reconfirm {
		want[n] = checkValid
	}
	for _, q := range []int{half, n, next} {
		switch have := len(v.valid[q]); {
		case v.unmeasurable(q):
			op.Reason = noValidRun(v, q)
			return op, 0
		case have == 0:
			op.Reason = fmt.Sprintf("%d per GPU was not measured", q)
			return op, q
		case have < want[q]:
			op.Reason = fmt.Sprintf("%d per GPU has %s, %d %s needed", q, plural.Of(have, "valid run"), want[q], plural.Verb(want[q], "is", "are"))
			return op, q
		case v.split(q, fit):
			op.Reason = fmt.Sprintf("unstable: throughput at %d per GPU is not of one piece", q)
			return op, 0
		}
	}
	if t := v.ttft99(n); !(t > 0 && t <= p.SLOMaxTTFTMS) {
		op.Bound, op.Reason = boundSLO, sloReason(n, t, p.SLOMaxTTFTMS)
		return op, 0
	}
	if bad := unhealthyNext(p, fit, v, n, next); bad != "" {
		op.Bound, op.Reason = boundNext, bad
		return op, 0
	}
	need2 := exact.Pow(float64(n)/float64(half), p.EStar)
	if gain := v.x(n) / v.x(half); !(gain >= need2) {
		op.Reason = fmt.Sprintf("throughput gains only ×%.3f from %d to %d per GPU, ×%.3f shows that it still rises", gain, half, n, need2)
		return op, 0
	}
	if most, bad, unknown := objectiveBound(p, v); bad+unknown != "" || float64(n) > most {
		op.Bound, op.Reason = boundObjective, bad+unknown
		if op.Reason == "" {
			op.Reason = fmt.Sprintf("the objective is met up to %.3g per GPU only", most)
		}
		return op, 0
	}
	op.Basis, op.Bound, op.Healthy = "proved", boundGiven, true
	return op, 0
}
