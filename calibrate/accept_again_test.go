package calibrate

import (
	"math"
	"testing"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// twoWindows calibrates on a deployment, and again on another one of the same
// law under the same process of stalls.
func (d *deployment) twoWindows(t *testing.T, sb float64) (p Proposal, truth float64) {
	t.Helper()
	first := d.measure(t, confirmed(sweep.Standard))
	for i := range first.Runs {
		first.Runs[i].Deployment = "a"
	}
	other := d.fresh(sb)
	other.stalls = d.stalls
	p = Propose(other.again(t, first, "b"), recipes.Gate{}, Policy{AllowSimulated: true})
	return p, math.Sqrt(d.factor*other.factor) * d.law.X(float64(p.Gate.ConcurrencyPerGPU))
}

// A10 and A17 over two windows on two deployments, where C6 is judged and not
// waived: healthy ones are accepted, and bursts of stalled runs, a two-state
// process, are refused rather than averaged. With ⅓ of the runs stalled knee.md
// §18.4 accepted one campaign of 168 and one of 250. No rule can do better than to
// accept where not one run stalled: of the 28 runs of its three processes that is
// (2/3)³·g²⁵ = .008 with g = .6 + .4·2/3 that a good run follows a good one, and of
// the 31 or more of ours, in one process, (2/3)·g³⁰ = .009. What the rules are
// held to is what they can see.
func TestAcceptWindows(t *testing.T) {
	s := newSuite(t)
	for _, c := range []struct {
		name   string
		sw, sb float64
		stalls float64
	}{
		{"s_w 3 %, s_b 3 %", 0.03, 0.03, 0}, {"s_w 4 %, s_b 3 %", 0.04, 0.03, 0},
		{"1/10 of the runs stalled", 0.04, 0.03, 0.1}, {"⅓ of the runs stalled", 0.04, 0.03, 1.0 / 3}, {"⅔ of the runs stalled", 0.04, 0.03, 2.0 / 3},
	} {
		accepted, degraded, seen := newShares(s), newShares(s), newShares(s)
		for i, seed := range s.Seeds {
			for trial := range len(laws()) * acceptTrials {
				d := draw(seed, trial, c.sw, c.sb)
				if c.stalls > 0 {
					d.stalls = kneetest.NewStalls(d.rng, c.stalls)
				}
				p, truth := d.twoWindows(t, c.sb)
				count(&accepted[i], p.Writable)
				count(&degraded[i], p.Writable && p.TokPerSecPerGPU < 0.9*truth)
				count(&seen[i], p.Writable && d.stalls != nil && d.stalls.Count > 0)
				if c.stalls == 0 && p.Writable && gate(p, "C6").State != Met {
					t.Errorf("seed %d trial %d: C6 is %s", seed, trial, gate(p, "C6").State)
				}
			}
		}
		at := "two windows on two deployments, " + c.name + ": accepted"
		if c.stalls == 0 {
			s.Judge(t, kneetest.Shares("A17", at, kneetest.AtLeast, 0.90, accepted))
			continue
		}
		s.Judge(t, kneetest.Shares("A10", at, kneetest.Stated, 0, accepted))
		bound, most := kneetest.Stated, 0.0
		if c.stalls > 0.1 {
			bound, most = kneetest.AtMost, 0.006
		}
		s.Judge(t, kneetest.Shares("A10", at+" though a run stalled", bound, most, seen))
		s.Judge(t, kneetest.Shares("A10", at+" and > 10 % degraded", kneetest.AtMost, 0.01, degraded))
	}
}
