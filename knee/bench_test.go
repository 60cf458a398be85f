package knee_test

import (
	"math/rand/v2"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
)

// BenchmarkFind is A15: 12 levels × 5 repeats with 200 replicates, below 0.3 s
// an operation.
func BenchmarkFind(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	levels := kneetest.HalfOctave()[5:]
	levels = levels[:12]
	runs := kneetest.New(kneetest.Collapse, rng).Sweep(rng, levels, 5, 0.03, nil)
	for b.Loop() {
		if fit := knee.Find(runs, knee.Options{}); fit.Status != knee.Knee {
			b.Fatal(fit.Status)
		}
	}
}

// BenchmarkFindHostile is the most work that input can cause: every level that
// a fit carries, over the whole range.
func BenchmarkFindHostile(b *testing.B) {
	runs := hostileRuns()
	for b.Loop() {
		knee.Find(runs, knee.Options{})
	}
}

// hostileRuns spreads thousands of runs over 256 levels in 1..2^20.
func hostileRuns() []knee.Run {
	rng := rand.New(rand.NewPCG(2, 2))
	var runs []knee.Run
	for i := range 256 {
		n := 1 + i*i*16
		for range 20 {
			runs = append(runs, knee.Run{ConcurrencyPerGPU: n, TokPerSecPerGPU: 1e15 * rng.Float64(), TTFTP99MS: 1e12 * rng.Float64()})
		}
	}
	return runs
}
