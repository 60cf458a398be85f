package sweep

import (
	"fmt"
	"time"
)

// MaxClockError is how far apart the clocks that dated a journal may lie: NTP
// keeps machines within seconds, one without it is off by minutes, and one that
// takes local time for UTC, or another zone's for its own, by 14 hours. What lies
// farther apart was not measured in the order that the journal tells.
const MaxClockError = 24 * time.Hour

// longestRun bounds a run by the dates of its beginning and its end. The longest
// takes a quarter of an hour (see Effort.Limits); clocks that are set meanwhile
// are allowed for.
const longestRun = MaxClockError

// dated refuses a run whose date contradicts what came before it: it began before
// its campaign or before the run that it follows, or it lasted longer than a run
// can. A campaign may rest for as long as it likes before it is resumed. Dates
// that are absent contradict nothing.
func dated(r Run, c *Curve) error {
	res := r.Result
	if took := length(r); took > longestRun && !res.Started.IsZero() && !res.Ended.IsZero() {
		return fmt.Errorf("its result ended %s after it started, and no run lasts so long", took.Round(time.Minute))
	}
	before, what := c.Started, "its campaign"
	if n := len(c.Runs); n > 0 && c.Runs[n-1].Started.After(before) {
		before, what = c.Runs[n-1].Started, fmt.Sprintf("run %d", n)
	}
	if r.Started.IsZero() || before.IsZero() || !r.Started.Before(before.Add(-MaxClockError)) {
		return nil
	}
	return fmt.Errorf("it is dated %s, and %s, which came before it, %s", r.Started.UTC().Format(time.RFC3339), what, before.UTC().Format(time.RFC3339))
}
