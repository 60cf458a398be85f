package calibrate

import (
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// The mean of pulse runs of two kinds is of neither: whichever run of the
// baseline is disturbed, slow or fast, a check that it would let pass, and one
// that it would fail, have no verdict.
func TestPulseRunsOfABaselineThatDisagree(t *testing.T) {
	gate := testGate()
	gate.ConcurrencyPerGPU, gate.FloorPerGPU = 32, 4300
	for _, c := range []struct {
		name   string
		bend   func(r *sweep.Run)
		apart  bool
		reason string
	}{
		{"at half speed", func(r *sweep.Run) { r.Result.Window.OutputTokPerSec /= 2 }, true, "in throughput, noise explains"},
		{"at twice the speed", func(r *sweep.Run) { r.Result.Window.OutputTokPerSec *= 2 }, true, "in throughput, noise explains"},
		{"with four times the wait", func(r *sweep.Run) { r.Result.Window.TTFTP50MS *= 4 }, true, "x4.00 in TTFT p50"},
		{"within noise", func(r *sweep.Run) { r.Result.Window.OutputTokPerSec *= 0.95 }, false, ""},
	} {
		for which := range 3 {
			for _, pulse := range []float64{1, 0.72} {
				base, now := pulseFixture()
				var at []*sweep.Run
				for i := range base.Runs {
					if base.Runs[i].Step.ConcurrencyPerGPU == 64 {
						at = append(at, &base.Runs[i])
					}
				}
				c.bend(at[which])
				now.Runs[len(now.Runs)-1].Result.Window.OutputTokPerSec *= pulse
				r := Check(gate, now, 8, &base)
				// A run of the sweep that is apart flags its level instead, and another
				// one is the pulse level.
				named := at[which].Step.Purpose == sweep.Pulse
				if c.apart != (r.Verdict == Inconclusive && r.Pulse.State == PulseUnknown) || named && !strings.Contains(r.Reasons[0], c.reason) {
					t.Errorf("run %d %s, the pulse at x%.2f: %s %q", which, c.name, pulse, r.Verdict, r.Reasons)
				}
				if _, why := PlanPulse(sweep.DefaultPlan(sweep.Standard), gate, &base); named && c.apart != (why != "") {
					t.Errorf("run %d %s: planned, %q", which, c.name, why)
				}
			}
		}
	}
}

// A lone run is borne out by none.
func TestPulseBaselineOfOneRun(t *testing.T) {
	gate := testGate()
	gate.ConcurrencyPerGPU, gate.FloorPerGPU = 32, 4300
	base, now := pulseFixture()
	seen := false
	base.Runs = slices.DeleteFunc(base.Runs, func(r sweep.Run) bool {
		again := r.Step.ConcurrencyPerGPU == 64 && seen
		seen = seen || r.Step.ConcurrencyPerGPU == 64
		return again
	})
	base = finished(base)
	if r := Check(gate, now, 8, &base); r.Verdict != Inconclusive || !strings.Contains(r.Reasons[0], "which no other one bears out") {
		t.Errorf("%s %q", r.Verdict, r.Reasons)
	}
}

// calibrate refuses such a campaign as UNSTABLE, by C3, and says where.
func TestPulseRunsApartAreUnstable(t *testing.T) {
	d := draw(1, 1, 0.02, 0.02)
	p, whole := d.calibrated(t)
	known := newBaseline(whole, p.Gate.ConcurrencyPerGPU)
	if !p.Writable || known.why != "" || known.pulse.ConcurrencyPerGPU == p.Gate.ConcurrencyPerGPU {
		t.Fatalf("%s, pulse at %d: %s", p.Outcome, known.pulse.ConcurrencyPerGPU, known.why)
	}
	last := len(whole.Runs) - 1
	if s := whole.Runs[last].Step; s.Purpose != sweep.Pulse || s.Kind != loadgen.Steady {
		t.Fatalf("the last run is %+v", s)
	}
	whole.Runs[last].Result.Window.OutputTokPerSec /= 2
	sick := Propose(*whole, recipes.Gate{}, Policy{AllowSimulated: true})
	if sick.Writable || sick.Outcome != OutcomeUnstable || !strings.Contains(strings.Join(sick.Reasons, "\n"), "where the capacity pulse of checks is taken, contradict each other") {
		t.Errorf("%s %q", sick.Outcome, sick.Reasons)
	}
}

// A calibration that fails a curve gate when it is read again gives no pulse, as
// it is no anchor; the gate is named.
func TestBaselineThatFailsItsOwnCurveGates(t *testing.T) {
	d := draw(1, 1, 0.02, 0.02)
	p, whole := d.calibrated(t)
	if !p.Writable {
		t.Fatal(p.Outcome)
	}
	plan := sweep.DefaultPlan(sweep.Standard)
	plan.Check, plan.Point = true, p.Gate.ConcurrencyPerGPU
	planned, why := PlanPulse(plan, p.Gate, whole)
	if why != "" {
		t.Fatal(why)
	}
	now := d.measure(t, planned)
	if r := Check(p.Gate, now, 0, whole); r.Verdict != Pass {
		t.Fatalf("healthy: %s %q", r.Verdict, r.Reasons)
	}
	var gates []int
	for i, r := range whole.Runs {
		if r.Step.Purpose == sweep.Confirm && r.Step.Kind == loadgen.Gate {
			gates = append(gates, i)
		}
	}
	for _, c := range []struct {
		gate string
		bend func(e *loadgen.Result)
	}{
		{"C1", func(e *loadgen.Result) { e.WholeRun.OutputTokPerSec *= 0.7 }},
		{"C2", func(e *loadgen.Result) { e.WholeRun.TTFTP99MS *= 4 }},
	} {
		base := *whole
		base.Runs = slices.Clone(whole.Runs)
		c.bend(&base.Runs[gates[0]].Result)
		r := Check(p.Gate, now, 0, &base)
		if r.Verdict != Inconclusive || r.Pulse.State != PulseUnknown || !strings.Contains(r.Reasons[0], "the baseline fails a gate that its calibration must meet, "+c.gate+" ") {
			t.Errorf("%s: %s %q", c.gate, r.Verdict, r.Reasons)
		}
	}
}
