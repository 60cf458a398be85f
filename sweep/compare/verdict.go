package compare

import (
	"math"
)

// Verdict is the one answer of a comparison.
type Verdict string

// The verdicts. A change counts as one if it cannot be chance and is as large
// as what matters; "same" needs an interval that excludes any such change.
const (
	Better     Verdict = "better"
	Worse      Verdict = "worse"
	Same       Verdict = "same"
	CannotTell Verdict = "cannot_tell"
	Absent     Verdict = "absent" // not measured on one of the sides
)

// judge turns a shift into a verdict. p is its p value after correction for
// the number of tests, matters the smallest part of A by which a change
// matters, such as 0.03.
func judge(s Shift, p, confidence, matters float64, moreIsBetter bool) Verdict {
	limit := math.Log1p(matters)
	change := math.Log(s.Ratio)
	switch {
	case s.Ratio == 0:
		return Absent
	case p <= 1-confidence+1e-12 && math.Abs(change) >= limit:
		if change > 0 == moreIsBetter {
			return Better
		}
		return Worse
	case s.HasInterval() && math.Log(s.Low) > -limit && math.Log(s.High) < limit:
		return Same
	}
	return CannotTell
}

// efficiency is that of the rank test beside the t test under normal noise.
const efficiency = 3 / math.Pi

// power is the chance to see a change of just the size that matters for which
// runs are planned.
const power = 0.8

// moreRuns is how many more runs a side each level needs to tell a change of
// the size that matters from none. known is false where no level was repeated
// and the spread is a guess that nobody made: then it is the least that can
// have an interval at all, two at least.
func moreRuns(s Shift, confidence, matters float64) (n int, known bool) {
	least := 1
	for least < MaxRuns && math.Exp(float64(s.strata)*s.logExtreme(least)) > (1-confidence)/2 {
		least++
	}
	if s.SpreadDF == 0 {
		return max(least, 2) - s.fewest, false
	}
	z := quantile(1-(1-confidence)/2) + quantile(power)
	limit := math.Log1p(matters)
	a := 2 * z * z * s.Spread * s.Spread / (limit * limit * efficiency * float64(max(s.strata, 1)))
	want := max(least, int(math.Ceil(min(a, 1e6))))
	if want <= s.fewest {
		return s.fewest, true // the change is near what matters: as many again
	}
	return want - s.fewest, true
}

// logExtreme is ln of the chance that n runs of one side all come before n of
// the other, or that n pairs all have one sign.
func (s Shift) logExtreme(n int) float64 {
	if s.paired {
		return -float64(n) * math.Ln2
	}
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(2*n + 1))
	return 2*a - b
}

// quantile is that of the standard normal distribution.
func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// holm corrects p values for their number, in place of each.
func holm(p []float64) []float64 {
	out := make([]float64, len(p))
	done := make([]bool, len(p))
	last := 0.0
	for left := len(p); left > 0; left-- {
		at := -1
		for i := range p {
			if !done[i] && (at < 0 || p[i] < p[at]) {
				at = i
			}
		}
		last = max(last, min(1, float64(left)*p[at]))
		out[at], done[at] = last, true
	}
	return out
}
