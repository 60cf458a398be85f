package sweep

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// What an environment shows that is not steady. Three stalls within 29 runs in
// a row are more than a tenth of them: a burst, and not the few that a long
// campaign may put down to chance. Runs of one load are of two kinds where
// throughput differs by the smallest stall of public record (30 %) and half of
// the requests wait twice as long: noise does the one or the other.
const (
	burstStalls  = 3
	burstStretch = 29
	stallDepth   = 0.70
	twiceAsLong  = 2.0
)

// Unsteady says why the environment of a campaign is not steady, "" if nothing
// shows it. Only levels at which overload is no excuse are looked at: those up to
// upTo, which the caller knows to be no overload (0 = none); those of a
// confirmation and below; and those that a higher level shows to be bearable.
//
// The first runs that show it decide: no later run takes the word back, so that
// a campaign may end there.
func Unsteady(runs []Run, upTo int) string { return unsteady(runs, upTo, 1) }

// unsteady wants some number of levels to be of two kinds.
func unsteady(runs []Run, upTo, levels int) string {
	s := steadiness{upTo: upTo, levels: levels, view: newView()}
	for _, r := range runs {
		if why := s.add(r); why != "" {
			return "unstable: " + why
		}
	}
	return ""
}

// steadiness is what the runs so far say of their environment.
type steadiness struct {
	upTo, levels int
	window       int
	view         *view // of the window: another one may be on another deployment
	seen         []stand
}

type stand struct {
	n     int
	still bool
}

func (s *steadiness) add(r Run) string {
	n := r.Step.ConcurrencyPerGPU
	if r.window() != s.window {
		s.window, s.view = r.window(), newView()
	}
	if r.Step.Purpose == Confirm {
		s.upTo = max(s.upTo, n)
	}
	if r.Step.Purpose == Pulse { // bears on the checks to come alone
		return ""
	}
	s.seen = append(s.seen, stand{n, r.stoodStill()})
	s.view.add(r)
	if why := s.burst(); why != "" {
		return why
	}
	return s.twoKinds()
}

// stoodStill: the server stalled, and not this tool, which stops reading when it
// is late itself.
func (r Run) stoodStill() bool {
	return r.stalled() && !slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Gate == "V8" })
}

// burst looks for stalls that lie close together, among the runs up to each of
// the levels: a campaign spends half of its runs above the point.
func (s *steadiness) burst() string {
	rising := s.view.saturation() - 1
	for _, top := range s.stalledLevels() {
		if top > s.upTo && top > rising {
			break
		}
		var at []int // the stalls, by their place among the runs
		place := 0
		for _, q := range s.seen {
			if q.n > top {
				continue
			}
			if place++; !q.still {
				continue
			}
			at = append(at, place)
			if k := len(at) - burstStalls; k >= 0 && place-at[k] < burstStretch {
				return fmt.Sprintf("%d of %s in a row up to %d per GPU stood still for a while (V6): the environment is bursty", burstStalls, plural.Of(place-at[k]+1, "run"), top)
			}
		}
	}
	return ""
}

// stalledLevels are the levels at which a run stood still, ascending: between
// two of them a burst looks the same.
func (s *steadiness) stalledLevels() []int {
	var out []int
	for _, q := range s.seen {
		if q.still && !slices.Contains(out, q.n) {
			out = append(out, q.n)
		}
	}
	slices.Sort(out)
	return out
}

// saturation is the lowest level that reaches what the best one does, but for
// noise, 0 if there is none: every level below it has room.
func (v *view) saturation() int {
	best := v.x(v.best())
	for _, n := range v.levels() {
		if v.x(n) >= (1-plateauTol)*best {
			return n
		}
	}
	return 0
}

// twoKinds looks for levels whose runs are not of one environment.
func (s *steadiness) twoKinds() string {
	found := 0
	for _, n := range s.view.levels() {
		rates, waits, two := s.view.kinds(n)
		if !two || n > s.upTo && !s.view.borneAbove(n) {
			continue
		}
		if found++; found == s.levels {
			return fmt.Sprintf("runs at %d per GPU are of two kinds, ×%.2f apart in throughput and ×%.1f in TTFT p50: the environment is bursty", n, rates, waits)
		}
	}
	return ""
}

// kinds is how far the valid runs of a level lie apart, and whether that makes
// two kinds of them. A further run never makes it less.
func (v *view) kinds(n int) (rates, waits float64, two bool) {
	rates, waits = apart(v.xs(n)), apart(v.waits(n))
	return rates, waits, rates > 1/stallDepth && waits > twiceAsLong
}

// borneAbove: a higher level gives at least as much, in every run. Load is then
// no reason for what happens at n.
func (v *view) borneAbove(n int) bool {
	const enough = 2
	most := slices.Max(v.xs(n))
	for _, m := range v.levels() {
		if m <= n || len(v.valid[m]) < enough || v.x(m) < (1-plateauTol)*most {
			continue
		}
		_, _, two := v.kinds(m)
		if !two && !slices.ContainsFunc(v.invalid[m], Run.stalled) {
			return true
		}
	}
	return false
}

// TailsApart reports whether runs of one load are so far apart in both their
// TTFT p99 and p50 that a calibration refuses them (C2), whatever others follow.
func TailsApart(p99, p50 []float64) bool { return apart(p99) > twiceAsLong && apart(p50) > twiceAsLong }

// apart is the ratio of the largest of some values to the smallest, 0 of none.
func apart(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	if low := slices.Min(v); low > 0 {
		return slices.Max(v) / low
	}
	return math.Inf(1)
}
