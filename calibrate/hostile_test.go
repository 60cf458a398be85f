package calibrate

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// odd draws a quantity as a damaged or forged journal may hold it.
func odd(t *rapid.T, name string, usual float64) float64 {
	switch rapid.IntRange(0, 9).Draw(t, name+" kind") {
	case 0:
		return rapid.SampledFrom([]float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}).Draw(t, name)
	case 1:
		return rapid.Float64().Draw(t, name)
	}
	return usual * rapid.Float64Range(0.97, 1.03).Draw(t, name)
}

func oddRun(t *rapid.T, before []sweep.Run) sweep.Run {
	n := rapid.SampledFrom([]int{8, 16, 32, 64, 96, 128, 192, 256, 0, -1, math.MaxInt}).Draw(t, "n")
	if rapid.Bool().Draw(t, "at the point") {
		n = 128
	}
	kind := rapid.SampledFrom([]loadgen.RunKind{loadgen.Steady, loadgen.Gate, ""}).Draw(t, "kind")
	purpose := rapid.SampledFrom([]sweep.Purpose{sweep.Confirm, sweep.Check, sweep.Coarse}).Draw(t, "purpose")
	r := run(before, purpose, kind, n, odd(t, "X", 170000), odd(t, "TTFT p99", 677))
	r.Result.WholeRun.TTFTP50MS = odd(t, "TTFT p50", 200)
	r.Result.Window.TTFTP50MS = odd(t, "TTFT p50", 200)
	if rapid.IntRange(0, 9).Draw(t, "invalid") == 0 {
		r.Violations = []sweep.Violation{{Gate: rapid.SampledFrom([]string{"V2", "V6", "V7", ""}).Draw(t, "gate")}}
	}
	return r
}

// bend damages the healthy fixture.
func bend(t *rapid.T, f *fixture) {
	if rapid.Bool().Draw(t, "own runs") {
		f.curve.Runs = nil
	}
	for range rapid.IntRange(0, 14).Draw(t, "runs") {
		f.curve.Runs = append(f.curve.Runs, oddRun(t, f.curve.Runs))
	}
	if rapid.Bool().Draw(t, "forged fit") {
		for i := range f.fit.Levels {
			f.fit.Levels[i].TokPerSecPerGPU = odd(t, "level X", f.fit.Levels[i].TokPerSecPerGPU)
			f.fit.Levels[i].TTFTP99MS = odd(t, "level TTFT", f.fit.Levels[i].TTFTP99MS)
			f.fit.Levels[i].Kept = rapid.IntRange(-1, 3).Draw(t, "kept")
		}
		f.fit.Noise, f.fit.NoiseDF = odd(t, "noise", 0.02), rapid.IntRange(-1, 20).Draw(t, "df")
		f.fit.Knee, f.fit.KneeLow = odd(t, "knee", 200), odd(t, "low", 150)
		f.fit.Status = rapid.SampledFrom([]knee.Status{knee.Knee, knee.Ambiguous, knee.NotSaturated, knee.LatencyLimited, ""}).Draw(t, "status")
		f.point.Basis = rapid.SampledFrom([]string{"knee", "proved", "lower_bound", "", "latency_limited"}).Draw(t, "basis")
		f.point.Healthy = rapid.Bool().Draw(t, "healthy")
		f.point.ConcurrencyPerGPU = rapid.SampledFrom([]int{128, 128, 0, -5, 1, 7, math.MaxInt}).Draw(t, "point")
	}
	f.curve.Fingerprint.GPUs = rapid.SampledFrom([]int{8, 8, 8, 1, 0, -3, math.MaxInt}).Draw(t, "GPUs")
	f.curve.Fingerprint.Labels["workers"] = rapid.SampledFrom([]string{"8", "1", "0", "-1", "x", "9223372036854775807"}).Draw(t, "workers")
	f.policy = Policy{
		AllowSimulated: rapid.Bool().Draw(t, "allow"), TTFTOnly: rapid.Bool().Draw(t, "ttft only"),
		Form: rapid.SampledFrom([]Form{"", PerGPU, Absolute, "x"}).Draw(t, "form"), NodeGPUs: rapid.SampledFrom([]int{0, 8, -1, math.MaxInt}).Draw(t, "node"),
		Profile: rapid.SampledFrom([]Profile{"", Portable, Regression, "x"}).Draw(t, "profile"), SLOMaxTTFTMS: odd(t, "SLO", 2000),
	}
}

// lawful fails where something is written from a real target or from a
// simulation that was not allowed, or from less than a gate needs.
func lawful(t rapid.TB, f *fixture, p Proposal) {
	if _, err := json.Marshal(p); err != nil {
		t.Fatal(err)
	}
	if len(p.Reasons) == 0 || p.Reasons[0] == "" {
		t.Fatal("no reason")
	}
	if !p.Writable {
		return
	}
	if !f.curve.Fingerprint.Simulated || !f.policy.AllowSimulated || p.Outcome != OutcomeSimulated || len(unmetOf(p.Gates)) > 0 {
		t.Fatalf("written: %s %q", p.Outcome, p.Reasons)
	}
	if p.ValidAttempts < minRunsToWrite || p.StalledAttempts > sweep.MaxStalls || !positive(p.Gate.CeilingTTFTP99MS) ||
		!f.policy.TTFTOnly && !positive(p.Gate.FloorPerGPU+p.Gate.Floor) {
		t.Fatalf("written: %+v", p.Gate)
	}
}

