package kneetest

import (
	"math"
	"math/rand/v2"

	"github.com/perfsweep/perfsweep/knee"
)

// Doubling is the coarse grid, 1 to 512 in octaves.
func Doubling() []int { return []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512} }

// HalfOctave is the ladder from 1 to 512.
func HalfOctave() []int {
	return []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512}
}

// TTFT noise of the model: the median is steadier than the tail, and the tail
// jitters near the knee.
const (
	ttftP50CV  = 0.05
	ttftP99CV  = 0.12
	kneeJitter = 2.5
)

// Draw makes one run at n with run-to-run noise cv on throughput.
func (c Curve) Draw(rng *rand.Rand, n int, cv float64) knee.Run {
	x := c.X(float64(n)) * math.Exp(cv*rng.NormFloat64())
	p50, p99 := c.ttft(rng, float64(n))
	return knee.Run{ConcurrencyPerGPU: n, TokPerSecPerGPU: x, TTFTP50MS: p50, TTFTP99MS: p99, ITLMS: 1000 * float64(n) / x}
}

// ttft grows about linearly with prefill contention below the edge and by
// queueing of (n−K)/K residence times past it.
func (c Curve) ttft(rng *rand.Rand, n float64) (p50, p99 float64) {
	edge, scale := math.Inf(1), 200.0
	if c.Edge > 0 {
		edge, scale = c.Edge, c.Edge
	}
	p50 = 60 * (1 + 2*min(n, edge)/scale)
	p99 = 2.2 * p50
	if n > edge {
		const residenceMS = 3000
		wait := (n/edge - 1) * residenceMS * max(1, c.X(edge)/c.X(n))
		p50, p99 = p50+wait, p99+1.5*wait
	}
	cv := ttftP99CV
	if math.Abs(math.Log2(n/edge)) < 0.35 {
		cv *= kneeJitter
	}
	return p50 * math.Exp(ttftP50CV*rng.NormFloat64()), p99 * math.Exp(cv*rng.NormFloat64())
}

// Sweep makes repeats passes over the levels; stall may be nil.
func (c Curve) Sweep(rng *rand.Rand, levels []int, repeats int, cv float64, stall *Stalls) []knee.Run {
	var runs []knee.Run
	for range repeats {
		for _, n := range levels {
			r := c.Draw(rng, n, cv)
			if stall != nil {
				stall.apply(&r)
			}
			runs = append(runs, r)
		}
	}
	return runs
}

// Stalls is a bursty two-state process of stalled runs: throughput falls by
// 30–85 %, TTFT p99 grows 6- to 110-fold.
type Stalls struct {
	rng     *rand.Rand
	share   float64
	stalled bool
	// Count is the number of runs stalled so far.
	Count int
}

// NewStalls stalls the given long-run share of runs.
func NewStalls(rng *rand.Rand, share float64) *Stalls {
	return &Stalls{rng: rng, share: share, stalled: rng.Float64() < share}
}

func (s *Stalls) apply(r *knee.Run) {
	const persist = 0.6
	if s.rng.Float64() > persist {
		s.stalled = s.rng.Float64() < s.share
	}
	if !s.stalled {
		return
	}
	s.Count++
	x, t := uniform(s.rng, 0.15, 0.70), uniform(s.rng, 6, 110)
	if s.rng.Float64() < 0.5 { // the recurring level of a broad slow-down
		x, t = 0.68+0.01*s.rng.NormFloat64(), uniform(s.rng, 6, 10)
	}
	r.TokPerSecPerGPU *= x
	r.TTFTP99MS *= t
	r.TTFTP50MS *= math.Sqrt(t)
}
