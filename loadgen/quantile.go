package loadgen

import (
	"math"
	"slices"
)

// PercentileDefinition is what a percentile in an Estimate means, to be
// printed with it. AIPerf interpolates linearly instead; with a thousand
// requests the two differ by less than one order statistic.
const PercentileDefinition = "nearest rank: p99 of n samples is the ⌈0.99 n⌉-th smallest (exact samples, no interpolation)"

// rank is the nearest rank of quantile q among n samples, counted from 1.
func rank(q float64, n int) int {
	// q·n of decimal fractions is often an integer plus rounding noise.
	return min(max(int(math.Ceil(q*float64(n)-1e-9)), 1), n)
}

// quantile is the nearest-rank quantile of sorted samples, 0 of none.
func quantile(sorted []int64, q float64) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[rank(q, len(sorted))-1]
}

// binomialRanks are the order statistics of n samples that bracket their
// q-quantile with 95 % confidence, counted from 1; 0 means that n is too small
// to have that end. The count of samples above the quantile is binomial
// (n, 1−q); low and high leave at most 2.5 % on either side of it (David &
// Nagaraja, Order Statistics, §7.1).
func binomialRanks(q float64, n int) (low, high int) {
	if n == 0 {
		return 0, 0
	}
	above := func(p float64) int { return binomialQuantile(p, n, 1-q) }
	if low = n - above(1-0.025); low < 1 {
		low = 0
	}
	if high = n - above(0.025) + 1; high > n {
		high = 0
	}
	return low, high
}

// binomialQuantile is the smallest k with P(Binomial(n, p) ≤ k) ≥ level.
func binomialQuantile(level float64, n int, p float64) int {
	logTerm := float64(n) * math.Log1p(-p) // of P(k = 0)
	sum := math.Exp(logTerm)
	k := 0
	for ; sum < level && k < n; k++ {
		logTerm += math.Log(float64(n-k)/float64(k+1)) + math.Log(p) - math.Log1p(-p)
		sum += math.Exp(logTerm)
	}
	return k
}

// filter says whether a sample counts; the samples themselves are never copied
// to leave some out, for long runs have many.
type filter func(*sample) bool

// sorted returns the values of the samples that pass every filter, in order.
func sorted(samples []sample, value func(*sample) int64, filters ...filter) []int64 {
	out := make([]int64, 0, len(samples))
	for i := range samples {
		if m := &samples[i]; m.passes(filters) {
			out = append(out, value(m))
		}
	}
	slices.Sort(out)
	return out
}

func (s *sample) passes(filters []filter) bool {
	for _, keep := range filters {
		if !keep(s) {
			return false
		}
	}
	return true
}

func mean(values []int64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	return sum / float64(len(values))
}

const nsPerMS = 1e6
