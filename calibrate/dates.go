package calibrate

import (
	"fmt"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
)

// measuredAfter is how much later than a check its baseline may begin, by the
// clocks of two machines: a baseline is made days before.
const measuredAfter = time.Hour

// longestCampaign is how far apart the dates of one campaign may lie: twice the
// age at which lint calls a measurement stale. Windows and resumed journals are
// hours to weeks apart; beyond a year nobody knows that it is one environment.
const longestCampaign = 365 * 24 * time.Hour

// firstYear is one that no clock which was ever set shows.
const firstYear = 1980

// oddDate says why a time is none at which anything was measured, "" if it may
// be one. The zero time is unknown, and so is now.
func oddDate(t, now time.Time) string {
	switch {
	case t.IsZero() || now.IsZero():
		return ""
	case t.After(now.Add(sweep.MaxClockError)):
		return "which is still to come by this machine's clock"
	case t.Year() < firstYear:
		return "by a clock that was never set"
	}
	return ""
}

// OddDates says which date of a journal is none at which it was measured, or how
// far its dates lie apart where that is too far, "" if they may be right. Its
// numbers may be right, its age and its windows are not known.
func OddDates(c sweep.Curve, now time.Time) string {
	const unknown = "how old it is, and how far windows lie apart, is not known"
	if odd := oddDate(c.Started, now); odd != "" {
		return fmt.Sprintf("the campaign is dated %s, %s: %s", c.Started.UTC().Format(time.RFC3339), odd, unknown)
	}
	for _, r := range c.Runs {
		for _, t := range []time.Time{r.Started, r.Result.Started, r.Result.Ended} {
			if odd := oddDate(t, now); odd != "" {
				return fmt.Sprintf("run %d is dated %s, %s: %s", r.Seq, t.UTC().Format(time.RFC3339), odd, unknown)
			}
		}
	}
	return tooLong(c)
}

// tooLong says that the dates of a campaign lie too far apart, "" if they do not.
func tooLong(c sweep.Curve) string {
	first, last := c.Started, time.Time{}
	for _, r := range c.Runs {
		if !r.Started.IsZero() && (first.IsZero() || r.Started.Before(first)) {
			first = r.Started
		}
		if r.Started.After(last) {
			last = r.Started
		}
	}
	if first.IsZero() || last.Sub(first) <= longestCampaign {
		return ""
	}
	return fmt.Sprintf("the campaign is dated %s, and its last run %s: what lies more than %s apart is not known to be one environment",
		first.UTC().Format(time.DateOnly), last.UTC().Format(time.DateOnly), plural.Of(int(longestCampaign.Hours()/24), "day"))
}

// MeasuredAfter says that a baseline was begun after the check that is held
// against it was over, "" if it was not: what a check is held against is older.
func MeasuredAfter(base, check sweep.Curve) string {
	last := lastRun(check)
	if len(base.Runs) == 0 || last.IsZero() || !base.Runs[0].Started.After(last.Add(measuredAfter)) {
		return ""
	}
	return fmt.Sprintf("its first run is dated %s, after the last one of the check, %s", base.Runs[0].Started.UTC().Format(time.RFC3339), last.UTC().Format(time.RFC3339))
}

// olderThan says that a check was over before what the sidecar keeps was measured,
// or that its date is not known, "" if neither. Clocks may lie apart.
func (p Provenance) olderThan(check sweep.Curve) string {
	last, measured := lastRun(check), date(p.Measured)
	if last.IsZero() && !measured.IsZero() {
		return "when the check was measured is not known, and so not whether it is later than what it is held against: check again with a new journal, which dates its runs"
	}
	if measured.IsZero() || !last.Before(measured.Add(-sweep.MaxClockError)) {
		return ""
	}
	return fmt.Sprintf("the last run of the check is dated %s, before what it is held against was measured, %s: check again with a new journal, or set the clocks",
		last.UTC().Format(time.RFC3339), measured.UTC().Format(time.RFC3339))
}

// lastRun is the date of the latest run of a journal, zero if none has one.
func lastRun(c sweep.Curve) (last time.Time) {
	for _, r := range c.Runs {
		if r.Started.After(last) {
			last = r.Started
		}
	}
	return last
}

// ageNote tells the age of a check that is judged again later, "" within a day.
func ageNote(c sweep.Curve, now time.Time) string {
	last := lastRun(c)
	if last.IsZero() || now.Sub(last) <= sweep.MaxClockError {
		return ""
	}
	return fmt.Sprintf("measured on %s, %s ago: this says nothing of today", last.UTC().Format(time.DateOnly), plural.Of(int(now.Sub(last).Hours()/24), "day"))
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

// oddApproval says why an approval cannot have been given on its date, "" if it
// can: it is still to come, or lies before the journal was whole. An approval has
// a day, of which the hour is not known.
func oddApproval(approved string, c sweep.Curve, now time.Time) string {
	day, err := time.Parse(time.DateOnly, approved)
	if err != nil {
		return "which is no date"
	}
	if odd := oddDate(day, now); odd != "" {
		return odd
	}
	const wholeDay = 24 * time.Hour
	if end := c.WindowEnd(c.Windows()); end.After(day.Add(wholeDay + sweep.MaxClockError)) {
		return fmt.Sprintf("before its journal was measured, %s", end.UTC().Format(time.DateOnly))
	}
	return ""
}

// order reports dates of a sidecar that contradict each other: a campaign begins,
// measures its gate runs and is written.
func (p Provenance) order() error {
	began, measured, written := date(p.CampaignStarted), date(p.Measured), date(p.Written)
	before := func(t, then time.Time) bool {
		return !t.IsZero() && !then.IsZero() && t.Before(then.Add(-sweep.MaxClockError))
	}
	switch {
	case before(measured, began):
		return badKey("measured", "is %s, before the campaign that measured it, %s", p.Measured, p.CampaignStarted)
	case before(written, measured):
		return badKey("written", "is %s, before what it was written from was measured, %s", p.Written, p.Measured)
	}
	for i, r := range p.BaselineRuns {
		if t := date(r.Started); before(t, began) || before(written, t) {
			return badKey(fmt.Sprintf("baseline_runs[%d].started", i), "is %s, not between the campaign's begin, %s, and its end, %s", r.Started, p.CampaignStarted, p.Written)
		}
	}
	return nil
}

// date reads a time of a sidecar, zero where it has none.
func date(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
