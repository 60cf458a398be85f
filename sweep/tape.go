package sweep

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
)

// extraRuns is how often an INVALID run is repeated.
const extraRuns = 2

// tape replays a campaign. The planner is written as if it made the runs; each
// run that it asks for is taken from those already made, in their order, and
// the first one that is missing is the next step. The planner therefore has no
// state but the runs, and a resumed journal continues as it would have gone on.
type tape struct {
	plan Plan
	find fitter
	gpus int
	// pool holds the runs not yet asked for.
	pool map[slot][]Run
	// read are the runs taken so far, in the order they were asked for, and
	// view is what they say.
	read    []Run
	view    *view
	counted int // runs that count towards MaxRuns
	pulses  int // valid runs made for a pulse
	wall    time.Duration
	// pending is the step to make now; spent says which budget is used up.
	pending *Step
	spent   string
	// ended says that nothing more is to be run, whatever the budgets allow.
	ended string
	// failed says why the campaign cannot go on.
	failed string
	// first is the last word of the first window, where a later one is planned;
	// before are the runs of the earlier windows, stalls the number of attempts
	// that stalled in them, and earlier99 and earlier50 what the others read.
	first                Decision
	before               []Run
	stalls               int
	earlier99, earlier50 []float64
	// trying are the attempts in progress, nil if there are none, moves is how
	// often their point has moved, and again how often the run that is asked for
	// may be repeated.
	trying *tally
	moves  int
	again  int
}

type slot struct {
	n    int
	kind loadgen.RunKind
}

func newTape(p Plan, runs []Run, find fitter) *tape {
	t := &tape{plan: p, find: find, gpus: gpusOf(runs), pool: map[slot][]Run{}, view: newView()}
	if p.Window > 1 {
		t.follow(runs)
	}
	for _, r := range inWindow(runs, max(p.Window, 1)) {
		k := slot{r.Step.ConcurrencyPerGPU, r.Step.Kind}
		t.pool[k] = append(t.pool[k], r)
	}
	return t
}

// take returns the run of a step. ok is false when the campaign stops here:
// the step is pending, or a budget is spent.
func (t *tape) take(s Step) (r Run, ok bool) {
	k := slot{s.ConcurrencyPerGPU, s.Kind}
	if len(t.pool[k]) == 0 {
		switch why := t.unsteady(); {
		case why != "":
			t.spent, t.failed = why, why
		case t.ended != "":
			t.spent = t.ended
		case s.countsAsRun() && t.counted >= t.plan.MaxRuns:
			t.spent = fmt.Sprintf("the limit of %s is reached", plural.Of(t.plan.MaxRuns, "run"))
		case t.plan.MaxWall > 0 && t.wall >= t.plan.MaxWall:
			t.spent = fmt.Sprintf("the time limit of %s is reached", t.plan.MaxWall)
		default:
			t.pending = &s
		}
		return Run{}, false
	}
	r, t.pool[k] = t.pool[k][0], t.pool[k][1:]
	t.read = append(t.read, r)
	t.view.add(r)
	t.wall += length(r)
	if s.countsAsRun() {
		t.counted++
	}
	if s.Purpose == Pulse && r.Valid() {
		t.pulses++
	}
	return r, true
}

// unsteady ends a campaign that nothing can come of any more. Levels that were
// asked for are measured nevertheless, a check has attempts only, and a curve
// alone is worth having though one of its levels is of two kinds: a cold start
// does that.
func (t *tape) unsteady() string {
	const clearly = 2
	switch p := t.plan; {
	case p.Check || len(p.Levels) > 0 && !p.Confirm:
		return ""
	case !p.Confirm:
		return unsteady(t.read, 0, clearly)
	}
	return Unsteady(slices.Concat(t.before, t.read), 0)
}

// countsAsRun: a confirmation and a pulse have bounds of their own.
func (s Step) countsAsRun() bool { return s.Purpose != Confirm && s.Purpose != Pulse }

// run makes one planned steady run at n and repeats it while it is INVALID, at
// most twice. got is false if none of the attempts was usable; ok is false
// when the campaign stops here.
func (t *tape) run(n int, p Purpose, why string) (got, ok bool) {
	for attempt := range 1 + extraRuns {
		t.again = extraRuns - attempt
		w := why
		if attempt > 0 {
			w = fmt.Sprintf("again, as the last run was INVALID (%s)", gatesOf(t.read[len(t.read)-1:]))
		}
		r, ok := t.take(Step{ConcurrencyPerGPU: n, Kind: loadgen.Steady, Purpose: p, Why: w})
		if !ok {
			return false, false
		}
		// An overloaded server is an answer to the coarse pass, not a mishap.
		if r.Valid() || (p == Coarse || p == Recheck) && overloaded(r) {
			return true, true
		}
	}
	return false, t.hopeful()
}

// hopeful ends a campaign that never saw a valid run on two levels.
func (t *tape) hopeful() bool {
	if len(t.view.valid) > 0 || len(t.view.invalid) < 2 {
		return true
	}
	t.failed = fmt.Sprintf("unstable: not one valid run in %d (%s)", len(t.read), gatesOf(t.read))
	return false
}

// gatesOf names the gates that runs failed, without those that only follow.
func gatesOf(runs []Run) string {
	var names []string
	for _, r := range runs {
		causes, _ := r.Causes()
		for _, v := range causes {
			if !slices.Contains(names, v.Gate) {
				names = append(names, v.Gate)
			}
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// fit fits the runs taken so far. quick skips the interval, which only the
// choice of the operating point needs.
func (t *tape) fit(quick bool) knee.Fit {
	opt := knee.Options{EStar: t.plan.EStar}
	if quick {
		opt.Bootstrap = 1
	}
	return t.find(points(t.read, t.gpus, t.plan.Effort), opt)
}
