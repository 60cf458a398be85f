package sweep

import (
	"math"
	"slices"
	"testing"

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
