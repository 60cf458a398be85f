package knee

import (
	"math"
	"slices"
)

// The rules in which the reference implementation differs, for
// proving where a difference from it comes from.

// FindFixedGap cuts at a fixed 15 % instead of T(r, s, df).
func FindFixedGap(runs []Run, opt Options) Fit {
	return find(runs, opt, thresholds{fixedGap, edgeStep, true})
}

// FindNoStep accepts a latency edge by slope alone.
func FindNoStep(runs []Run, opt Options) Fit {
	return find(runs, opt, thresholds{GapThreshold, 1, true})
}

// FindTen lets no challenger in.
func FindTen(runs []Run, opt Options) Fit {
	return find(runs, opt, thresholds{GapThreshold, edgeStep, true})
}

// FindAsReference differs from the reference in none of them.
func FindAsReference(runs []Run, opt Options) Fit {
	return find(runs, opt, thresholds{fixedGap, 1, true})
}

// FindStep accepts a latency edge from a step of the given size on.
func FindStep(runs []Run, opt Options, step float64) Fit {
	return find(runs, opt, thresholds{GapThreshold, step, false})
}

func fixedGap(int, float64, int) float64 { return baseGap }

// CleanCuts is the iterated cleaning on levels of throughputs.
func CleanCuts(levels [][]float64) (cuts []int, s float64, df int) {
	return cleanCuts(levels, GapThreshold)
}

// Ridge is the range in which the last corner of the winner fits equally well;
// 0, 0 where the winner has none.
func Ridge(runs []Run) (lo, hi float64) {
	levels, _ := groupLevels(runs)
	cleanLevels(levels, GapThreshold)
	fitted := dropValleys(trimCollapse(levels))
	var y []float64
	for _, l := range fitted {
		y = append(y, l.y)
	}
	g := newGrid(fitted)
	family, p := g.best(y, poolOf(fitted).ss, g.newDots())
	m := g.model(family, p)
	if corner, a, b := g.ridge(&m, y); corner != nil {
		return math.Exp(a), math.Exp(b)
	}
	return 0, 0
}

// Splits reports whether cleaning splits a level or finds a valley, as the
// levels of Find tell it, without the fit.
func Splits(runs []Run) bool {
	levels, _ := groupLevels(runs)
	cleanLevels(levels, GapThreshold)
	dropValleys(trimCollapse(levels))
	return slices.ContainsFunc(levels, func(l *level) bool { return l.report().Split() })
}
