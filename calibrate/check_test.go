package calibrate

import (
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

func testGate() recipes.Gate {
	return recipes.Gate{Model: testModel, ConcurrencyPerGPU: 128, RoutingMode: "dynamo-router", FloorPerGPU: 18000, CeilingTTFTP99MS: 1400}
}

func checkFixture(x, p99 []float64) *fixture {
	f := newFixture()
	f.attempts(sweep.Check, 128, x, p99)
	return f
}

var steadyP99 = [5]float64{677, 660, 690, 700, 650}

func TestCheckVerdicts(t *testing.T) {
	good, bad := []float64{21197, 21500, 20900}, []float64{14000, 14100, 14200}
	p99 := steadyP99[:3]
	for _, c := range []struct {
		name   string
		x, p99 []float64
		bend   func(*fixture, *recipes.Gate)
		want   Verdict
		reason string
	}{
		{"healthy", good, p99, nil, Pass, "median of 3 valid attempts of 3"},
		{"slow", bad, p99, nil, Fail, "below 129600"},
		{"just above the effective floor", []float64{16201, 16201, 16201}, p99, nil, Pass, ""},
		{"just below the effective floor", []float64{16199, 16199, 16199}, p99, nil, Fail, ""},
		{"late", good, []float64{1541, 1541, 1541}, nil, Fail, "TTFT p99"},
		{"just in time", good, []float64{1539, 1539, 1539}, nil, Pass, ""},
		{"the median decides", []float64{16000, 16300, 16400}, p99, nil, Pass, ""},

		// Doubt beats both answers; each row has one doubt only.
		{"no gate", good, p99, func(_ *fixture, g *recipes.Gate) { *g = recipes.Gate{Model: testModel, ConcurrencyPerGPU: 128} }, Inconclusive, "no gate"},
		{"no gate, slow", bad, p99, func(_ *fixture, g *recipes.Gate) { *g = recipes.Gate{Model: testModel, ConcurrencyPerGPU: 128} }, Inconclusive, "no gate"},
		{"other model, slow", bad, p99, func(_ *fixture, g *recipes.Gate) { g.Model = "other" }, Inconclusive, "gate is for model other"},
		{"other load", good, p99, func(_ *fixture, g *recipes.Gate) { g.ConcurrencyPerGPU = 256 }, Inconclusive, "gate is for 256 per GPU, measured was 128"},
		{"quick effort", good, p99, func(f *fixture, _ *recipes.Gate) { f.curve.Fingerprint.Effort = sweep.Quick }, Inconclusive, "--effort standard"},
		{"quick effort, simulated", good, p99, func(f *fixture, _ *recipes.Gate) {
			f.curve.Fingerprint.Effort, f.curve.Fingerprint.Simulated = sweep.Quick, true
		}, Pass, ""},
		{"a cross-check", good, p99, func(f *fixture, _ *recipes.Gate) { f.curve.Fingerprint.Transport = "go-openai" }, Inconclusive, "cross-check only"},
		{"a cross-check, slow", bad, p99, func(f *fixture, _ *recipes.Gate) { f.curve.Fingerprint.Transport = "go-openai" }, Inconclusive, "cross-check only"},
		{"no load pinned", good, p99, func(_ *fixture, g *recipes.Gate) { g.ConcurrencyPerGPU = 0 }, Inconclusive, "pins no concurrency"},
		{"other routing", good, p99, func(f *fixture, _ *recipes.Gate) { f.curve.Fingerprint.RoutingMode = "gateway-epp" }, Inconclusive, "routing mode"},
		{"no GPUs", good, p99, func(f *fixture, _ *recipes.Gate) { f.curve.Fingerprint.GPUs = 0 }, Inconclusive, "number of GPUs"},
		{"both floors", good, p99, func(_ *fixture, g *recipes.Gate) { g.Floor = 1 }, Inconclusive, "both set"},
		{"two attempts", good[:2], p99[:2], nil, Inconclusive, "2 of 2 attempts"},
		{"none", nil, nil, nil, Inconclusive, "0 of 0 attempts"},
		{"two invalid of five", []float64{1, 1, 21197, 21500, 20900}, steadyP99[:], func(f *fixture, _ *recipes.Gate) { f.fail(0, "V2"); f.fail(1, "V2") }, Pass, ""},
		{"three invalid of six", []float64{1, 1, 1, 21197, 21500, 20900}, append(steadyP99[:], 600), func(f *fixture, _ *recipes.Gate) { f.fail(0, "V2"); f.fail(1, "V2"); f.fail(2, "V2") }, Inconclusive, "V2: 3"},
		{"three invalid of five, slow", []float64{1, 1, 1, 14000, 14000}, steadyP99[:], func(f *fixture, _ *recipes.Gate) { f.fail(0, "V2"); f.fail(1, "V2"); f.fail(2, "V2") }, Inconclusive, "2 of 5"},
		{"one stall of four", []float64{1, 21197, 21500, 20900}, steadyP99[:4], func(f *fixture, _ *recipes.Gate) { f.fail(0, "V6") }, Pass, ""},
		{"one stall after one before any load", []float64{1, 21197, 21500, 20900}, steadyP99[:4], func(f *fixture, _ *recipes.Gate) { f.fail(0, "V6"); f.curve.Plan.MinWatch = 1 }, Inconclusive, "before any load"},
		{"still before any load only", []float64{1, 21197, 21500, 20900}, steadyP99[:4], func(f *fixture, _ *recipes.Gate) { f.fail(0, "V8"); f.curve.Plan.MinWatch = 1 }, Pass, ""},
		{"two stalls of five", []float64{1, 1, 21197, 21500, 20900}, steadyP99[:], func(f *fixture, _ *recipes.Gate) { f.fail(0, "V6"); f.fail(1, "V6") }, Inconclusive, "2 of 5 attempts at 128 per GPU stalled"},
		{"C1", []float64{21197, 20900 * 0.849, 20900}, p99, nil, Inconclusive, "C1"},
		{"C1 just inside", []float64{21197, 20900 * 0.851, 20900}, p99, nil, Pass, ""},
		{"C1, slow", []float64{14000, 14000 * 0.849, 14000}, p99, nil, Inconclusive, "C1"},
		{"C2", good, []float64{200, 200, 606}, nil, Inconclusive, "C2"},
		{"C2 just inside", good, []float64{200, 200, 594}, nil, Pass, ""},
		{"a missing TTFT", good, []float64{677, 0, 690}, nil, Inconclusive, "missing metric: 1"},
		{"a missing throughput", []float64{21197, 0, 20900}, p99, nil, Inconclusive, "missing metric: 1"},
		{"too few requests", good, p99, func(f *fixture, _ *recipes.Gate) { f.curve.Runs[0].Result.WholeRun.Requests = 999 }, Inconclusive, "fewer than 1000"},
		{"silence", good, p99, func(f *fixture, _ *recipes.Gate) {
			f.curve.Runs[1].Result.Stopped, f.curve.Runs[3].Result.Stopped = "silence", "silence"
		}, Inconclusive, "stalled"},
		{"a confirmation is no check", good, p99, func(f *fixture, _ *recipes.Gate) {
			for i := range f.curve.Runs {
				f.curve.Runs[i].Step.Purpose = sweep.Confirm
			}
		}, Inconclusive, "0 of 0 attempts"},

		{"no model pinned", good, p99, func(_ *fixture, g *recipes.Gate) { g.Model = "" }, Pass, ""},
		{"ttft only", bad, p99, func(_ *fixture, g *recipes.Gate) { g.FloorPerGPU = 0 }, Pass, ""},
		{"absolute floor", good, p99, func(_ *fixture, g *recipes.Gate) { g.FloorPerGPU, g.Floor = 0, 144000 }, Pass, ""},
		{"absolute floor of a larger node", good, p99, func(_ *fixture, g *recipes.Gate) { g.FloorPerGPU, g.Floor = 0, 288000 }, Fail, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, g := checkFixture(c.x, c.p99), testGate()
			if c.bend != nil {
				c.bend(f, &g)
			}
			r := Check(g, f.curve, 8, nil)
			if r.Verdict != c.want || len(r.Reasons) == 0 || !strings.Contains(r.Reasons[0], c.reason) {
				t.Errorf("%s %q, want %s %q", r.Verdict, r.Reasons, c.want, c.reason)
			}
			if r.Effective.Pass != (r.Verdict == Pass) || r.Effective.Reasons == nil {
				t.Errorf("%s, but the evaluation says %+v", r.Verdict, r.Effective)
			}
			if r.Verdict == Inconclusive && len(r.Effective.Reasons) > 0 {
				t.Errorf("an inconclusive check repeats the evaluator's opinion: %q", r.Effective.Reasons)
			}
		})
	}
}

