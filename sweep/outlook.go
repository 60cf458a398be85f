package sweep

import (
	"fmt"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
)

// Outlook is what a campaign still has to do, the next run included.
type Outlook struct {
	// Runs is how many more runs are made if they come out as the runs so far
	// suggest and are all valid; MostRuns is what they cannot exceed, 0 only
	// where nothing is left to do.
	Runs, MostRuns int
	// MostHere is what they cannot exceed while the operating point stays where
	// it is: a confirmation that brings the knee down is made again below.
	MostHere int
	// PairRuns are those of Runs that are made in pairs with another tool, after all
	// others; one of a pair is that tool's.
	PairRuns int
	// Time is how long Runs take, and Next how long the next of them does.
	Time, Next time.Duration
	// LastStall: if the server stands still in the next run, the campaign ends
	// as unstable.
	LastStall bool
}

// String is the outlook for a progress line.
func (o Outlook) String() string {
	most := fmt.Sprintf("at most %d", o.MostHere)
	if o.MostRuns > o.MostHere {
		most += fmt.Sprintf(", or %d if the knee comes out lower", o.MostRuns)
	}
	s := fmt.Sprintf("about %s to go (%s), %s", plural.Of(o.Runs, "run"), most, about(o.Time))
	if o.PairRuns > 0 {
		s += fmt.Sprintf("; %d of them in pairs with AIPerf", o.PairRuns)
	}
	if o.LastStall {
		s += "; one more stall ends it as unstable"
	}
	return s
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
func (c Curve) Outlook() Outlook { return c.OutlookWith(BridgePlan{}) }

// OutlookWith is the outlook of a campaign after which pairs with another tool are
// made at its point.
func (c Curve) OutlookWith(pairs BridgePlan) Outlook {
	var out Outlook
	memo := remember(knee.Find)
	find := func(runs []knee.Run, opt knee.Options) knee.Fit {
		opt.Bootstrap = 1 // the interval hardly bears on the number of runs
		return memo(runs, opt)
	}
	if c.Plan.Validate() != nil {
		return out
	}
	t := newTape(c.Plan, c.Runs, find)
	d := t.decide()
	over := d.Done
	left := c.Plan.MaxWall - c.spent()
	f := newForesight(c)
	if !over {
		out.MostHere, out.MostRuns = t.most()
		next := f.run(*t.pending, len(c.Runs)+1)
		out.LastStall, out.Next = endsUnstable(c, next, find), length(next)
	}
	for t.pending != nil && out.Runs < out.MostRuns {
		r := f.run(*t.pending, len(c.Runs)+1)
		c.Runs = append(c.Runs[:len(c.Runs):len(c.Runs)], r)
		out.Runs++
		out.Time += length(r)
		t = newTape(c.Plan, c.Runs, find)
		d = t.decide()
	}
	c.addPairs(&out, pairs, d, over, f)
	if c.Plan.MaxWall > 0 {
		out.Time = min(out.Time, max(left, 0))
	}
	return out
}

// endsUnstable reports whether a stall in the next run would end the campaign.
func endsUnstable(c Curve, next Run, find fitter) bool {
	next.Violations = []Violation{{Gate: "V6"}}
	runs := append(c.Runs[:len(c.Runs):len(c.Runs)], next)
	return nextStep(c.Plan, runs, find).Unstable()
}

// most bounds the runs that are still to come, whatever they show: while the
// operating point stays where it is, and in any case.
func (t *tape) most() (here, ever int) {
	p, budget := t.plan, t.plan.MaxRuns-t.counted
	attempts, pulses := t.mostAttempts(), t.mostPulses()
	same := func(n int) (here, ever int) { return n, n }
	switch {
	case p.Window > 1:
		return same(attempts)
	case p.Check && p.MinWatch > 0:
		return same(budget + pulses)
	case p.Check:
		return same(min(budget, attempts) + pulses)
	case p.Point > 0:
		return same(min(budget, t.mostBeside()) + attempts)
	case !p.Confirm:
		return same(budget)
	}
	_, tries := WindowAttempts(p.Window)
	moving := 2*tries*(maxMoves-1-t.moves) + PulseBaseRuns*(1+extraRuns)
	switch t.pending.Purpose {
	case Confirm:
		return attempts + pulses, attempts + budget + moving
	case Pulse:
		return same(pulses)
	}
	// A confirmed point that needs more levels measured is not to stay.
	if t.trying != nil {
		return same(budget + moving)
	}
	return budget + attempts + PulseBaseRuns*(1+extraRuns), budget + attempts + moving
}

// mostAttempts bounds the runs of the attempts at a point.
func (t *tape) mostAttempts() int {
	switch a := t.trying; {
	case a != nil && a.half:
		return 2*(a.tries-a.made) - 1
	case a != nil:
		return 2 * (a.tries - a.made)
	case t.plan.Check:
		return 2 * checkTries
	case t.plan.Reconfirm:
		return 2 * checkTries
	case t.plan.Confirm:
		_, tries := WindowAttempts(t.plan.Window)
		return 2 * tries
	}
	return 0
}

// mostBeside bounds the runs that prove a point without a confirmation: beside
// it, and at it where there is none.
func (t *tape) mostBeside() int {
	n := t.plan.Point
	want := map[int]int{n / 2: proveSideRuns, LadderNext(n): proveSideRuns}
	switch {
	case t.trying != nil:
		return 0
	case !t.plan.Confirm:
		want[n] = proveRuns
	}
	most := t.again - extraRuns // the failures of the run that is asked for
	for q, runs := range want {
		most += max(runs-len(t.view.valid[q]), 0) * (1 + extraRuns)
	}
	return most
}