// No input makes Propose panic, print a NaN, or write what it has no right to.
func TestProposeHostile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFixture()
		f.curve.Fingerprint.Simulated = rapid.Bool().Draw(t, "simulated")
		f.policy.AllowSimulated = rapid.Bool().Draw(t, "allow")
		if rapid.IntRange(0, 3).Draw(t, "damage") > 0 { // a quarter stays sound, so that something is written
			bend(t, f)
		}
		lawful(t, f, f.propose())
		lawful(t, f, Propose(f.curve, f.current, f.policy))
	})
}

// TestProposeSound: what the law above leaves undamaged is written, of the four
// that it can be, where it is simulated and that is allowed.
func TestProposeSound(t *testing.T) {
	for _, simulated := range []bool{false, true} {
		for _, allowed := range []bool{false, true} {
			f := newFixture()
			f.curve.Fingerprint.Simulated, f.policy.AllowSimulated = simulated, allowed
			p := f.propose()
			lawful(t, f, p)
			if p.Writable != (simulated && allowed) {
				t.Errorf("simulated %v, allowed %v: %s, writable %v: %q", simulated, allowed, p.Outcome, p.Writable, p.Reasons)
			}
		}
	}
}

// wellJudged fails where a verdict comes from fewer than three valid attempts, or
// passes without everything that the gate demands.
func wellJudged(t rapid.TB, f *fixture, g recipes.Gate, r CheckResult) {
	r.Gate = recipes.Gate{} // the caller's own
	if _, err := json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	if len(r.Reasons) == 0 {
		t.Fatal("no reason")
	}
	if r.Verdict != Inconclusive && (r.Valid < checkValid || r.Attempts-r.Valid > checkInvalid || g.Empty() || f.curve.Fingerprint.GPUs <= 0) {
		t.Fatalf("%s from %d of %d attempts", r.Verdict, r.Valid, r.Attempts)
	}
	if r.Verdict == Pass && (g.FloorPerGPU > 0 && !(r.TokPerSecPerGPU >= 0.9*g.FloorPerGPU*(1-1e-9)) ||
		g.CeilingTTFTP99MS > 0 && !(r.TTFTP99MS <= 1.1*g.CeilingTTFTP99MS*(1+1e-9))) {
		t.Fatalf("passed with %v and %v of %+v", r.TokPerSecPerGPU, r.TTFTP99MS, g)
	}
}

// soundCheck is what the law below damages.
func soundCheck() (*fixture, recipes.Gate) {
	return checkFixture([]float64{21197, 21500, 20900}, steadyP99[:3]), testGate()
}

// No input makes Check panic, print a NaN, or judge what it has no right to.
func TestCheckHostile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, g := soundCheck()
		if rapid.IntRange(0, 3).Draw(t, "damage") > 0 {
			bend(t, f)
		}
		if rapid.Bool().Draw(t, "forged gate") {
			g = recipes.Gate{
				Model: rapid.SampledFrom([]string{"", testModel, "x"}).Draw(t, "model"), ConcurrencyPerGPU: rapid.SampledFrom([]int{128, 0, -1}).Draw(t, "concurrency"),
				FloorPerGPU: odd(t, "per GPU", 18000), CeilingTTFTP99MS: odd(t, "ceiling", 1400),
			}
		}
		base := finished(f.curve)
		perNode := rapid.SampledFrom([]int{8, 0, -1, math.MaxInt}).Draw(t, "per node")
		wellJudged(t, f, g, Check(g, f.curve, perNode, rapid.SampledFrom([]*sweep.Curve{nil, &base}).Draw(t, "base")))
	})
}

// TestCheckSound: undamaged, it passes.
func TestCheckSound(t *testing.T) {
	f, g := soundCheck()
	same := finished(f.curve)
	for _, base := range []*sweep.Curve{nil, &same} {
		r := Check(g, f.curve, 8, base)
		wellJudged(t, f, g, r)
		if r.Verdict != Pass {
			t.Errorf("with a base: %v: %s: %q", base != nil, r.Verdict, r.Reasons)
		}
	}
}

// More healthy runs never make something writable that had no right to it.
func TestHealthyRunsUnlockNothing(t *testing.T) {
	for name, f := range map[string]*fixture{
		"real":                   newFixture(),
		"simulated, not allowed": func() *fixture { f := newFixture().simulated(); f.policy.AllowSimulated = false; return f }(),
		"two stalls":             func() *fixture { f := newFixture().simulated(); f.fail(0, "V6"); f.fail(1, "V6"); return f }(),
		"past an edge":           func() *fixture { f := newFixture().simulated(); f.level(64).TTFTP99MS = 100; return f }(),
		"still rising":           func() *fixture { f := newFixture().simulated(); f.fit.Status = knee.NotSaturated; return f }(),
	} {
		for i := range 5 {
			if p := f.propose(); p.Writable {
				t.Errorf("%s, %d healthy attempts more: %s", name, i, p.Outcome)
			}
			f.add(sweep.Confirm, 128, 21200, 677)
		}
	}
}
