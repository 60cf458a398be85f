package calibrate

import (
	"math"
	"slices"
	"time"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/sweep"
)

// Change points are looked for in the latest checks only, or an old change that
// everybody knows would hide a new one, and not before there are enough of them
// for the approximation of p. The level is strict because every new check looks
// again (knee.md §11; Fleming et al., ICPE 2023, use the same level and window).
const (
	changeFewest = 30
	changeMost   = 50
	changeLevel  = 0.001
)

// ChangePoint is the one place where a series most probably changed its level.
type ChangePoint struct {
	// Time is of the first check after the change.
	Time time.Time `json:"time"`
	// Ratio is the Hodges–Lehmann estimate of after over before.
	Ratio float64 `json:"ratio"`
	P     float64 `json:"p"`
}

// changeOf is the change of a metric, nil where there is none at the level, or
// none that matters.
func changeOf(series []HistoryPoint, matters float64, of func(HistoryPoint) float64) *ChangePoint {
	series = series[max(0, len(series)-changeMost):]
	if len(series) < changeFewest {
		return nil
	}
	values := make([]float64, len(series))
	for i, p := range series {
		values[i] = exact.Log(of(p))
	}
	at, p := pettitt(values)
	if p > changeLevel {
		return nil
	}
	shift := sweep.Median(sweep.Differences(values[at:], values[:at]))
	if math.Abs(shift) < exact.Log1p(matters) {
		return nil
	}
	return &ChangePoint{Time: series[at].Time, Ratio: exact.Exp(shift), P: p}
}

// pettitt finds the most probable change of level in a series: the index of the
// first value after it, and an approximate p of its being one (A. N. Pettitt,
// "A non-parametric approach to the change-point problem", Applied Statistics
// 28(2), 1979: the largest Mann–Whitney statistic over all splits). Ties count
// half.
func pettitt(v []float64) (at int, p float64) {
	n := len(v)
	if n < 2 {
		return 0, 1
	}
	sorted := slices.Sorted(slices.Values(v))
	u, largest := 0.0, -1.0
	for i, x := range v[:n-1] {
		below, _ := slices.BinarySearch(sorted, x)
		upTo := below
		for upTo < n && sorted[upTo] == x {
			upTo++
		}
		u += float64(below + upTo - n) // twice the mid-rank, less n + 1
		if math.Abs(u) > largest {
			at, largest = i+1, math.Abs(u)
		}
	}
	m := float64(n)
	return at, min(1, 2*exact.Exp(-6*largest*largest/(float64(m*m*m)+float64(m*m))))
}
