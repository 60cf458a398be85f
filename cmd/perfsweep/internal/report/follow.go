package report

import (
	"fmt"
	"strings"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/sweep"
)

// Following says of run gates that they failed for no cause of their own.
func Following(gates []string) string {
	verb := "follow"
	if len(gates) == 1 {
		verb = "follows"
	}
	return fmt.Sprintf("%s %s from V2, as most requests failed", strings.Join(gates, ", "), verb)
}

// failed says why a run is INVALID, a cause once.
func failed(r sweep.Run) []string {
	causes, following := r.Causes()
	var out []string
	for _, v := range causes {
		out = append(out, fmt.Sprintf("%s %s (limit %s)", v.Gate, v.Observed, v.Threshold))
	}
	if len(following) > 0 {
		out = append(out, Following(following))
	}
	return out
}

// What an unmet run gate comes to.
const (
	followsV2 = "follows from V2"
	leftOut   = "runs left out"
)

// runState is what became of a run gate in a campaign. Unmet, it holds nothing up by
// itself: the runs that fail it are left out, and what that leaves decides.
func runState(g calibrate.GateResult, runs []sweep.Run) string {
	if g.State != calibrate.Unmet {
		return string(g.State)
	}
	own, follows := false, false
	for _, r := range runs {
		for _, v := range r.Violations {
			if v.Gate == g.ID {
				f := r.Follows(v)
				own, follows = own || !f, follows || f
			}
		}
	}
	if follows && !own {
		return followsV2
	}
	return leftOut
}

// campaignState is the state of a gate on the campaign: one without data was not
// judged, and says nothing against it.
func campaignState(g calibrate.GateResult) string {
	if g.Unjudged() {
		return "not judged"
	}
	return string(g.State)
}
