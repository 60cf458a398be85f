package sweep

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

// coarseOnly plays only the ascending pass and returns its levels in order.
func coarseOnly(t *testing.T, w *world) []int {
	t.Helper()
	var levels []int
	runs, _ := w.play(t, DefaultPlan(Standard))
	for _, r := range runs {
		if r.Step.Purpose == Coarse || r.Step.Purpose == Recheck {
			levels = append(levels, r.Step.ConcurrencyPerGPU)
		}
	}
	return levels
}

func rising() kneetest.Curve {
	return kneetest.Curve{X: func(n float64) float64 { return 100 * n * 2000 / (n + 2000) }}
}

func TestStops(t *testing.T) {
	at := func(n int, seen *int, change func(*Run)) func(*Run) {
		return func(r *Run) {
			if r.Step.ConcurrencyPerGPU == n && r.Step.Kind == loadgen.Steady {
				*seen++
				change(r)
			}
		}
	}
	slow := func(r *Run) {
		r.Result.Window.OutputTokPerSec *= 0.5
		r.Result.Window.TTFTP99MS *= 40
	}
	failing := func(r *Run) {
		r.Result.Measured = loadgen.Outcomes{loadgen.OK: 900, loadgen.Shed: 100}
		r.Violations = []Violation{{Gate: "V2"}}
	}
	capped := func(r *Run) {
		r.Result.Capped = true
		r.Result.Window.OutputTokPerSec *= 0.4
	}
	cappedRising := func(r *Run) { r.Result.Capped = true }
	times := func(seen *int, k int, change func(*Run)) func(*Run) {
		return func(r *Run) {
			if *seen <= k {
				change(r)
			}
		}
	}
	var seen int
	for _, c := range []struct {
		name   string
		change func(*Run)
		want   []int
	}{
		{"overload, twice", slow, []int{8, 16, 32, 64, 32, 64}},
		{"overload, once only", times(&seen, 1, slow), []int{8, 16, 32, 64, 32, 64, 128, 256, 512}},
		{"errors above 1 %", failing, []int{8, 16, 32, 64, 32, 64}},
		{"cut off without gain", capped, []int{8, 16, 32, 64, 32, 64}},
		{"cut off, but rising", cappedRising, []int{8, 16, 32, 64, 128, 256, 512}},
		{"never valid", func(r *Run) { r.Violations = []Violation{{Gate: "V8"}} }, []int{8, 16, 32, 64, 64, 64}},
	} {
		seen = 0
		w := newWorld(rising(), 0, 1)
		w.judge = at(64, &seen, c.change)
		if got := coarseOnly(t, w); !slices.Equal(got, c.want) {
			t.Errorf("%s: levels %v, want %v", c.name, got, c.want)
		}
	}
}

func TestPlateauStop(t *testing.T) {
	w := newWorld(kneetest.Curve{X: func(n float64) float64 { return 100 * min(n, 16) }}, 0, 1)
	waiting := 1.5 // TTFT grows as n to this power past the cap
	w.judge = func(r *Run) {
		ttft := 50 * math.Pow(max(float64(r.Step.ConcurrencyPerGPU)/16, 1), waiting)
		r.Result.Window.TTFTP50MS, r.Result.Window.TTFTP99MS = ttft, 2*ttft
	}
	want := []int{8, 16, 32, 64, 64}
	if got := coarseOnly(t, w); !slices.Equal(got, want) {
		t.Errorf("levels %v, want %v", got, want)
	}
	// Flat, but hardly anybody waits longer: there is nothing to save.
	waiting = 0.1
	if got, want := coarseOnly(t, w), coarseLevels(512); !slices.Equal(got, want) {
		t.Errorf("levels %v, want %v", got, want)
	}
}

// TestFewLevelsBelowAStop: the pass extends downwards (S-4).
func TestFewLevelsBelowAStop(t *testing.T) {
	w := newWorld(kneetest.Curve{X: func(n float64) float64 {
		return 100 * min(n, 20) * math.Pow(max(n, 20)/20, -2)
	}, Edge: 20}, 0.02, 1)
	runs, _ := w.play(t, DefaultPlan(Standard))
	levels := viewOf(runs).levels()
	if levels[0] != 1 {
		t.Errorf("levels %v: five must lie below the stop at 32 if there are as many", levels)
	}
}

