package calibrate

import (
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// One row a line of the table of outcomes, bent from the healthy fixture, and
// rows that pit neighbours of the table against each other.
func TestOutcomes(t *testing.T) {
	status := func(s knee.Status) func(*fixture) {
		return func(f *fixture) {
			f.fit.Status, f.fit.Knee = s, 0
			f.point = sweep.OperatingPoint{Reason: "no knee"}
		}
	}
	lower := func(f *fixture) {
		f.fit.Status, f.fit.Knee, f.point.Basis = knee.NotSaturated, 0, "lower_bound"
	}
	both := func(fs ...func(*fixture)) func(*fixture) {
		return func(f *fixture) {
			for _, g := range fs {
				g(f)
			}
		}
	}
	stallTwice := func(f *fixture) { f.fail(0, "V6"); f.fail(1, "V6") }
	split := func(f *fixture) { f.level(64).Flags = []string{"split"} }
	steep := func(f *fixture) { f.level(64).TTFTP99MS = 100 }
	for _, c := range []struct {
		name   string
		bend   func(*fixture)
		want   Outcome
		reason string
		gate   bool // a gate can be shown
	}{
		{"simulated and allowed", func(*fixture) {}, OutcomeSimulated, "C6, C7, C11 are waived", true},
		{"simulated, not allowed", func(f *fixture) { f.policy.AllowSimulated = false }, OutcomeProvisional, "--allow-simulated", true},
		{"go-openai", func(f *fixture) { f.curve.Fingerprint.Transport = loadgen.GoOpenAI }, OutcomeProvisional, "cross-check only", true},
		{"native", func(f *fixture) { f.curve.Fingerprint.Transport = loadgen.Native }, OutcomeSimulated, "", true},
		{"real", func(f *fixture) { f.curve.Fingerprint.Simulated = false }, OutcomeProvisional, "C7 external anchor: no anchor", true},
		{"real and quick", func(f *fixture) { f.curve.Fingerprint.Simulated = false; f.curve.Fingerprint.Effort = sweep.Quick }, OutcomeProvisional, "first look", true},
		{"simulated and quick", func(f *fixture) { f.curve.Fingerprint.Effort = sweep.Quick }, OutcomeSimulated, "", true},
		{"proved", func(f *fixture) { f.point.Basis = "proved"; f.fit.Status = knee.Ambiguous }, OutcomeSimulated, "", true},
		{"latency limited", func(f *fixture) { f.point.Basis = "latency_limited"; f.fit.Status = knee.LatencyLimited }, OutcomeSimulated, "", true},
		{"lower bound", lower, OutcomeNotSaturated, "lower bound only", true},
		{"lower bound, unstable", both(lower, split), OutcomeNotSaturated, "lower bound only", false},
		{"still rising", status(knee.NotSaturated), OutcomeNotSaturated, "still rises", false},
		{"ambiguous", status(knee.Ambiguous), OutcomeAmbiguous, "disagree", false},
		{"saturated at the minimum", status(knee.SaturatedAtMin), OutcomeSaturatedAtMin, "gains nothing", false},
		{"insufficient", status(knee.Insufficient), OutcomeInvalid, "too few levels", false},
		{"no fit at all", status(""), OutcomeDegraded, "no operating point", false},
		{"unhealthy point", func(f *fixture) { f.point.Healthy, f.point.Reason = false, "192 sick" }, OutcomeDegraded, "192 sick", false},
		{"two stalls", both(stallTwice, split), OutcomeUnstable, "2 of 5 attempts at 128 per GPU stalled", false},
		{"two stalls and no knee", both(stallTwice, status(knee.Ambiguous)), OutcomeUnstable, "stalled", false},
		{"one stall of six", func(f *fixture) { f.add(sweep.Confirm, 128, 21000, 670); f.fail(2, "V6") }, OutcomeSimulated, "", true},
		{"one stall of five", func(f *fixture) { f.fail(2, "V6") }, OutcomeInvalid, "only 4 of 5 attempts at 128 per GPU are valid (V6: 1)", false},
		{"errors", func(f *fixture) { f.fail(2, "V2") }, OutcomeInvalid, "V2: 1", false},
		{"not confirmed", func(f *fixture) { f.curve.Runs = f.curve.Runs[:8] }, OutcomeProvisional, "not confirmed: 4 of 5", false},
		{"split and steep", both(split, steep), OutcomeUnstable, "C3", false},
		{"steep", steep, OutcomeDegraded, "C5", false},
		{"nine attempts", func(f *fixture) {
			for range 4 {
				f.add(sweep.Confirm, 128, 21000, 670)
			}
		}, OutcomeUnstable, "too many attempts", false},
		{"other model", func(f *fixture) { f.current.Model = "meta-llama/Llama-3.1-8B" }, OutcomeInvalid, "the overlay pins meta-llama/Llama-3.1-8B", false},
		{"unknown model", func(f *fixture) { f.curve.Fingerprint.Model = "" }, OutcomeInvalid, "does not say which model", false},
		{"model from the preflight", func(f *fixture) { f.curve.Fingerprint.Model, f.curve.Preflight.Model = "", testModel }, OutcomeSimulated, "", true},
		{"no GPUs", func(f *fixture) { f.curve.Fingerprint.GPUs = 0 }, OutcomeInvalid, "number of GPUs", false},
		{"no runs", func(f *fixture) { f.curve.Runs = nil }, OutcomeInvalid, "no run", false},
		{"no valid run", func(f *fixture) {
			f.curve.Runs = f.curve.Runs[:1]
			f.fail(0, "V3")
		}, OutcomeInvalid, "none of 1 run is valid (V3: 1)", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture().simulated()
			c.bend(f)
			p := f.propose()
			if p.Outcome != c.want || !strings.Contains(p.Reasons[0], c.reason) {
				t.Errorf("%s: %q; want %s: %q", p.Outcome, p.Reasons, c.want, c.reason)
			}
			if p.Writable != (c.want == OutcomeSimulated) {
				t.Errorf("%s is writable: %v", p.Outcome, p.Writable)
			}
			if has := !p.Gate.Empty() && len(p.Comment) > 0; has != c.gate {
				t.Errorf("gate shown: %v: %+v", has, p.Gate)
			}
			if len(p.Gates) != 11 {
				t.Errorf("%d gates are reported, whatever the outcome", len(p.Gates))
			}
		})
	}
}

