package sweep

import "github.com/perfsweep/perfsweep/knee/kneetest"

// addSearch counts what became of the parts of a search: whether a plateau
// stopped it though the knee lies higher, whether enough levels lie below a
// stop, and whether the neighbours of the knee that it found are close.
func (o *outcome) addSearch(s stop, truth, found float64, runs []Run) {
	if s.kind == stopPlateau {
		o.plateau++
		if float64(s.n) <= truth {
			o.falsePlateau++
		}
	}
	v := viewOf(runs)
	if s.kind != stopNone {
		o.stopped++
		if shallow(s, runs) {
			o.shallow++
		}
	}
	if low, high := around(v, found); found > 0 && high > 0 && float64(high) > closeEnough*float64(low) {
		o.wide++
	}
}

// shallow: fewer than five levels were measured below an early stop, or up to
// a plateau, though lower ones were left.
func shallow(s stop, runs []Run) bool {
	below, lowest := map[int]bool{}, s.n
	for _, r := range runs {
		n := r.Step.ConcurrencyPerGPU
		lowest = min(lowest, n)
		if r.Valid() && (n < s.n || n == s.n && s.kind == stopPlateau) && (r.Step.Purpose == Coarse || r.Step.Purpose == Extend) {
			below[n] = true
		}
	}
	return len(below) < levelsBelowStop && lowest > minLevel
}

// around are the measured levels on both sides of k, 0 where there is none.
func around(v *view, k float64) (low, high int) {
	for _, n := range v.levels() {
		if float64(n) <= k {
			low = n
		} else if high == 0 {
			high = n
		}
	}
	return max(low, minLevel), high
}

func plateaus(o outcome) kneetest.Share     { return o.share(o.plateau) }
func shallowStops(o outcome) kneetest.Share { return kneetest.Share{Of: o.shallow, All: o.stopped} }
func closeKnees(o outcome) kneetest.Share {
	return kneetest.Share{Of: o.knees - o.wide, All: o.knees}
}

// search claims that a search extends downwards after a stop, and refines the
// knee as far as the ladder allows.
func (s suite) search(who string, seeds []outcome) {
	s.t.Helper()
	s.shares("A7", who+", stopped with fewer than five levels below", kneetest.AtMost, 0, seeds, shallowStops)
	s.shares("A7", who+", levels around the knee ≤ 1.5× apart", kneetest.AtLeast, 0.95, seeds, closeKnees)
}