// TestPlateauMustReproduce: a plateau that the second run does not show again
// was a moment of the environment, and the pass goes on.
func TestPlateauMustReproduce(t *testing.T) {
	for _, c := range []struct {
		name   string
		ttftMS []float64 // of the runs at 64 per GPU; elsewhere it is 50
		want   []int
	}{
		{"again", []float64{300, 280}, []int{8, 16, 32, 64, 64}},
		{"once only", []float64{300, 50}, []int{8, 16, 32, 64, 64, 128, 256, 512}},
		{"never", []float64{240}, []int{8, 16, 32, 64, 128, 256, 512}},
	} {
		w := newWorld(kneetest.Curve{X: func(n float64) float64 { return 100 * min(n, 16) }}, 0, 1)
		w.judge = func(r *Run) {
			ttft := 50.0
			if r.Step.ConcurrencyPerGPU == 64 && len(c.ttftMS) > 0 {
				ttft, c.ttftMS = c.ttftMS[0], c.ttftMS[1:]
			}
			r.Result.Window.TTFTP50MS, r.Result.Window.TTFTP99MS = ttft, 2*ttft
		}
		if got := coarseOnly(t, w); !slices.Equal(got, c.want) {
			t.Errorf("%s: levels %v, want %v", c.name, got, c.want)
		}
	}
}

// TestExtend: enough levels below the end of the curve, and no more of them.
func TestExtend(t *testing.T) {
	for _, c := range []struct {
		edge   float64
		lowest int
	}{
		{12, 1}, {20, 1}, {40, 2}, {80, 4}, {160, 8}, {300, 8},
	} {
		w := newWorld(kneetest.Curve{X: func(n float64) float64 {
			return 100 * min(n, c.edge) * math.Pow(max(n, c.edge)/c.edge, -2)
		}, Edge: c.edge}, 0, 1)
		runs, _ := w.play(t, DefaultPlan(Standard))
		s := stopOf(DefaultPlan(Standard), runs)
		if s.kind != stopEarly || shallow(s, runs) {
			t.Errorf("edge %v: stop %+v without five levels below it", c.edge, s)
		}
		lowest := 512
		for _, r := range runs {
			if r.Step.Purpose == Extend || r.Step.Purpose == Coarse {
				lowest = min(lowest, r.Step.ConcurrencyPerGPU)
			}
		}
		if lowest != c.lowest {
			t.Errorf("edge %v, stopped at %d: the lowest level is %d, want %d", c.edge, s.n, lowest, c.lowest)
		}
	}
}

// TestRefine: the levels around the knee come to within 1.5× of each other
// where the budget allows it, and stay an octave apart where it does not.
func TestRefine(t *testing.T) {
	p := DefaultPlan(Standard)
	for seed := range uint64(12) {
		w := newWorld(kneetest.New(kneetest.BatchCap, rand.New(rand.NewPCG(seed, 3))), 0.01, 1)
		runs, _ := w.play(t, p)
		refined := slices.IndexFunc(runs, func(r Run) bool { return r.Step.Purpose == Refine })
		if refined < 0 {
			t.Errorf("seed %d: never refined", seed)
			continue
		}
		fit := fitOf(p, runs)
		if low, high := around(viewOf(runs), fit.Knee); fit.Status != knee.Knee || float64(high) > closeEnough*float64(low) {
			t.Errorf("seed %d: %s at %.3g between %d and %d", seed, fit.Status, fit.Knee, low, high)
		}
		small := p
		small.MaxRuns = refined
		d := NextStep(small, runs[:refined])
		cut := fitOf(p, runs[:refined])
		if low, high := around(viewOf(runs[:refined]), cut.Knee); !d.Done || float64(high) <= closeEnough*float64(low) {
			t.Errorf("seed %d: refined although nothing was left: %d to %d around %.3g, %+v", seed, low, high, cut.Knee, d)
		}
	}
}

// TestSecondPassIsShuffled: each further pass visits the same levels in an
// order of its own, which the plan's seed decides.
func TestSecondPassIsShuffled(t *testing.T) {
	order := func(seed uint64) [][]int {
		p := DefaultPlan(Standard)
		p.Levels, p.Repeats, p.Seed = []int{8, 16, 24, 32, 48, 64, 96, 128}, 4, seed
		runs, _ := newWorld(rising(), 0, 1).play(t, p)
		var passes [][]int
		for chunk := range slices.Chunk(runs, len(p.Levels)) {
			var pass []int
			for _, r := range chunk {
				pass = append(pass, r.Step.ConcurrencyPerGPU)
			}
			passes = append(passes, pass)
		}
		return passes
	}
	a := order(1)
	if len(a) != 4 || !slices.IsSorted(a[0]) {
		t.Fatalf("passes %v", a)
	}
	for i, pass := range a {
		if sorted := slices.Sorted(slices.Values(pass)); !slices.Equal(sorted, a[0]) {
			t.Errorf("pass %d visits %v", i+1, pass)
		}
		for j := range i {
			if slices.Equal(a[j], pass) {
				t.Errorf("passes %d and %d go the same way: %v", j+1, i+1, pass)
			}
		}
	}
	if b := order(2); slices.Equal(a[1], b[1]) || !slices.Equal(a[1], order(1)[1]) {
		t.Errorf("the order is not the seed's: %v and %v", a[1], b[1])
	}
}
