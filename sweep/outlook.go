package sweep

import (
	"fmt"
	"time"

	"github.com/perfsweep/perfsweep/knee"
)

// Outlook is what a campaign still has to do, the next run included.
type Outlook struct {
	// Runs is how many more runs are made if they come out as the runs so far
	// suggest and are all valid; MostRuns is what they cannot exceed, 0 only
	// where nothing is left to do.
	Runs, MostRuns int
	// Time is how long Runs take.
	Time time.Duration
}

// String is the outlook for a progress line.
func (o Outlook) String() string {
	return fmt.Sprintf("about %s to go (at most %d), %s", runsText(o.Runs), o.MostRuns, about(o.Time))
}

// about rounds a time to what an estimate is good for.
func about(d time.Duration) string {
	const seconds, minutes = 100 * time.Second, 100 * time.Minute
	switch {
	case d < seconds:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < minutes:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// Outlook plays the campaign on to its end, against the curve that the runs so
// far suggest. Nothing is known of runs to come, so this is an estimate, and no
// decision rests on it.
func (c Curve) Outlook() Outlook {
	var out Outlook
	memo := remember(knee.Find)
	find := func(runs []knee.Run, opt knee.Options) knee.Fit {
		opt.Bootstrap = 1 // the interval hardly bears on the number of runs
		return memo(runs, opt)
	}
	t := newTape(c.Plan, c.Runs, find)
	if c.Plan.Validate() != nil || t.decide().Done {
		return out
	}
	out.MostRuns = t.most()
	left := c.Plan.MaxWall - total(c.Runs)
	f := newForesight(c)
	for t.pending != nil && out.Runs < out.MostRuns {
		r := f.run(*t.pending, len(c.Runs)+1)
		c.Runs = append(c.Runs[:len(c.Runs):len(c.Runs)], r)
		out.Runs++
		out.Time += length(r)
		t = newTape(c.Plan, c.Runs, find)
		t.decide()
	}
	if c.Plan.MaxWall > 0 {
		out.Time = min(out.Time, left)
	}
	return out
}

// most bounds the runs that are still to come, whatever they show.
func (t *tape) most() int {
	p := t.plan
	var attempts int // runs of attempts made so far
	for _, r := range t.read {
		if r.Step.Purpose == Confirm || r.Step.Purpose == Check {
			attempts++
		}
	}
	budget := p.MaxRuns - t.counted
	_, tries := WindowAttempts(p.Window)
	switch {
	case p.Window > 1:
		return 2*tries - attempts
	case p.Check && p.MinWatch > 0:
		return budget + t.mostPulses()
	case p.Check:
		return min(budget, 2*checkTries-attempts) + t.mostPulses()
	case p.Point > 0 && p.Confirm:
		return min(budget, 2*proveSideRuns*(1+extraRuns)-t.counted) + 2*tries - attempts + t.mostPulses()
	case p.Point > 0:
		return min(budget, (2*proveSideRuns+proveRuns)*(1+extraRuns)-t.counted)
	case p.Confirm:
		return budget + 2*maxMoves*tries - attempts + t.mostPulses()
	}
	return budget
}
