package calibrate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// unmetOf lists the gates that are neither met nor waived.
func unmetOf(gates []GateResult) []string {
	ids := []string{}
	for _, g := range gates {
		if g.State == Unmet {
			ids = append(ids, g.ID)
		}
	}
	return ids
}

// evenly is five runs whose ln X have the standard deviation sd.
func evenly(sd float64) []float64 {
	step, out := sd/math.Sqrt(2.5), make([]float64, 5)
	for i := range out {
		out[i] = 21000 * math.Exp(step*float64(i-2))
	}
	return out
}

// Every gate has a campaign in which only that gate fires, and one just inside
// its threshold in which none does. All run on a simulated target, where C6,
// C7 and C11 are waived.
func TestEachGateAlone(t *testing.T) {
	x := func(v ...float64) func(*fixture) {
		return func(f *fixture) { f.attempts(sweep.Confirm, 128, v, healthyP99()) }
	}
	p99 := func(v ...float64) func(*fixture) {
		return func(f *fixture) { f.attempts(sweep.Confirm, 128, healthyX(), v) }
	}
	for _, c := range []struct {
		gate            string
		outside, inside func(*fixture)
		outcome         Outcome
	}{
		// T(5, .02, 12) = ln(1/.85) = .1625: a pair at −14.9 % stays inside, one
		// at −15.1 % does not (two low runs keep s_w ≤ .08 apart from it).
		{"C1", x(21197, 21197*0.849, 21197, 21197, 21197), x(21197, 21197*0.851, 21197, 21197, 21197), OutcomeUnstable},
		// One TTFT p99 at ×3.03 of the next, one at ×2.97.
		{"C2", p99(150, 150, 150, 150, 454), p99(150, 150, 150, 150, 446), OutcomeUnstable},
		{"C3",
			func(f *fixture) { f.level(64).Flags = []string{"split"} },
			func(f *fixture) { f.level(192).Flags = []string{"split"} }, OutcomeUnstable},
		// 1.25·2.5·.02·√(1/2+1/2) = .0625.
		{"C4",
			func(f *fixture) { f.level(96).TokPerSecPerGPU = 21200 * 1.066 },
			func(f *fixture) { f.level(96).TokPerSecPerGPU = 21200 * 1.064 }, OutcomeDegraded},
		{"C5",
			func(f *fixture) { f.level(64).TTFTP99MS = 640/3.0 - 1 },
			func(f *fixture) { f.level(64).TTFTP99MS = 640/3.0 + 1 }, OutcomeDegraded},
		// Equal steps of ln X: sd = step·√2.5, .0801 and .0799.
		{"C8", x(evenly(0.0801)...), x(evenly(0.0799)...), OutcomeUnstable},
		{"C9",
			func(f *fixture) { f.point.Healthy, f.point.Reason = false, "192 per GPU was not measured" },
			func(f *fixture) { f.fit.Status, f.point.Basis = knee.Insufficient, "proved" }, OutcomeDegraded},
		{"C10",
			func(f *fixture) { f.curve.Fingerprint.Labels = nil; f.fit.Levels = f.fit.Levels[3:4] },
			func(f *fixture) {}, OutcomeProvisional},
	} {
		t.Run(c.gate, func(t *testing.T) {
			out, in := newFixture().simulated(), newFixture().simulated()
			c.outside(out)
			c.inside(in)
			got := out.propose()
			want := []string{c.gate}
			if c.gate == "C10" {
				// Without a curve there is nothing for C4 and C5 either.
				want = []string{"C4", "C5", "C10"}
			}
			if ids := unmetOf(got.Gates); !slices.Equal(ids, want) {
				t.Errorf("outside: unmet %v, want %v: %q", ids, want, got.Reasons)
			}
			if got.Outcome != c.outcome || got.Writable {
				t.Errorf("outside: %s, writable %v; want %s", got.Outcome, got.Writable, c.outcome)
			}
			for _, g := range got.Gates {
				if g.State == Unmet && (g.Observed == "" || g.Threshold == "" || g.Remedy == "") {
					t.Errorf("an unmet gate must say what was seen, wanted and to do: %+v", g)
				}
			}
			ok := in.propose()
			if ids := unmetOf(ok.Gates); len(ids) != 0 || ok.Outcome != OutcomeSimulated || !ok.Writable {
				t.Errorf("inside: unmet %v, %s, writable %v: %q", ids, ok.Outcome, ok.Writable, ok.Reasons)
			}
		})
	}
}

