package compare

import (
	"fmt"
	"slices"

	"github.com/perfsweep/perfsweep/sweep"
)

func goodByLevel(runs []sweep.GoodRun) map[int][]sweep.GoodRun {
	out := map[int][]sweep.GoodRun{}
	for _, r := range runs {
		out[r.ConcurrencyPerGPU] = append(out[r.ConcurrencyPerGPU], r)
	}
	return out
}

// counted reports whether any run counted goodput.
func counted(runs []sweep.GoodRun) bool {
	return slices.ContainsFunc(runs, func(r sweep.GoodRun) bool { return r.TokPerSecPerGPU > 0 })
}

// served reports whether any run had a good request. A level where neither side
// had one says nothing of which is better; where one side had, the other's lack
// of them is the answer.
func served(runs []sweep.GoodRun) bool {
	return slices.ContainsFunc(runs, func(r sweep.GoodRun) bool { return r.TokPerSecPerGPU > 0 && !r.None })
}

func goodStratum(a, b []sweep.GoodRun) (s Stratum) {
	if !served(a) && !served(b) {
		return s
	}
	for _, r := range a {
		s.A = appendKnown(s.A, r.TokPerSecPerGPU)
	}
	for _, r := range b {
		s.B = appendKnown(s.B, r.TokPerSecPerGPU)
	}
	return s
}

// goodPairs are the pairs of a level whose runs are as many; Paired leaves out
// those that one side did not count.
func goodPairs(a, b []sweep.GoodRun) (out []Pair) {
	if !served(a) && !served(b) {
		return nil
	}
	for i := range min(len(a), len(b)) {
		out = append(out, Pair{a[i].TokPerSecPerGPU, b[i].TokPerSecPerGPU})
	}
	return out
}

// compareSLO holds the crossings against each other where both are located: an
// end of the levels is no crossing.
func (r *Report) compareSLO(a, b sweep.SLO) {
	if a.State != sweep.SLOCrossed || b.State != sweep.SLOCrossed || !(a.Low > 0) || !(b.Low > 0) {
		return
	}
	r.SLORatio = b.ConcurrencyPerGPU / a.ConcurrencyPerGPU
	r.SLOLow, r.SLOHigh = b.Low/a.High, b.High/a.Low
	r.SLOLowOpen, r.SLOHighOpen = b.LowOpen || a.HighOpen, b.HighOpen || a.LowOpen
}

// remarkObjective says why goodput is not compared, and where it is a bound.
func (r *Report) remarkObjective(a, b Side) {
	if a.SLO.State == "" && b.SLO.State == "" {
		return
	}
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	for i, s := range []Side{a, b} {
		name := 'A' + i
		if !counted(s.Good) {
			warn("%c counted no goodput by this objective while it was measured, so goodput is not compared", name)
			continue
		}
		var none []int
		for _, g := range s.Good {
			if g.None && !slices.Contains(none, g.ConcurrencyPerGPU) && (served(at(a.Good, g.ConcurrencyPerGPU)) || served(at(b.Good, g.ConcurrencyPerGPU))) {
				none = append(none, g.ConcurrencyPerGPU)
			}
		}
		slices.Sort(none)
		if len(none) > 0 && r.Goodput != nil {
			warn("%c has runs without a good request at %v per GPU: each counts as half a good request", name, none)
		}
	}
}

func at(runs []sweep.GoodRun, n int) []sweep.GoodRun { return goodByLevel(runs)[n] }
