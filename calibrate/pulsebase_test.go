package calibrate

import (
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/sweep"
)

// A check whose journal plans or holds a pulse passes with no baseline that
// cannot judge that very pulse.
func TestPulseOfAnotherBaseline(t *testing.T) {
	gate := testGate()
	gate.ConcurrencyPerGPU, gate.FloorPerGPU = 32, 4300
	label := func(c *sweep.Curve, engine string) { c.Fingerprint.Labels = map[string]string{"engine": engine} }
	for _, c := range []struct {
		name   string
		bend   func(base, now *sweep.Curve) *sweep.Curve
		slow   Verdict
		reason string
	}{
		{"none", func(_, _ *sweep.Curve) *sweep.Curve { return nil }, Inconclusive, "no --baseline"},
		{"the right one", func(base, _ *sweep.Curve) *sweep.Curve { return base }, Fail, "at 64 per GPU"},
		{"cut short", func(base, _ *sweep.Curve) *sweep.Curve {
			base.Runs = base.Runs[:4]
			return base
		}, Inconclusive, "the baseline is not finished (next is a steady run at 48 per GPU)"},
		{"of another model", func(base, _ *sweep.Curve) *sweep.Curve {
			base.Fingerprint.Model = "x/y"
			return base
		}, Inconclusive, "the baseline is stale (model: x/y"},
		{"of another effort", func(base, _ *sweep.Curve) *sweep.Curve {
			base.Fingerprint.Effort = sweep.Full
			return base
		}, Inconclusive, "the baseline is stale (effort: full"},
		{"of another engine", func(base, now *sweep.Curve) *sweep.Curve {
			label(base, "vllm")
			label(now, "sglang")
			return base
		}, Inconclusive, "the baseline is stale (labels.engine: vllm"},
		{"without the level", func(base, _ *sweep.Curve) *sweep.Curve {
			base.Runs = slices.DeleteFunc(base.Runs, func(r sweep.Run) bool { return r.Step.ConcurrencyPerGPU == 64 })
			*base = finished(*base)
			return base
		}, Inconclusive, "the baseline gives a pulse at 48 per GPU"},
		{"without any above the point", func(base, _ *sweep.Curve) *sweep.Curve {
			base.Runs = slices.DeleteFunc(base.Runs, func(r sweep.Run) bool { return r.Step.ConcurrencyPerGPU > 32 })
			*base = finished(*base)
			return base
		}, Inconclusive, "the baseline gives a pulse at 32 per GPU"},
		{"of a check", func(_, now *sweep.Curve) *sweep.Curve {
			c := *now
			c.Plan.Check, c.Plan.Point = true, 32
			return &c
		}, Inconclusive, "the journal of a check"},
	} {
		for _, missing := range []bool{false, true} {
			base, now := pulseFixture()
			now.Plan.PulseAt, now.Plan.PulseRuns = 64, 1
			last, want := len(now.Runs)-1, c.slow
			if missing {
				now.Runs, want = now.Runs[:last], Inconclusive
			} else {
				now.Runs[last].Result.Window.OutputTokPerSec *= 0.49
			}
			r := Check(gate, now, 8, c.bend(&base, &now))
			says := strings.Join(r.Reasons, "\n")
			if r.Verdict != want || !strings.Contains(says, "at 64 per GPU") || !missing && !strings.Contains(says, c.reason) {
				t.Errorf("a baseline %s, the pulse missing: %v: %s, want %s: %q", c.name, missing, r.Verdict, want, r.Reasons)
			}
		}
	}
}

// A baseline that has more to measure gives no pulse level, planned or not, and
// leaves a check without an answer; a further window that is not over does not
// matter, as the level is of the first.
func TestPulseOfAnUnfinishedBaseline(t *testing.T) {
	d := draw(1, 0, 0.02, 0.02)
	p, whole := d.calibrated(t)
	if !p.Writable {
		t.Fatalf("the baseline is no calibration: %s", p.Outcome)
	}
	g := p.Gate
	plan := sweep.DefaultPlan(sweep.Standard)
	plan.Check, plan.Point = true, g.ConcurrencyPerGPU
	cut, again := *whole, d.again(t, *whole, "d2")
	cut.Runs = cut.Runs[:len(cut.Runs)-1]
	again.Runs = again.Runs[:len(again.Runs)-1]
	if _, why := PlanPulse(plan, g, whole); why != "" {
		t.Errorf("a whole one: %s", why)
	}
	if _, why := PlanPulse(plan, g, &again); why != "" {
		t.Errorf("a second window that is not over: %s", why)
	}
	unpulsed, why := PlanPulse(plan, g, &cut)
	if unpulsed.PulseAt != 0 || !strings.Contains(why, "the baseline is not finished") {
		t.Errorf("an unfinished one: a pulse at %d, %q", unpulsed.PulseAt, why)
	}
	r := Check(g, d.measure(t, unpulsed), 0, &cut)
	if r.Verdict != Inconclusive || r.Pulse.State != PulseUnknown || !strings.Contains(r.Reasons[0], "continue its journal") {
		t.Errorf("%s, pulse %s: %q", r.Verdict, r.Pulse.State, r.Reasons)
	}
}