// A larger node scales the absolute floor down, an unknown one does not.
func TestCheckPartialNode(t *testing.T) {
	f, g := checkFixture([]float64{21197, 21500, 20900}, steadyP99[:3]), testGate()
	g.FloorPerGPU, g.Floor = 0, 288000
	if r := Check(g, f.curve, 16, nil); r.Verdict != Pass || r.Effective.EffectiveFloorTokPerSec != 0.9*144000 {
		t.Errorf("8 of 16 GPUs: %s, floor %v", r.Verdict, r.Effective.EffectiveFloorTokPerSec)
	}
	r := Check(g, f.curve, 0, nil)
	if r.Verdict != Fail || !slices.ContainsFunc(r.Reasons, func(s string) bool { return strings.Contains(s, "applied whole") }) {
		t.Errorf("unknown node: %s %q", r.Verdict, r.Reasons)
	}
}

// The noise of the baseline widens C1; another kind of baseline does not.
func TestCheckNoiseOfTheBaseline(t *testing.T) {
	x := []float64{21197, 21197 * 0.83, 21000}
	f := checkFixture(x, steadyP99[:3])
	if r := Check(testGate(), f.curve, 8, nil); r.Verdict != Inconclusive {
		t.Errorf("15 %% rule: %s", r.Verdict)
	}
	base := noisyBaseline()
	if s := base.Fit(); s.NoiseDF < 4 || s.Noise < 0.045 {
		t.Fatalf("the baseline is not noisy: %v on %d", s.Noise, s.NoiseDF)
	}
	if r := Check(testGate(), f.curve, 8, &base); r.Verdict != Pass {
		t.Errorf("noisy baseline: %s %q", r.Verdict, r.Reasons)
	}
	base.Fingerprint.Effort = sweep.Full
	if r := Check(testGate(), f.curve, 8, &base); r.Verdict != Inconclusive || !strings.Contains(strings.Join(r.Reasons, "\n"), "its noise is not used") {
		t.Errorf("baseline of another effort: %s %q", r.Verdict, r.Reasons)
	}
	base = noisyBaseline()
	base.Fingerprint.Workload.OSL = 32
	if r := Check(testGate(), f.curve, 8, &base); r.Verdict != Inconclusive || !strings.Contains(r.Reasons[0], "OSL 32") {
		t.Errorf("baseline of another workload: %s %q", r.Verdict, r.Reasons)
	}
}

// noisyBaseline is a sweep with pairs 10 to 13 % apart, which is inside of the
// gap rule and makes a pooled noise of about 8 %.
func noisyBaseline() sweep.Curve {
	c := newFixture().curve
	c.Runs = nil
	for _, n := range []int{8, 16, 32, 64, 128, 256} {
		x := 8 * 160 * float64(n) / (1 + float64(n)/250)
		for _, k := range []float64{1, 0.88} {
			c.Runs = append(c.Runs, run(c.Runs, sweep.Coarse, loadgen.Steady, n, k*x, 300))
		}
	}
	return finished(c)
}
