package compare

import (
	"math"
	"slices"

	"github.com/perfsweep/perfsweep/sweep"
)

// Stratum holds the values of one metric at one level, one a run, all greater
// than 0.
type Stratum struct{ A, B []float64 }

// Shift is by what B differs from A.
type Shift struct {
	RunsA, RunsB int
	// Ratio is B/A, 0 where a side has no run. Low and High are its interval at
	// a confidence of at least the one asked for, which Confidence is; all three
	// are 0 where so few runs have no such interval.
	Ratio, Low, High, Confidence float64
	// P is the exact two-sided p value, 1 where there is nothing to compare.
	P float64
	// Spread is the standard deviation of ln between runs of one side at one
	// level, pooled, on SpreadDF degrees of freedom.
	Spread   float64
	SpreadDF int
	// fewest is the smallest number of runs of a side in any stratum, strata how
	// many there are; paired says that the runs are compared pair by pair.
	fewest, strata int
	paired         bool
}

// HasInterval reports whether the runs suffice for an interval.
func (s Shift) HasInterval() bool { return s.Confidence > 0 }

// Between compares the strata at a confidence such as 0.95. A stratum without
// runs on one side says nothing and is left out, as are runs beyond MaxRuns.
func Between(strata []Stratum, confidence float64) Shift {
	s := Shift{P: 1}
	var diffs []float64
	tied, plain, at := []float64{1}, []float64{1}, 0
	ss := 0.0
	for _, st := range strata {
		a, b := logs(st.A), logs(st.B)
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		if s.strata++; s.strata == 1 {
			s.fewest = len(a)
		}
		s.fewest = min(s.fewest, len(a), len(b))
		s.RunsA, s.RunsB = s.RunsA+len(a), s.RunsB+len(b)
		diffs = append(diffs, sweep.Differences(b, a)...)
		ranks := ranks2(append(slices.Clone(a), b...))
		for _, r := range ranks[len(a):] {
			at += r
		}
		at -= len(b) * (len(b) + 1)
		tied = convolve(tied, null(ranks, len(b)))
		plain = convolve(plain, untied(len(a), len(b)))
		ss += squares(a) + squares(b)
		s.SpreadDF += len(a) + len(b) - 2
	}
	if s.strata == 0 {
		return s
	}
	slices.Sort(diffs)
	s.Ratio = math.Exp(sweep.Median(diffs))
	lower, upper := tails(tied, at)
	s.P = min(1, 2*min(lower, upper))
	if s.SpreadDF > 0 {
		s.Spread = math.Sqrt(ss / float64(s.SpreadDF))
	}
	if k, conf := depth(plain, confidence); k > 0 {
		s.Low, s.High, s.Confidence = math.Exp(diffs[k-1]), math.Exp(diffs[len(diffs)-k]), conf
	}
	return s
}

// depth is how many of the smallest differences lie below an interval of at
// least this confidence, 0 if there is none; conf is what it attains. plain is
// of twice the statistic, so its odd places are empty.
func depth(plain []float64, confidence float64) (k int, conf float64) {
	tail := (1 - confidence) / 2
	below := 0.0
	for u := 0; u < len(plain); u += 2 {
		// A tail of exactly the one asked for counts, whatever its last bit.
		if below += plain[u]; below > tail*(1+1e-12) || 2*(k+1) > len(plain)/2+1 {
			break
		}
		k, conf = k+1, 1-2*below
	}
	return k, conf
}

// The values that can be measured, generously: the ratio of two of them is a
// number, and neither 0 nor infinite.
const leastValue, mostValue = 1e-100, 1e100

// logs are the logarithms of the first MaxRuns values that are no absurdity.
func logs(values []float64) []float64 {
	var out []float64
	for _, v := range values {
		if v >= leastValue && v <= mostValue && len(out) < MaxRuns {
			out = append(out, math.Log(v))
		}
	}
	return out
}

// squares is the sum of squares about the mean.
func squares(v []float64) float64 {
	mean := 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	ss := 0.0
	for _, x := range v {
		ss += (x - mean) * (x - mean)
	}
	return ss
}
