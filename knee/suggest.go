package knee

import (
	"math"

	"github.com/perfsweep/perfsweep/internal/exact"
)

// fineRatio is how close neighbours of a knee must be: the half-octave ladder.
const fineRatio = 1.5

// suggest lists concurrencies worth measuring next, most useful first.
func suggest(levels []*level, j *judged, a answer) []float64 {
	if len(levels) == 0 {
		return nil
	}
	first, last := float64(levels[0].n), float64(levels[len(levels)-1].n)
	switch {
	case a.status == Insufficient:
		return below([]float64{2 * last}, first/2, first/4)
	case a.status == NotSaturated:
		return []float64{2 * last, 4 * last}
	case a.status == SaturatedAtMin:
		return below(nil, first/2, first/4)
	}
	return j.aroundKnee(a)
}

// below appends the concurrencies that can be run.
func below(s []float64, candidates ...float64) []float64 {
	for _, n := range candidates {
		if n >= 1 {
			s = append(s, n)
		}
	}
	return s
}

// aroundKnee splits the steps next to the knee that are wider than the ladder.
func (j *judged) aroundKnee(a answer) []float64 {
	at := 0
	for i, l := range j.fitted {
		if float64(l.n) <= a.knee*1.001 {
			at = i
		}
	}
	var s []float64
	split := func(i int) {
		if i >= 0 && i < j.last() && j.n(i+1)/j.n(i) > fineRatio {
			s = append(s, math.Sqrt(j.n(i)*j.n(i+1)))
		}
	}
	split(at)
	if a.status == Ambiguous || a.knee/j.n(at) < 1.15 {
		split(at - 1)
	}
	return s
}

// saturationBound is N* = X_max/(X(n1)/n1), where the asymptotes of the
// operational laws cross (Denning & Buzen 1978).
func saturationBound(levels []*level) float64 {
	if len(levels) == 0 {
		return 0
	}
	top := levels[0].y
	for _, l := range levels {
		top = max(top, l.y)
	}
	return float64(levels[0].n) * exact.Exp(top-levels[0].y)
}

// lastElasticity is the log-log slope over the last octave, or over the last
// two levels where they are further apart.
func lastElasticity(levels []*level) float64 {
	if len(levels) < 2 {
		return 0
	}
	var xs, ys []float64
	last := float64(levels[len(levels)-1].n)
	for i, l := range levels {
		if float64(l.n) >= last/2*0.99 || i == len(levels)-2 {
			xs, ys = append(xs, exact.Log(float64(l.n))), append(ys, l.y)
		}
	}
	return lineSlope(xs, ys)
}
