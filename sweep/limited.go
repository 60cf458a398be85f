package sweep

import "slices"

// ClientBound reports whether this tool, not the server, was what a campaign ended
// on: at its largest level, or where a point was to be confirmed, at least half of
// the runs failed V8. What the curve looks like says nothing of the server then.
func (c Curve) ClientBound() bool {
	type place struct {
		level   int
		purpose Purpose
	}
	made, bound, largest := map[place]int{}, map[place]int{}, 0
	for _, r := range c.Runs {
		p := place{r.Step.ConcurrencyPerGPU, r.Step.Purpose}
		made[p]++
		if r.clientBound() {
			bound[p]++
		}
		largest = max(largest, p.level)
	}
	for p, n := range bound {
		if 2*n >= made[p] && (p.purpose == Confirm || p.level == largest) {
			return true
		}
	}
	return false
}

// clientBound: this tool was too slow for the run. One that lost a generator, or
// was stopped, failed V8 as well, and a faster machine would not have helped.
func (r Run) clientBound() bool {
	return checkPods(r.Result) == nil && checkSuspended(r.Result) == nil &&
		slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Gate == "V8" })
}

// FirstLook reports whether a campaign is one from which nothing is written
// whatever it finds: quick, and of a real target.
func (c Curve) FirstLook() bool { return c.Fingerprint.Effort == Quick && !c.Fingerprint.Simulated }
