package aiperf

import (
	"math"
	"math/bits"
	"time"
)

const (
	// A bucket is 2⁻¹⁰ of its value wide; below 1024 ns every value has its own.
	subBits    = 10
	subBuckets = 1 << subBits
	// Times from 2⁴² ns, over an hour, on share the last bucket.
	topBits = 42
)

// gaps hold the times between chunks, of which a run has more than it can keep:
// count, sum, extremes and deviation are exact, percentiles to 0.1 %.
type gaps struct {
	moments
	min, max float64 // ms
	buckets  []uint32
}

func newGaps() *gaps {
	return &gaps{min: math.Inf(1), max: math.Inf(-1), buckets: make([]uint32, (topBits-subBits+1)*subBuckets)}
}

// add takes the gaps between the chunks of one answer.
func (g *gaps) add(chunks []time.Duration) {
	for i := 1; i < len(chunks); i++ {
		d := max(chunks[i]-chunks[i-1], 0)
		ms := milliseconds(d)
		g.moments.add(ms)
		g.min, g.max = min(g.min, ms), max(g.max, ms)
		g.buckets[bucket(d)]++
	}
}

// bucket numbers the values by their leading bits.
func bucket(d time.Duration) int {
	v := min(uint64(d), 1<<topBits-1)
	shift := max(bits.Len64(v)-subBits-1, 0)
	return shift*subBuckets + int(v>>shift)
}

// middle is the value of a bucket, in ms.
func middle(i int) float64 {
	if i < 2*subBuckets {
		return float64(i) / 1e6
	}
	shift := i/subBuckets - 1
	return (float64(i-shift*subBuckets) + .5) * float64(uint64(1)<<shift) / 1e6
}

func (g *gaps) stats() stats {
	s := stats{count: g.n, sum: g.sum, min: g.min, max: g.max}
	if g.n == 0 {
		return s
	}
	s.std = g.std()
	// The ranks that the quantiles need, in one walk: they ascend.
	i, below := -1, int64(0)
	at := func(k int64) float64 {
		for below <= k {
			i++
			below += int64(g.buckets[i])
		}
		return min(max(middle(i), g.min), g.max)
	}
	for q := range quantiles {
		last := -1.
		s.p[q] = interpolate(quantiles[q], g.n, func(k int64) float64 { last = max(last, at(k)); return last })
	}
	return s
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
