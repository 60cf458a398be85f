package calibrate

import (
	"slices"

	"github.com/perfsweep/perfsweep/knee"
)

// noise is the pooled within-level sd of ln X of a sweep on df degrees of
// freedom; the zero value stands for unknown, and means the 15 % rule.
type noise struct {
	s  float64
	df int
}

// splitGap applies C1: the largest gap of ln X between neighbouring sorted
// runs, the threshold for this many runs, and whether it is exceeded. It is
// the gap and not max/min, because a healthy window of public record reached a
// max/min of 1.168 without any gap above 5 %.
func splitGap(x []float64, n noise) (gap, threshold float64, split bool) {
	gap, threshold = knee.MaxGap(x), knee.GapThreshold(len(x), n.s, n.df)
	return gap, threshold, !(gap <= threshold)
}

// ttftGap is the largest allowed gap of ln TTFT p99 between runs: ln 3.
const ttftGap = 1.0986122886681098

// tailRatio is the max/min of TTFT p99 that needs a second witness, and of TTFT
// p50 that is one.
const tailRatio = 2

// tailApart applies C2 to the runs' TTFT p99 and p50. Tails alone may spread by
// a factor of two, because the p99 of healthy runs has a CV of 12–30 %; more
// than that needs a second witness: the medians, or throughput (split).
func tailApart(p99, p50 []float64, split bool) bool {
	if knee.MaxGap(p99) > ttftGap {
		return true
	}
	return ratio(p99) > tailRatio && (ratio(p50) > tailRatio || split)
}

// ratio is max/min.
func ratio(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return slices.Max(v) / slices.Min(v)
}
