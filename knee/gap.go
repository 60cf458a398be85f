package knee

import (
	"math"
	"slices"

	"github.com/perfsweep/perfsweep/internal/exact"
)

const (
	// noiseFloor keeps a few lucky repeats from promising less run-to-run
	// noise than any real deployment has shown.
	noiseFloor = 0.015
	// minGapDF is the least degrees of freedom on which a pooled noise may
	// scale the threshold.
	minGapDF = 4
	// maxCleanings bounds the iteration of cutting and re-pooling.
	maxCleanings = 8
)

const (
	baseGap    = 0.16251892949777494 // ln(1/0.85): 15 %, the least gap that counts
	maxGap     = 0.3566749439387324  // ln(1/0.70): 30 %, the smallest stall of public record
	maxPairGap = 0.43078291609245417 // ln(1/0.65): a pair has no third run to vouch for either
	// maxTTFTGap is the step between adjacent TTFT p99 that splits a level.
	maxTTFTGap = 1.0986122886681098 // ln 3
)

// GapThreshold is T(r, s, df) of knee.md §18.2 (F6, C1): a gap of ln X larger
// than this between adjacent sorted runs of a level of r runs is a split. s is
// the pooled within-level noise on df degrees of freedom.
func GapThreshold(r int, s float64, df int) float64 {
	if df < minGapDF || r < 2 || math.IsNaN(s) {
		return baseGap
	}
	top := maxGap
	if r == 2 {
		top = maxPairGap
	}
	c := gapFactor(r) * (1 + 4/float64(df)) * max(s, noiseFloor)
	return min(top, max(baseGap, c))
}

// gapFactor is c(r), the studentized largest gap of r healthy runs.
func gapFactor(r int) float64 {
	factors := [...]float64{5.0, 4.3, 3.9, 3.7, 3.5, 3.4}
	if i := r - 2; i >= 0 && i < len(factors) {
		return factors[i]
	}
	return 3.3
}

// MaxGap returns the largest gap between adjacent sorted values of ln v.
// Values that are not positive and finite are no measurements and are ignored.
func MaxGap(v []float64) float64 {
	logs := make([]float64, 0, len(v))
	for _, x := range v {
		if x > 0 && !math.IsInf(x, 1) {
			logs = append(logs, exact.Log(x))
		}
	}
	slices.Sort(logs)
	g := 0.0
	for i := 1; i < len(logs); i++ {
		g = max(g, logs[i]-logs[i-1])
	}
	return g
}

// highestCut returns the index of the first kept value of sorted logs: the cut
// is at the highest gap above t (F4), because two stalled runs can differ more
// from each other than from the healthy one.
func highestCut(logs []float64, t float64) int {
	for i := len(logs) - 1; i > 0; i-- {
		if logs[i]-logs[i-1] > t {
			return i
		}
	}
	return 0
}

// gapRule gives the threshold of a level of r runs.
type gapRule func(r int, s float64, df int) float64

// cleanCuts cuts every level (sorted ln X) at its highest gap and pools what
// was kept, until the cuts stay. It returns the first kept index of each level
// and the pooled noise of the kept runs around their level's mean.
func cleanCuts(levels [][]float64, rule gapRule) (cuts []int, s float64, df int) {
	for range maxCleanings {
		next := make([]int, len(levels))
		for i, logs := range levels {
			next[i] = highestCut(logs, rule(len(logs), s, df))
		}
		if cuts != nil && slices.Equal(cuts, next) {
			break
		}
		cuts = next
		var ss float64
		df = 0
		for i, logs := range levels {
			kept := logs[cuts[i]:]
			df += len(kept) - 1
			ss += sumSquares(kept, mean(kept))
		}
		s = 0
		if df > 0 {
			s = math.Sqrt(ss / float64(df))
		}
	}
	return cuts, s, df
}

func mean(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func sumSquares(v []float64, center float64) float64 {
	var ss float64
	for _, x := range v {
		ss += float64((x - center) * (x - center))
	}
	return ss
}

// median of sorted values; halving first keeps huge values finite.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	if n%2 == 1 {
		return sorted[n/2]
	}
	return float64(sorted[n/2-1]/2) + float64(sorted[n/2]/2)
}