// What has to come from outside the campaign is unmet on a real target while it
// is not there, and --allow-simulated does not change that.
func TestExternalGatesAreUnmet(t *testing.T) {
	for _, allow := range []bool{false, true} {
		f := newFixture()
		f.policy.AllowSimulated = allow
		p := f.propose()
		if ids := unmetOf(p.Gates); !slices.Equal(ids, []string{"C6", "C7"}) || gate(p, "C11").State != Unverified {
			t.Errorf("allow %v: unmet %v", allow, ids)
		}
		for id, observed := range map[string]string{"C6": "one window", "C7": "no anchor", "C11": "unverified"} {
			if g := gate(p, id); !strings.HasPrefix(g.Observed, observed) {
				t.Errorf("%s observed %q", id, g.Observed)
			}
		}
		if p.Outcome != OutcomeProvisional || p.Writable {
			t.Errorf("allow %v: %s, writable %v", allow, p.Outcome, p.Writable)
		}
	}
}

// A basis that does not belong to the status is not met, whatever its name.
func TestC9Basis(t *testing.T) {
	for _, c := range []struct {
		status knee.Status
		basis  string
		want   GateState
	}{
		{knee.Knee, "knee", Met}, {knee.LatencyLimited, "latency_limited", Met}, {knee.Insufficient, "proved", Met}, {knee.NotSaturated, "lower_bound", Met},
		{knee.Knee, "lower_bound", Unmet}, {knee.Ambiguous, "lower_bound", Unmet}, {knee.Ambiguous, "knee", Unmet},
		{knee.NotSaturated, "knee", Unmet}, {knee.Knee, "", Unmet}, {knee.Knee, "other", Unmet}, {"", "latency_limited", Unmet},
	} {
		f := newFixture().simulated()
		f.fit.Status, f.point.Basis = c.status, c.basis
		if g := gate(f.propose(), "C9"); g.State != c.want {
			t.Errorf("status %q, basis %q: %+v", c.status, c.basis, g)
		}
	}
}

func gate(p Proposal, id string) GateResult {
	for _, g := range p.Gates {
		if g.ID == id {
			return g
		}
	}
	return GateResult{}
}

func TestGatesInOrder(t *testing.T) {
	var ids []string
	for _, g := range newFixture().propose().Gates {
		ids = append(ids, g.ID)
	}
	if want := []string{"C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C11"}; !slices.Equal(ids, want) {
		t.Errorf("gates %v", ids)
	}
}

// The threshold of C1 grows with the noise of the sweep, up to its cap.
func TestC1ScalesWithNoise(t *testing.T) {
	f := newFixture().simulated()
	f.attempts(sweep.Confirm, 128, []float64{21000, 21000 * 0.83, 21000, 21000, 21000}, healthyP99())
	if g := gate(f.propose(), "C1"); g.State != Unmet {
		t.Errorf("−17 %% at 2 %% noise: %+v", g)
	}
	f.fit.Noise = 0.05
	if g := gate(f.propose(), "C1"); g.State != Met { // 3.7·(4/3)·.05 = .2467 > −ln .83 = .1863
		t.Errorf("−17 %% at 5 %% noise: %+v", g)
	}
	f.fit.NoiseDF = 3
	if g := gate(f.propose(), "C1"); g.State != Unmet {
		t.Errorf("noise on 3 degrees of freedom must not widen the rule: %+v", g)
	}
}

// The public H100 window reached max/min 1.168 with no gap above 5 %; its three
// stalled windows did not.
func TestC1PublicWindows(t *testing.T) {
	if gap, limit, split := splitGap([]float64{127036, 118376, 108739, 122189, 116678, 114380}, noise{}); split {
		t.Errorf("healthy window: gap %.4f, limit %.4f", gap, limit)
	}
	for _, w := range [][]float64{{123043, 84049, 122151}, {48920, 111472, 92865, 124479, 112637, 92590}, {110847, 77537}} {
		if gap, limit, split := splitGap(w, noise{}); !split {
			t.Errorf("stalled window %v: gap %.4f, limit %.4f", w, gap, limit)
		}
	}
}

