package calibrate

import (
	"fmt"
	"slices"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// Propose decides on a calibrated curve. current is the overlay's gate: its
// model, routing mode and floor form are kept.
//
// The table of outcomes is in outcomes; whatever the outcome, every gate is
// judged and reported.
func Propose(c sweep.Curve, current recipes.Gate, p Policy) Proposal {
	fit := c.Fit()
	return propose(c, fit, sweep.ChoosePoint(c.Plan, fit, c.Runs), current, p)
}

func propose(c sweep.Curve, fit knee.Fit, pt sweep.OperatingPoint, current recipes.Gate, p Policy) Proposal {
	e := gather(c, fit, pt, p)
	form, formErr := ResolveForm(current, p)
	e.form = form
	j := &judgement{evidence: e, current: current, formErr: formErr}
	j.gates = e.checkAll()
	if why, ok := separable(e.ceilingMS/e.bridge.seenTTFT(), e.policy.SLOMaxTTFTMS, fit, e.op()); !ok {
		if j.inseparable = why; e.bridge.Stands() {
			j.inseparable += ", all of it as perfsweep reads it; more pairs (--bridge-pairs) narrow what AIPerf's reading adds"
		}
	}
	steps := j.decide()
	outcome, why := steps[len(steps)-1].Outcome, steps[len(steps)-1].Why
	invalid, _ := invalidRuns(c)
	out := Proposal{
		Outcome: outcome, Gates: j.gates, Form: form, Profile: e.policy.Profile, Limits: e.limits, CeilingMS: e.ceilingMS,
		Point: pt, Sensitivity: e.sensitivity(e.effectiveFloor()), Anchor: e.anchor, Equivalence: e.equivalent, Validity: e.valid, Bridge: e.bridge, Steps: steps, RunGates: runGates(c),
		TokPerSecPerGPU: sweep.Median(e.attempts.throughputs()), TTFTP99MS: sweep.Median(e.attempts.p99s()),
		Attempts: e.attempts.total, ValidAttempts: len(e.attempts.valid), StalledAttempts: e.attempts.stalled,
		InvalidRuns: invalid, FingerprintHash: FingerprintHash(c.Fingerprint), Err: formErr, Fit: fit,
	}
	var note string
	if j.hasGate(outcome) {
		out.Gate, note = e.gate(current)
		out.EffectiveFloorPerGPU = e.effectiveFloor()
		out.EffectiveCeilingTTFTP99MS = (1 + recipes.Tolerance) * e.ceilingMS
		out.Rule, out.NotKnown = j.rule(), j.notKnown()
		out.Comment = j.comment(out)
	}
	out.Reasons = j.reasons(outcome, why, note)
	out.Writable = j.mayWrite(outcome, out.Gate)
	return out
}

// hasGate reports whether there is a gate to show: confirmed at a point, from
// an environment that nothing speaks against.
func (j *judgement) hasGate(o Outcome) bool {
	switch o {
	case OutcomeOK, OutcomeSimulated, OutcomeProvisional:
	case OutcomeNotSaturated:
		for _, g := range j.gates {
			if g.State == Unmet && !slices.Contains([]string{"C6", "C7", "C11"}, g.ID) {
				return false
			}
		}
	default:
		return false
	}
	return j.inseparable == "" && j.limitsErr == nil && len(j.attempts.valid) >= minRunsToWrite && j.ceilingMS > 0
}

// reasons puts what decided first, then everything else a reader must know.
func (j *judgement) reasons(o Outcome, why, note string) []string {
	out := []string{why}
	add := func(s string) {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, g := range j.gates {
		// Without a point, or with bad input, the gates repeat one thing.
		if g.State == Unmet && j.op() > 0 && j.formErr == nil {
			add(g.text())
		}
	}
	if o != OutcomeSimulated {
		for _, g := range j.gates {
			if g.State == Waived {
				add(fmt.Sprintf("%s %s: waived by --allow-simulated (%s)", g.ID, g.Name, g.Observed))
			}
		}
	}
	for _, g := range j.gates {
		if (g.State == Accepted || g.State == Unverified) && j.op() > 0 {
			add(fmt.Sprintf("%s %s, %s: %s", g.ID, g.Name, g.State, g.Observed))
		}
	}
	for _, w := range j.anchor.Warnings {
		add(w)
	}
	if j.inseparable != "" && len(j.attempts.valid) > 0 {
		add(j.inseparable)
	}
	if j.anchor.Strength == Human {
		add(fmt.Sprintf("C7 rests on a human anchor, for the portable profile only: %s", j.anchor.Label))
	}
	add(note)
	for _, n := range j.valid.Notes {
		add(n)
	}
	add(notUsed(j.curve))
	add(j.curve.Rejudged)
	add(sweep.WarmingUp(j.curve.Runs))
	if a := j.attempts; a.stalled > 0 {
		add(fmt.Sprintf("%d of %s at %d per GPU stalled", a.stalled, plural.Of(a.total, "attempt"), j.op()))
	}
	if j.policy.AllowSimulated && !j.curve.Fingerprint.Simulated {
		add("--allow-simulated has no effect on a real target")
	}
	add(unobserved(j.curve))
	return out
}

// FingerprintHash is the SHA-256 of a fingerprint's journal form, in hex.
func FingerprintHash(f sweep.Fingerprint) string { return jsonHash(f) }

// modelOf is the model that a campaign measured, "" if it does not say.
func modelOf(c sweep.Curve) string {
	if c.Fingerprint.Model != "" {
		return c.Fingerprint.Model
	}
	return c.Preflight.Model
}
