package knee_test

import (
	"testing"

	"github.com/perfsweep/perfsweep/knee"
)

// TestPublicCurves replays sweeps of public record (A16 of knee.md §13). None
// has repeats, so each point is entered the given number of times.
func TestPublicCurves(t *testing.T) {
	for _, c := range []struct {
		name     string
		n        []int
		x, ttft  []float64
		times    int
		status   knee.Status
		from, to float64
	}{
		{"RTX 4090, club-3090 #697", []int{1, 4, 8, 16}, []float64{137, 520, 520, 520}, []float64{30, 30, 3900, 11800}, 2, knee.Knee, 3, 4},
		// Four runs carry one-parameter models only: the level stands in.
		{"RTX 4090 without repeats", []int{1, 4, 8, 16}, []float64{137, 520, 520, 520}, []float64{30, 30, 3900, 11800}, 1, knee.Ambiguous, 3, 4},
		{"gpt-oss 1k/8k, InferenceX #828", []int{4, 8, 16, 32, 64}, []float64{150.7, 273.4, 479.1, 780.9, 552.9}, nil, 2, knee.Knee, 32, 48},
		{"gpt-oss 1k/1k, InferenceX #828", []int{4, 8, 16, 32, 64}, []float64{260.5, 475.0, 814.8, 1326.3, 2106.9}, nil, 2, knee.NotSaturated, 0, 0},
		{"gpt-oss 1k/1k without repeats", []int{4, 8, 16, 32, 64}, []float64{260.5, 475.0, 814.8, 1326.3, 2106.9}, nil, 1, knee.NotSaturated, 0, 0},
		{"GB300, both public points", []int{128, 256}, []float64{84788.0 / 4, 20769.0 / 4}, []float64{677, 33320}, 1, knee.Insufficient, 0, 0},
		{"MI300X, InferenceX #1061", []int{64, 96, 128, 256}, []float64{2008, 2561, 2990, 4271}, nil, 2, knee.NotSaturated, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var runs []knee.Run
			for i, n := range c.n {
				r := knee.Run{ConcurrencyPerGPU: n, TokPerSecPerGPU: c.x[i]}
				if c.ttft != nil {
					r.TTFTP50MS, r.TTFTP99MS = c.ttft[i], c.ttft[i]
				}
				for range c.times {
					runs = append(runs, r)
				}
			}
			fit := knee.Find(runs, knee.Options{})
			if fit.Status != c.status || fit.Knee < c.from || fit.Knee > c.to {
				t.Errorf("%s %.4g (grid %.4g, %s %v), want %s in %g..%g", fit.Status, fit.Knee, fit.GridKnee, fit.Model, fit.Params, c.status, c.from, c.to)
			}
			t.Logf("%s %.4g [%.4g, %.4g] %s, refine %.4g", fit.Status, fit.Knee, fit.KneeLow, fit.KneeHigh, fit.Model, fit.Refine)
		})
	}
}
