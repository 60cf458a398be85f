package knee

// The rules in which the reference implementation differs from §18.2, for
// proving where a difference from it comes from.

// FindFixedGap cuts at a fixed 15 % instead of T(r, s, df).
func FindFixedGap(runs []Run, opt Options) Fit {
	return find(runs, opt, thresholds{fixedGap, edgeStep})
}

// FindNoStep accepts a latency edge by slope alone.
func FindNoStep(runs []Run, opt Options) Fit {
	return find(runs, opt, thresholds{GapThreshold, 1})
}

// FindAsReference differs from the reference in neither.
func FindAsReference(runs []Run, opt Options) Fit {
	return find(runs, opt, thresholds{fixedGap, 1})
}

func fixedGap(int, float64, int) float64 { return baseGap }

// CleanCuts is the iterated cleaning on levels of throughputs.
func CleanCuts(levels [][]float64) (cuts []int, s float64, df int) {
	return cleanCuts(levels, GapThreshold)
}
