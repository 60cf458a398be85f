package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

// pairs are two equal runs at each level, at 100 tok/s a stream.
func pairs(levels []int, change func(n int, e *loadgen.Estimate)) []Run {
	var pts []knee.Run
	for _, n := range levels {
		for range 2 {
			pts = append(pts, knee.Run{ConcurrencyPerGPU: n, TokPerSecPerGPU: 100 * float64(n), TTFTP50MS: 50, TTFTP99MS: 100})
		}
	}
	runs := FromPoints(pts)
	for i := range runs {
		change(runs[i].Step.ConcurrencyPerGPU, &runs[i].Result.Window)
	}
	return runs
}

func TestChoosePoint(t *testing.T) {
	all := []int{8, 16, 32, 48, 64, 96, 128, 192, 256}
	same := func(int, *loadgen.Estimate) {}
	fit := func(k, low float64, edge int) knee.Fit {
		return knee.Fit{Status: knee.Knee, Knee: k, KneeLow: low, LatencyEdge: edge, Noise: 0.03, NoiseDF: 12}
	}
	for _, c := range []struct {
		name    string
		fit     knee.Fit
		levels  []int
		change  func(int, *loadgen.Estimate)
		n       int
		bound   string
		healthy bool
		measure bool
	}{
		{"0.8 × knee", fit(160, 128, 0), all, same, 128, "0.8_knee", true, false},
		{"just below a ladder value", fit(159.9, 128, 0), all, same, 96, "0.8_knee", true, false},
		{"a low lower end", fit(160, 60, 0), all, same, 64, "sqrt2_knee_low", true, false},
		{"latency edge", fit(300, 200, 100), all, same, 96, "latency_edge", true, false},
		{"next not measured", fit(160, 128, 0), all[:7], same, 128, "0.8_knee", false, true},
		{"point not measured", fit(160, 128, 0), []int{8, 16, 32, 64, 256}, same, 128, "0.8_knee", false, true},
		{"next falls", fit(160, 128, 0), all, func(n int, e *loadgen.Estimate) {
			if n == 192 {
				e.OutputTokPerSec = 12800 * 0.9
			}
		}, 96, "next_level_unhealthy", true, false},
		{"next falls within the tolerance", fit(160, 128, 0), all, func(n int, e *loadgen.Estimate) {
			if n == 192 {
				e.OutputTokPerSec = 12800 * 0.94 // ln = −.062, tolerance .075
			}
		}, 128, "0.8_knee", true, false},
		{"next above the SLO", fit(160, 128, 0), all, func(n int, e *loadgen.Estimate) {
			if n == 192 {
				e.TTFTP99MS = 2001
			}
		}, 96, "next_level_unhealthy", true, false},
		{"point above the SLO", fit(160, 128, 0), all, func(n int, e *loadgen.Estimate) {
			if n >= 96 {
				e.TTFTP99MS = 2001
			}
		}, 48, "next_level_unhealthy", true, false},
		{"TTFT missing everywhere", fit(160, 128, 0), Ladder[:16], func(_ int, e *loadgen.Estimate) { e.TTFTP99MS = 0 }, 0, "", false, false},
		{"no knee", knee.Fit{Status: knee.Ambiguous, Knee: 100}, all, same, 0, "", false, false},
		{"saturated at the lowest level", knee.Fit{Status: knee.SaturatedAtMin}, all, same, 0, "", false, false},
		{"still rising", knee.Fit{Status: knee.NotSaturated}, all, same, 192, "0.8_top_level", true, false},
		{"knee below two", fit(1.2, 1, 0), all, same, 0, "", false, false},
	} {
		op := ChoosePoint(DefaultPlan(Standard), c.fit, pairs(c.levels, c.change))
		if op.ConcurrencyPerGPU != c.n || op.Bound != c.bound || op.Healthy != c.healthy || op.Measure != c.measure {
			t.Errorf("%s: %+v, want %d %q healthy %v measure %v", c.name, op, c.n, c.bound, c.healthy, c.measure)
		}
		if !op.Healthy && op.Reason == "" {
			t.Errorf("%s: refused without a reason", c.name)
		}
		if got := op.Sentence(); op.Healthy && !strings.Contains(got, fmt.Sprintf("%d per GPU (bound %s: ", c.n, c.bound)) || !op.Healthy && !strings.Contains(got, op.Reason) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestBoundsAreNamed: each bound is named and told in words of its own; one
// that steps down says what was wrong above.
func TestBoundsAreNamed(t *testing.T) {
	seen := map[string]string{}
	for _, b := range []string{boundMargin, boundTop, boundInterval, boundEdge, boundSLO, boundNext, boundObjective, boundConfirmed, boundGiven} {
		op := OperatingPoint{ConcurrencyPerGPU: 64, Basis: "knee", Bound: b, Healthy: true}
		if b == boundSLO || b == boundNext {
			op.BoundReason = b + " above"
		}
		s := op.Sentence()
		if !strings.HasPrefix(s, "the operating point is 64 per GPU (bound "+b+": ") || !strings.Contains(s, op.BoundReason) {
			t.Errorf("%s: %q", b, s)
		}
		words := strings.TrimPrefix(s, "the operating point is 64 per GPU (bound "+b)
		if seen[words] != "" {
			t.Errorf("%s and %s are told in the same words: %q", b, seen[words], words)
		}
		seen[words] = b
	}
	for _, c := range []struct {
		name string
		fit  knee.Fit
		n    int
		want string
	}{
		{"O-1", knee.Fit{Status: knee.Knee, Knee: 160, KneeLow: 128}, 128, "or below 0.8 × the knee"},
		{"O-1, the interval", knee.Fit{Status: knee.Knee, Knee: 160, KneeLow: 60}, 64, "√2 × the lower end"},
		{"O-2", knee.Fit{Status: knee.Knee, Knee: 260, KneeLow: 250}, 128, "stepped down, as TTFT p99 at 256 per GPU is 2500 ms"},
		{"a lower bound", knee.Fit{Status: knee.NotSaturated}, 128, "stepped down"},
	} {
		runs := pairs([]int{16, 32, 64, 96, 128, 192, 256}, func(n int, e *loadgen.Estimate) {
			if n == 256 {
				e.TTFTP99MS = 2500
			}
		})
		op := ChoosePoint(DefaultPlan(Standard), c.fit, runs)
		if op.ConcurrencyPerGPU != c.n || !op.Healthy || !strings.Contains(op.Sentence(), c.want) {
			t.Errorf("%s: %q, want %d and %q", c.name, op.Sentence(), c.n, c.want)
		}
	}
}

func TestSplitAtOrBelowThePointIsUnhealthy(t *testing.T) {
	runs := pairs([]int{8, 16, 32, 64, 128, 192}, func(int, *loadgen.Estimate) {})
	runs[2].Result.Window.OutputTokPerSec *= 0.6 // one of two at 16
	op := ChoosePoint(DefaultPlan(Standard), knee.Fit{Status: knee.Knee, Knee: 160, KneeLow: 128, Noise: 0.03, NoiseDF: 6}, runs)
	if op.ConcurrencyPerGPU != 128 || op.Healthy || !strings.Contains(op.Reason, "unstable") {
		t.Errorf("%+v", op)
	}
}

// TestConfirmationMovesDownOnly: the fit after a confirmation may lower the
// point, which is then confirmed again, and may not raise it.
func TestConfirmationMovesDownOnly(t *testing.T) {
	for _, c := range []struct {
		after float64
		want  []int // levels confirmed, in order
	}{
		{150, []int{96}}, {90, []int{96, 64}}, {1000, []int{96}},
	} {
		w := newWorld(kneetest.GB300(210), 0, 1)
		w.curve = rising()
		find := func(runs []knee.Run, _ knee.Options) knee.Fit {
			k := 150.0
			at := 0
			for _, r := range runs {
				if r.ConcurrencyPerGPU == 96 {
					at++
				}
			}
			if at > 4 { // confirmed
				k = c.after
			}
			return knee.Fit{Status: knee.Knee, Knee: k, KneeLow: k}
		}
		var runs []Run
		d := nextStep(confirmPlan(), runs, find)
		for ; !d.Done; d = nextStep(confirmPlan(), runs, find) {
			runs = append(runs, w.run(d.Step, len(runs)+1))
		}
		var levels []int
		for _, r := range runs {
			if n := r.Step.ConcurrencyPerGPU; r.Step.Purpose == Confirm && !slices.Contains(levels, n) {
				levels = append(levels, n)
			}
		}
		if !slices.Equal(levels, c.want) || d.Point.ConcurrencyPerGPU != c.want[len(c.want)-1] || !d.Point.Healthy {
			t.Errorf("knee %v afterwards: confirmed %v, point %+v", c.after, levels, d.Point)
		}
		got := ChoosePoint(confirmPlan(), find(points(runs, 1, Standard), knee.Options{}), runs)
		if got.ConcurrencyPerGPU != d.Point.ConcurrencyPerGPU {
			t.Errorf("ChoosePoint on the finished runs gives %d, the campaign %d", got.ConcurrencyPerGPU, d.Point.ConcurrencyPerGPU)
		}
	}
}

func TestProve(t *testing.T) {
	for _, c := range []struct {
		point  int
		basis  string
		reason string
	}{
		{64, "proved", ""},
		{128, "proved", ""},
		{192, "", "TTFT p99 at 256"}, // its next level has collapsed
		{256, "", ""},                // past the edge
	} {
		for _, confirm := range []bool{false, true} {
			p := DefaultPlan(Standard)
			p.Point, p.Confirm = c.point, confirm
			runs, d := newWorld(kneetest.GB300(210), 0.02, 1).play(t, p)
			if proved := c.basis != ""; proved != (d.Point.Bound == boundGiven) || proved != strings.Contains(d.Reason, "given and proved, the knee is at least that") {
				t.Errorf("%d (confirm %v): %+v", c.point, confirm, d)
			}
			if !strings.Contains(d.Reason, c.reason) || d.Point.Basis != c.basis || d.Point.Healthy != (c.basis != "") || d.Point.ConcurrencyPerGPU != c.point {
				t.Errorf("%d (confirm %v): %+v", c.point, confirm, d)
			}
			// A level above whose TTFT is out of bounds refuses the point before
			// it is measured itself.
			v, self := viewOf(runs), 0
			if c.basis != "" {
				self = 5
			}
			if a, b, n := len(v.valid[c.point/2]), len(v.valid[LadderNext(c.point)]), len(v.valid[c.point]); a != 2 || b != 2 || n != self {
				t.Errorf("%d: %d, %d and %d runs, want 2, %d and 2", c.point, a, n, b, self)
			}
			for _, n := range v.levels() {
				if n != c.point/2 && n != c.point && n != LadderNext(c.point) {
					t.Errorf("%d: %d was measured", c.point, n)
				}
			}
			if op := ChoosePoint(p, fitOf(p, runs), runs); op != d.Point {
				t.Errorf("%d: ChoosePoint %+v, the campaign %+v", c.point, op, d.Point)
			}
		}
	}
}

// TestProveRefusesAFlatCurve: a smooth curve at twice its knee still rises a
// little, which is not enough (§18.2).
func TestProveRefusesAFlatCurve(t *testing.T) {
	p := DefaultPlan(Standard)
	p.Point = 256
	w := newWorld(kneetest.Curve{X: func(n float64) float64 { return 1e4 * n / (n + 25) }}, 0.01, 1)
	if _, d := w.play(t, p); d.Point.Healthy || !strings.Contains(d.Reason, "gains only") {
		t.Errorf("%+v", d)
	}
}

func TestCheck(t *testing.T) {
	plan := DefaultPlan(Quick)
	plan.Check, plan.Point = true, 128
	invalid := func(gate string, at ...int) func(*Run) {
		return func(r *Run) {
			if slices.Contains(at, r.Seq) {
				r.Violations = []Violation{{Gate: gate}}
			}
		}
	}
	watch := plan
	watch.MinWatch = 390 * time.Second // ten runs of 40 s
	for _, c := range []struct {
		name    string
		plan    Plan
		judge   func(*Run)
		runs    int
		healthy bool
		reason  string
	}{
		{"three valid attempts", plan, nil, 6, true, "3 of 3"},
		{"one stall", plan, invalid("V6", 2), 8, true, "3 of 4"},
		{"two stalls", plan, invalid("V6", 2, 4), 4, false, "unstable"},
		{"an invalid gate run ends its attempt", plan, invalid("V2", 1), 7, true, "3 of 4"},
		{"three invalid of five", plan, invalid("V2", 2, 3, 6), 6, false, "only 1 of 4"},
		{"three invalid from the first on", plan, invalid("V2", 1, 2, 3), 3, false, "only 0 of 3"},
		{"watched longer", watch, nil, 10, true, "5 of 5"},
		{"nothing to watch for any more", watch, invalid("V8", 1, 2, 3, 4, 5), 3, false, "only 0 of 3"},
		{"the second stall, while watching", watch, invalid("V6", 7), 7, false, "stood still before any load"},
		{"more INVALID while watching than may be", watch, invalid("V8", 7, 8, 9), 9, false, "3 of 6 attempts at 128 per GPU were INVALID (V8), at most 2 may be"},
		{"two INVALID while watching", watch, invalid("V8", 7, 8), 10, true, "4 of 6"},
		{"one stall before any load", watch, invalid("V8", 2), 10, true, "4 of 5"},
	} {
		w := newWorld(kneetest.GB300(210), 0.03, 1)
		w.judge = c.judge
		runs, d := w.play(t, c.plan)
		if len(runs) != c.runs || d.Point.Healthy != c.healthy || !strings.Contains(d.Reason, c.reason) {
			t.Errorf("%s: %d runs, %+v", c.name, len(runs), d)
		}
		for _, r := range runs {
			if r.Step.ConcurrencyPerGPU != 128 || r.Step.Purpose != Check {
				t.Errorf("%s: a check makes %+v", c.name, r.Step)
			}
		}
	}
}
