package calibrate

import (
	"fmt"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
)

// A check has three valid attempts of at most five (knee.md §17). Where the
// endpoint stood still before any load, attempts go on until they have lasted for
// the plan's MinWatch, and there may be any number of them. What may be INVALID
// stays two (checkInvalid): more attempts are more chances to see what is wrong
// with an environment, and no reason to overlook it.

// unwatched says that attempts which were to watch for a recurring stall ended
// before they had, "" if they did not. What the preflight saw decides, and not
// only the plan: a journal whose plan lacks the watch has not watched. The sum may be short by what rounding took
// from the dates.
func unwatched(c sweep.Curve, a attempts) string {
	want := max(c.Plan.MinWatch, sweep.StallWatch(c.Preflight))
	if len(a.valid) < checkValid || a.watched >= want-time.Millisecond {
		return ""
	}
	remedy := "continue the journal with --resume and without --max-wall"
	if c.Plan.MinWatch < want { // a journal keeps the plan that it was begun with
		remedy = "its plan does not watch so long: check with a new journal"
	}
	return fmt.Sprintf("the endpoint stood still before any load, and the attempts watched for %s of the %s after which a stall that recurs is seen: %s",
		a.watched.Round(time.Second), want.Round(time.Second), remedy)
}

// surplus says that attempts were added to a check that had ended, "" if none
// were.
func surplus(c sweep.Curve, n int) string {
	more := c.BeyondCheck(n)
	if more == 0 {
		return ""
	}
	return fmt.Sprintf("%s at %d per GPU %s added to a check that had ended: a check that goes on until the answer pleases is none; check again with a new journal",
		plural.Of(more, "run"), n, plural.Verb(more, "was", "were"))
}
