package aiperf

import (
	"math"
	"slices"
)

// quantiles are the percentiles that AIPerf reports.
var quantiles = [...]float64{.01, .05, .10, .25, .50, .75, .90, .95, .99}

// PercentileDefinition is what a percentile in these files means.
const PercentileDefinition = "linear interpolation between order statistics: the value at position p·(n−1) of the sorted samples (numpy's default); std is that of the population"

// stats describe the values of one metric.
type stats struct {
	count              int64
	sum, min, max, std float64
	p                  [len(quantiles)]float64
}

func (s *stats) avg() float64 { return s.sum / float64(s.count) }

// describe sorts values and describes them.
func describe(values []float64) stats {
	n := len(values)
	s := stats{count: int64(n)}
	if n == 0 {
		return s
	}
	slices.Sort(values)
	s.min, s.max = values[0], values[n-1]
	var m moments
	for _, v := range values {
		m.add(v)
	}
	s.sum, s.std = m.sum, m.std()
	for i, q := range quantiles {
		s.p[i] = interpolate(q, int64(n), func(k int64) float64 { return values[k] })
	}
	return s
}

// interpolate is the q-quantile of n samples, of which at gives the k-th
// smallest, counted from 0.
func interpolate(q float64, n int64, at func(int64) float64) float64 {
	position := q * float64(n-1)
	k := min(int64(position), n-1)
	low := at(k)
	return low + (position-float64(k))*(at(min(k+1, n-1))-low)
}

// moments gather sums of one pass: the squares about a running mean, as the
// difference of two large sums would lose the small variance of long answers
// (Welford 1962).
type moments struct {
	n             int64
	sum, mean, m2 float64
}

func (m *moments) add(v float64) {
	m.n++
	m.sum += v
	d := v - m.mean
	m.mean += d / float64(m.n)
	m.m2 += d * (v - m.mean)
}

func (m *moments) std() float64 { return math.Sqrt(m.m2 / float64(m.n)) }
