package sweep

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
)

// sloShape is a latency curve in closed form, a p99 in milliseconds at n
// streams a GPU: of TTFT, or of ITL with its own steady noise.
type sloShape struct {
	name string
	at   func(n float64) float64
	itl  float64 // deviation of ln p99 between runs; 0: a TTFT
}

// run is one measurement at n.
func (s sloShape) run(n int, rng *rand.Rand) LatencyRun {
	v := s.at(float64(n))
	if s.itl > 0 {
		return LatencyRun{ConcurrencyPerGPU: n, ITLP99MS: v * math.Exp(s.itl*rng.NormFloat64())}
	}
	return LatencyRun{ConcurrencyPerGPU: n, TTFTP99MS: v * math.Exp(sloNoiseAt(s.at, float64(n))*rng.NormFloat64())}
}

func (s sloShape) objective(limit float64) loadgen.Objective {
	if s.itl > 0 {
		return loadgen.Objective{ITLMS: limit}
	}
	return ttftLimit(limit)
}

// sloShapes: none is a straight line in log–log, which is what FindSLO draws
// between two levels, and some are all but flat below a cap or an edge.
func sloShapes() []sloShape {
	return []sloShape{
		{"prefill wave", func(n float64) float64 { return 40 + 1.5*n }, 0},
		{"batch cap", func(n float64) float64 { return 60 + n/10 + 25*max(0, n-90) }, 0},
		{"queue", func(n float64) float64 { return 50 / (1 - n/600) }, 0},
		{"KV edge", func(n float64) float64 { return 50 + n/2 + 4000/(1+math.Pow(150/n, 12)) }, 0},
		{"concave", func(n float64) float64 { return 30 * math.Exp(2*math.Pow(math.Log(n)/4, 1.5)) }, 0},
		{"soft step", func(n float64) float64 { return 80 + n/4 + 500/(1+math.Exp(-(n-200)/15)) }, 0},
		{"ITL, linear", func(n float64) float64 { return 5 + n/16 }, .03},
		{"ITL, thrash", func(n float64) float64 { return 5 + n/40 + math.Pow(n/150, 3) }, .05},
	}
}

// sloNoiseAt is the deviation of ln p99 between runs at public deployments:
// 12 % below the knee and 30 % at it, in between and beyond by the slope.
func sloNoiseAt(f func(float64) float64, n float64) float64 {
	slope := math.Log(f(n*1.05)/f(n/1.05)) / (2 * math.Log(1.05))
	return .12 + .18*min(1, slope/2)
}

// TestSLOCoverage: the 90 % interval holds the true crossing in at least 90 %
// of synthetic curves whose noise is not the estimator's, and the estimate is
// no further from it than the levels are from each other.
func TestSLOCoverage(t *testing.T) {
	trials := 40 * acceptTrials
	all, hit, noiseOnly := 0, 0, 0
	var off []float64
	for i, shape := range sloShapes() {
		rng := rand.New(rand.NewPCG(20241, uint64(i)))
		covered, bare := 0, 0
		for range trials {
			truth := 12 * math.Pow(300/12., rng.Float64())
			o := shape.objective(shape.at(truth))
			var runs []LatencyRun
			for n := 8; n <= 512; n *= 2 {
				for range 2 {
					runs = append(runs, shape.run(n, rng))
				}
			}
			s := FindSLO(o, runs)
			if (truth >= s.Low || s.LowOpen) && (truth <= s.High || s.HighOpen) {
				covered++
			}
			lo, hi := newCrossing(sloLevels(runs), limitsOf(o)).interval()
			if truth >= lo && truth <= hi {
				bare++
			}
			if s.ConcurrencyPerGPU > 0 {
				off = append(off, math.Abs(math.Log(s.ConcurrencyPerGPU/truth)))
			}
		}
		t.Logf("%-12s covered %.3f, by the bootstrap alone %.3f, of %d", shape.name, float64(covered)/float64(trials), float64(bare)/float64(trials), trials)
		all, hit, noiseOnly = all+trials, hit+covered, noiseOnly+bare
		// Three standard errors of a proportion.
		if p := float64(covered) / float64(trials); p < .9-3*math.Sqrt(.09/float64(trials)) {
			t.Errorf("%s: %.3f of the intervals hold the truth", shape.name, p)
		}
	}
	slices.Sort(off)
	within := func(q float64) float64 { return math.Exp(off[int(q*float64(len(off)-1))]) }
	t.Logf("all: covered %.3f, by the bootstrap alone %.3f; the estimate is off by ×%.2f in the median, ×%.2f at p90", float64(hit)/float64(all), float64(noiseOnly)/float64(all), within(.5), within(.9))
	if w := within(.9); w > 2 {
		t.Errorf("one estimate in ten is off by more than ×%.2f, and levels are ×2 apart", w)
	}
}
