package aiperf

import (
	"math"
	"math/bits"
	"slices"
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
	up := make([]int64, len(g.buckets)) // values in a bucket or below
	sum := int64(0)
	for i, n := range g.buckets {
		sum += int64(n)
		up[i] = sum
	}
	at := func(k int64) float64 {
		i, _ := slices.BinarySearch(up, k+1)
		return min(max(middle(i), g.min), g.max)
	}
	for i, q := range quantiles {
		s.p[i] = interpolate(q, g.n, at)
	}
	return s
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
