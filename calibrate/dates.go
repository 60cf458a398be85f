package calibrate

import (
	"fmt"
	"time"

	"github.com/perfsweep/perfsweep/sweep"
)

// maxClockError is how far the clocks of two machines may lie apart.
const maxClockError = time.Hour

// firstYear is one that no clock which was ever set shows.
const firstYear = 1980

// oddDate says why a time is none at which anything was measured, "" if it may
// be one. The zero time is unknown, and so is now.
func oddDate(t, now time.Time) string {
	switch {
	case t.IsZero() || now.IsZero():
		return ""
	case t.After(now.Add(maxClockError)):
		return "which is still to come by this machine's clock"
	case t.Year() < firstYear:
		return "by a clock that was never set"
	}
	return ""
}

// OddDates says which run of a journal has a date at which it was not measured,
// "" if none has. Its numbers may be right, its age and its windows are not
// known.
func OddDates(c sweep.Curve, now time.Time) string {
	for _, r := range c.Runs {
		for _, t := range []time.Time{r.Started, r.Result.Started, r.Result.Ended} {
			if odd := oddDate(t, now); odd != "" {
				return fmt.Sprintf("run %d is dated %s, %s: how old it is, and how far windows lie apart, is not known", r.Seq, t.UTC().Format(time.RFC3339), odd)
			}
		}
	}
	return ""
}

// MeasuredAfter says that a baseline was begun after the check that is held
// against it was over, "" if it was not: what a check is held against is older.
func MeasuredAfter(base, check sweep.Curve) string {
	var last time.Time
	for _, r := range check.Runs {
		if r.Started.After(last) {
			last = r.Started
		}
	}
	if len(base.Runs) == 0 || last.IsZero() || !base.Runs[0].Started.After(last.Add(maxClockError)) {
		return ""
	}
	return fmt.Sprintf("its first run is dated %s, after the last one of the check, %s", base.Runs[0].Started.UTC().Format(time.RFC3339), last.UTC().Format(time.RFC3339))
}

// OddDates says which date of a sidecar is none, "" if all may be.
func (p Provenance) OddDates(now time.Time) string {
	for _, d := range []struct{ key, value string }{{"measured", p.Measured}, {"written", p.Written}, {"campaign_started", p.CampaignStarted}} {
		if t, err := time.Parse(time.RFC3339, d.value); err == nil {
			if odd := oddDate(t, now); odd != "" {
				return fmt.Sprintf("%s is %s, %s: its age is not known", d.key, t.UTC().Format(time.RFC3339), odd)
			}
		}
	}
	return ""
}
