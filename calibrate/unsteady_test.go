package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// unsteadyCampaigns are calibrations in environments that stall: runs as a whole,
// or in spells of seconds or minutes that runs fall into, one law after the other.
func unsteadyCampaigns() []*deployment {
	var out []*deployment
	for i, f := range laws()[:4] {
		for kind := range 3 {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(500+kind)))
			d := &deployment{law: kneetest.New(f, rng), rng: rng, cv: 0.04, factor: math.Exp(0.03 * rng.NormFloat64())}
			switch kind {
			case 0:
				d.stalls = kneetest.NewStalls(rng, 1.0/3)
			case 1:
				d.spells = newSpells(rng, 40*time.Second, 10*time.Second)
			case 2:
				d.spells = newSpells(rng, 40*time.Minute, 10*time.Minute)
			}
			out = append(out, d)
		}
	}
	return out
}

// The planner ends a campaign as unstable only where the verdict on what there
// is refuses it, and on what a healthy environment would have added as well: the
// early end and the whole campaign come to the same.
func TestPlannerAndVerdictAgree(t *testing.T) {
	ended := map[string]int{}
	for i, d := range unsteadyCampaigns() {
		c := d.measure(t, confirmed(sweep.Standard))
		end := sweep.NextStep(c.Plan, c.Runs)
		p := Propose(c, recipes.Gate{}, Policy{AllowSimulated: true})
		if p.Writable && !end.Point.Healthy {
			t.Errorf("campaign %d: %s though the planner said %q", i, p.Outcome, end.Reason)
		}
		how := ""
		for _, s := range []string{"(V6)", "of two kinds", "stalled"} {
			if strings.HasPrefix(end.Reason, "unstable: ") && strings.Contains(end.Reason, s) {
				how = s
			}
		}
		if how == "" {
			continue
		}
		ended[how]++
		d.stalls, d.spells = nil, nil
		whole := c
		for _, r := range d.measure(t, confirmed(sweep.Standard)).Runs {
			r.Seq = len(whole.Runs) + 1
			whole.Runs = append(slices.Clip(whole.Runs), r)
		}
		for name, c := range map[string]sweep.Curve{"as it ended": c, "gone on with": whole} {
			if p := Propose(c, recipes.Gate{}, Policy{AllowSimulated: true}); p.Outcome != OutcomeUnstable || p.Writable {
				t.Errorf("campaign %d, %s: %s %q, the planner said %q", i, name, p.Outcome, p.Reasons[0], end.Reason)
			}
		}
	}
	if ended["(V6)"] == 0 || ended["of two kinds"] == 0 {
		t.Errorf("campaigns were ended for %s", fmt.Sprint(ended))
	}
}