// Tails that spread by more than two count only with a second witness.
func TestC2Witnesses(t *testing.T) {
	p99 := []float64{300, 400, 500, 700}
	for name, c := range map[string]struct {
		p50   []float64
		split bool
		want  bool
	}{
		"alone":           {[]float64{100, 110, 120, 130}, false, false},
		"p50 moved too":   {[]float64{100, 110, 120, 201}, false, true},
		"p50 just within": {[]float64{100, 110, 120, 199}, false, false},
		"C1 failed":       {[]float64{100, 110, 120, 130}, true, true},
	} {
		if got := tailApart(p99, c.p50, c.split); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if tailApart([]float64{300, 310, 320, 330}, []float64{100, 250, 100, 100}, true) {
		t.Error("a tail that stays together is no tail apart")
	}
	// The public ratios: at most ×2.4 when healthy, ×4.4 and more when not.
	if tailApart([]float64{708, 1358, 1670}, []float64{300, 310, 305}, false) || !tailApart([]float64{729, 4155, 935}, []float64{300, 310, 305}, false) {
		t.Error("the public windows are on the wrong sides")
	}
}

// C5 allows ×3 an octave, and never less than one octave's worth.
func TestC5Octaves(t *testing.T) {
	f := newFixture().simulated()
	f.fit.Levels = []knee.Level{level(32, 8000, 100), level(128, 21200, 890), level(192, 24000, 1200)}
	if g := gate(f.propose(), "C5"); g.State != Met {
		t.Errorf("×8.9 over two octaves: %+v", g)
	}
	f.level(128).TTFTP99MS = 910
	if g := gate(f.propose(), "C5"); g.State != Unmet {
		t.Errorf("×9.1 over two octaves: %+v", g)
	}
	f.fit.Levels = []knee.Level{level(96, 17600, 100), level(128, 21200, 290), level(192, 24000, 1200)}
	if g := gate(f.propose(), "C5"); g.State != Met {
		t.Errorf("×2.9 over less than an octave: %+v", g)
	}
	f.fit.Levels = f.fit.Levels[1:]
	if p := f.propose(); gate(p, "C5").State != Unmet || p.Writable {
		t.Errorf("nothing below the point: %+v", gate(p, "C5"))
	}
}

// C4 also compares the point with the fitted curve.
func TestC4OffTheCurve(t *testing.T) {
	f := newFixture().simulated()
	e := gather(f.curve, f.fit, f.point, f.policy)
	for _, c := range []struct {
		fitted float64
		want   GateState
	}{{21200 / 1.149, Met}, {21200 / 1.151, Unmet}, {21200 / 0.851, Met}, {21200 / 0.849, Unmet}} {
		e.at = func(float64) (float64, bool) { return c.fitted, true }
		if g := e.c4(); g.State != c.want {
			t.Errorf("fitted %.0f: %+v", c.fitted, g)
		}
	}
}

// A TTFT p99 of too few requests is evidence for a human, not for a gate.
func TestShortGateRuns(t *testing.T) {
	f := newFixture().simulated()
	f.curve.Runs[0].Result.WholeRun.Requests = 999
	p := f.propose()
	if gate(p, "C2").State != Unmet || p.Writable || p.Outcome != OutcomeProvisional || p.CeilingMS != 0 {
		t.Errorf("999 requests: %s %+v", p.Outcome, gate(p, "C2"))
	}
	f.curve.Fingerprint.Effort = sweep.Quick
	if p := f.propose(); !p.Writable {
		t.Errorf("quick runs use what they have: %q", p.Reasons)
	}
	f.curve.Fingerprint.Effort = sweep.Standard
	f.curve.Runs[0].Result.WholeRun.Requests = 1000
	if p := f.propose(); !p.Writable {
		t.Errorf("1000 requests: %q", p.Reasons)
	}
}

// An attempt counts only if its stall watch is there and valid.
func TestAttemptsNeedTheirWatch(t *testing.T) {
	f := newFixture().simulated()
	f.curve.Runs = f.curve.Runs[:9] // the fifth attempt lacks its steady run
	p := f.propose()
	if p.ValidAttempts != 4 || p.Attempts != 5 || p.Outcome != OutcomeProvisional || p.Writable {
		t.Errorf("%s, %d of %d: %q", p.Outcome, p.ValidAttempts, p.Attempts, p.Reasons)
	}
	g := newFixture().simulated()
	g.curve.Runs[9].Violations = []sweep.Violation{{Gate: "V2"}}
	if p := g.propose(); p.ValidAttempts != 4 || p.Outcome != OutcomeInvalid || p.Writable {
		t.Errorf("%s, %d valid: %q", p.Outcome, p.ValidAttempts, p.Reasons)
	}
	// A check's runs at the same point confirm nothing.
	h := newFixture().simulated()
	for i := range h.curve.Runs {
		h.curve.Runs[i].Step.Purpose = sweep.Check
	}
	if p := h.propose(); p.Attempts != 0 || p.Writable {
		t.Errorf("%d attempts", p.Attempts)
	}
	if h.curve.Runs[0].Step.Kind != loadgen.Gate {
		t.Fatal("the fixture starts with a gate run")
	}
}
