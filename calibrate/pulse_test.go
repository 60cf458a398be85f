package calibrate

import (
	"math"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// Reference values of knee.md §18.5.
func TestPulseThreshold(t *testing.T) {
	for _, c := range []struct {
		sb, sw      float64
		runs, bases int
		want        float64
	}{
		{.03, .015, 1, 3, .8918}, {.03, .03, 1, 3, .8720}, {.03, .05, 1, 3, .8360}, {.03, .05, 2, 3, .8557}, {0, .03, 1, 3, .9170}, {0, .05, 2, 5, .9007},
	} {
		near(t, "T", pulseThreshold(c.sb, c.sw, c.runs, c.bases), c.want, 5e-5)
	}
}

// pulseFixture is a calibration whose last healthy level at or below the knee
// is 64, and a check at 32 with one pulse run there; rates are per GPU.
func pulseFixture() (base, now sweep.Curve) {
	base = newFixture().curve
	base.Runs = nil
	steady := func(c *sweep.Curve, p sweep.Purpose, n int, x float64) {
		c.Runs = append(c.Runs, run(c.Runs, p, loadgen.Steady, n, testGPUs*x, 300))
	}
	at := func(n int) float64 { return 160 * math.Min(float64(n), 64) }
	for _, k := range []float64{1, 0.99} {
		for _, n := range []int{4, 8, 16, 32, 48, 64, 96, 128, 256} {
			steady(&base, sweep.Coarse, n, k*at(n))
		}
	}
	steady(&base, sweep.Pulse, 64, at(64))
	base = finished(base)
	f := &fixture{curve: newFixture().curve}
	f.attempts(sweep.Check, 32, []float64{5100, 5150, 5120}, steadyP99[:3])
	now = f.curve
	steady(&now, sweep.Pulse, 64, at(64))
	return base, now
}

func TestPulse(t *testing.T) {
	gate := testGate()
	gate.ConcurrencyPerGPU, gate.FloorPerGPU = 32, 4300
	last := func(c *sweep.Curve) *sweep.Run { return &c.Runs[len(c.Runs)-1] }
	slower := func(k float64) func(_, now *sweep.Curve) {
		return func(_, now *sweep.Curve) { last(now).Result.Window.OutputTokPerSec *= k }
	}
	then := math.Cbrt(0.99) // of the baseline's three runs
	for _, c := range []struct {
		name   string
		bend   func(base, now *sweep.Curve)
		state  PulseState
		want   Verdict
		reason string
	}{
		{"healthy", nil, PulsePassed, Pass, "passed"},
		{"just inside", slower(0.8918*then + 1e-4), PulsePassed, Pass, "passed"},
		{"just outside", slower(0.8918*then - 1e-4), PulseFailed, Fail, "a worker may be lost"},
		{"the same deployment, just inside", func(base, now *sweep.Curve) {
			base.Fingerprint.Deployment, now.Fingerprint.Deployment = "d1", "d1"
			slower(0.9576*then+1e-4)(base, now)
		}, PulsePassed, Pass, "passed"},
		{"the same deployment, just outside", func(base, now *sweep.Curve) {
			base.Fingerprint.Deployment, now.Fingerprint.Deployment = "d1", "d1"
			slower(0.9576*then-1e-4)(base, now)
		}, PulseFailed, Fail, "a worker may be lost"},
		{"two runs instead of one", func(_, now *sweep.Curve) {
			r := *last(now)
			r.Result.Window.OutputTokPerSec *= 0.81 // the geometric mean is x0.9
			now.Runs = append(now.Runs, r)
		}, PulsePassed, Pass, "2 runs against 3"},
		{"TTFT doubled", func(_, now *sweep.Curve) { last(now).Result.Window.TTFTP50MS = 400 }, PulseFailed, Fail, "TTFT p50"},
		{"TTFT nearly doubled", func(_, now *sweep.Curve) { last(now).Result.Window.TTFTP50MS = 399 }, PulsePassed, Pass, "passed"},
		{"no TTFT", func(_, now *sweep.Curve) { last(now).Result.Window.TTFTP50MS = 0 }, PulseUnknown, Inconclusive, "no run has a TTFT"},
		{"INVALID", func(_, now *sweep.Curve) { last(now).Violations = []sweep.Violation{{Gate: "V2"}} }, PulseUnknown, Inconclusive, "gave no answer"},
		{"planned, never made", func(_, now *sweep.Curve) {
			now.Runs, now.Plan.PulseAt = now.Runs[:len(now.Runs)-1], 64
		}, PulseUnknown, Inconclusive, "gave no answer"},
		{"not planned", func(_, now *sweep.Curve) { now.Runs = now.Runs[:len(now.Runs)-1] }, PulseNotTaken, Pass, "would not be seen"},
		{"another image", func(base, now *sweep.Curve) {
			base.Fingerprint.Labels, now.Fingerprint.Labels = map[string]string{"image": "a"}, map[string]string{"image": "b"}
			slower(0.5)(base, now)
		}, PulseUnknown, Inconclusive, "stale (labels.image: a, now b)"},
		{"an image that one does not state, slow", func(base, now *sweep.Curve) {
			base.Fingerprint.Labels = nil
			slower(0.5)(base, now)
		}, PulseFailed, Fail, "a worker may be lost"},
		{"another target, slow", func(base, now *sweep.Curve) {
			now.Fingerprint.Target, now.Fingerprint.ToolVersion = "http://other:1", "v9"
			slower(0.5)(base, now)
		}, PulseFailed, Fail, "a worker may be lost"},
		{"the gate fails as well", func(_, now *sweep.Curve) {
			for i := range now.Runs {
				now.Runs[i].Result.WholeRun.OutputTokPerSec /= 2
				if now.Runs[i].Step.Purpose == sweep.Check {
					now.Runs[i].Result.Window.OutputTokPerSec /= 2
				}
			}
			slower(0.5)(nil, now)
		}, PulseFailed, Fail, "below"},
		{"unstable as well", func(_, now *sweep.Curve) {
			now.Runs[0].Result.WholeRun.OutputTokPerSec /= 2
			slower(0.5)(nil, now)
		}, PulseFailed, Inconclusive, "C1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, now := pulseFixture()
			if c.bend != nil {
				c.bend(&base, &now)
			}
			r := Check(gate, now, 8, &base)
			if r.Pulse.State != c.state || r.Verdict != c.want || !strings.Contains(strings.Join(r.Reasons, "\n"), c.reason) {
				t.Errorf("%s, pulse %s, %q; want %s, %s, %q", r.Verdict, r.Pulse.State, r.Reasons, c.want, c.state, c.reason)
			}
			if r.Verdict == Fail && !strings.Contains(strings.Join(r.Reasons, "\n"), r.Pulse.Reason) {
				t.Errorf("the failed pulse is not told: %q", r.Reasons)
			}
		})
	}
}