// A real target with everything met has its row, and nothing waived is written
// for it.
func TestOutcomeOK(t *testing.T) {
	f := newFixture()
	e := gather(f.curve, f.fit, f.point, f.policy)
	e.form = PerGPU
	j := &judgement{evidence: e, gates: e.checkAll()}
	for i := range j.gates {
		j.gates[i].State = Met
	}
	g, _ := e.gate(f.current)
	steps := j.decide()
	if o, why := steps[len(steps)-1].Outcome, steps[len(steps)-1].Why; o != OutcomeOK || !j.mayWrite(o, g) {
		t.Errorf("%s: %s", o, why)
	}
	for i := range j.gates {
		j.gates[i].State = Waived
		if j.mayWrite(OutcomeOK, g) {
			t.Errorf("a waived %s is written for a real target", j.gates[i].ID)
		}
		j.gates[i].State = Met
	}
	if j.mayWrite(OutcomeSimulated, g) {
		t.Error("a real target is written as simulated")
	}
}

// Invalid runs are named in the reasons, whatever the outcome.
func TestInvalidRunsAreCounted(t *testing.T) {
	f := newFixture().simulated()
	f.add(sweep.Confirm, 128, 21000, 670)
	f.fail(2, "V6")
	bad := run(f.curve.Runs, sweep.Coarse, loadgen.Steady, 512, 1, 1)
	bad.Violations = []sweep.Violation{{Gate: "V2"}, {Gate: "V4"}}
	f.curve.Runs = append(f.curve.Runs, bad)
	p := f.propose()
	if !p.Writable || p.InvalidRuns != 2 || p.StalledAttempts != 1 {
		t.Fatalf("%s, %d invalid, %d stalled", p.Outcome, p.InvalidRuns, p.StalledAttempts)
	}
	for _, want := range []string{"2 of 12 runs are INVALID and were not used (V2: 1, V4: 1, V6: 1)", "1 of 6 attempts at 128 per GPU stalled", "not observed: V1 (every worker and frontend is ready, before and after), V7 (workers share the load)"} {
		if !slices.ContainsFunc(p.Reasons, func(r string) bool { return strings.Contains(r, want) }) {
			t.Errorf("no reason says %q: %q", want, p.Reasons)
		}
	}
}

func TestFingerprintHash(t *testing.T) {
	f := newFixture().curve.Fingerprint
	h := FingerprintHash(f)
	if len(h) != 64 || h != FingerprintHash(f) {
		t.Errorf("hash %q", h)
	}
	g := f
	g.Labels = map[string]string{"gpu_product": "GB200", "workers": "8"}
	if FingerprintHash(g) == h {
		t.Error("another label, the same hash")
	}
}