// Without a baseline, or with none that can serve, nothing is pulsed and the
// verdict says what it then cannot see.
func TestNoPulse(t *testing.T) {
	gate := testGate()
	gate.ConcurrencyPerGPU, gate.FloorPerGPU = 32, 4300
	base, now := pulseFixture()
	now.Runs = now.Runs[:len(now.Runs)-1]
	r := Check(gate, now, 8, nil)
	if r.Verdict != Pass || r.Pulse.State != PulseNotTaken || !strings.Contains(r.Reasons[1], "not pulsed: no --baseline") {
		t.Errorf("%s %q", r.Verdict, r.Reasons)
	}
	plan := sweep.DefaultPlan(sweep.Standard)
	plan.Check, plan.Point = true, 32
	if p, why := PlanPulse(plan, gate, &base); why != "" || p.PulseAt != 64 || p.PulseRuns != 1 || p.Validate() != nil {
		t.Errorf("%d runs at %d: %q, %v", p.PulseRuns, p.PulseAt, why, p.Validate())
	}
	noisy := noisyBaseline()
	gate.ConcurrencyPerGPU = 64
	if p, why := PlanPulse(plan, gate, &noisy); why != "" || p.PulseRuns != 2 {
		t.Errorf("a noisy baseline: %d runs at %d: %q", p.PulseRuns, p.PulseAt, why)
	}
	gate.ConcurrencyPerGPU = 33
	if p, why := PlanPulse(plan, gate, &base); p.PulseAt != 0 || !strings.Contains(why, "no valid steady run at 33") {
		t.Errorf("another point: %d, %q", p.PulseAt, why)
	}
	if p, why := PlanPulse(plan, gate, nil); p.PulseAt != 0 || why == "" {
		t.Errorf("no baseline: %d, %q", p.PulseAt, why)
	}
	plan.Effort = sweep.Quick
	if p, why := PlanPulse(plan, gate, &base); p.PulseAt != 0 || !strings.Contains(why, "effort") {
		t.Errorf("another effort: %d, %q", p.PulseAt, why)
	}
}
