package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
)

// Campaign runs a plan.
type Campaign struct {
	Curve   Curve
	Journal *Journal // nil = in memory only
	// Deployment is what is measured now, in the plan's window; "" = not stated.
	Deployment string
	// Target is where it is found, if not where the fingerprint says.
	Target string
	// Measure makes one run. ErrRepeat has it called again for the same step.
	Measure func(ctx context.Context, s Step, firstRequest uint64) (loadgen.Result, error)
	// Workers, when set, counts the ready workers around every run (V1).
	Workers *WorkerWatch
	// Hear, when set, begins to listen to the servers right before a run; what it
	// returns ends that, and is called once the run is over, however it ended.
	Hear func(ctx context.Context) func(loadgen.Result) *Servers
	// Notify, when set, hears of every step before and after it is run.
	Notify func(Event)
	// Pairs says how many pairs with another tool follow, for the outlook.
	Pairs BridgePlan
	// elsewhere is run time that counts against MaxWall and is not in Curve.
	elsewhere time.Duration
	// outlook, when set, replaces the outlook of Curve.
	outlook func() Outlook
}

// Event tells a human where a campaign is.
type Event struct {
	Step Step
	Run  *Run // nil before the run
	Done int  // runs so far
	// Outlook is what is still to do; only before a run.
	Outlook Outlook
}

// Run continues the campaign until the planner is done or ctx ends. A run that
// ctx, or the plan's MaxWall, cut short is not recorded: the journal holds whole
// runs only.
func (c *Campaign) Run(ctx context.Context) (Decision, error) {
	find := remember(knee.Find)
	for {
		d := nextStep(c.Curve.Plan, c.Curve.Runs, find)
		if d.Done {
			return d, nil
		}
		if err := ctx.Err(); err != nil {
			return d, err
		}
		err := c.step(ctx, d.Step)
		if errors.Is(err, errOutOfTime) {
			return outOfTime(c.Curve.Plan, c.Curve.Runs, d.Step, find), nil
		}
		if err != nil {
			return d, err
		}
	}
}

// outOfTime is the last word of a campaign whose time ended within a step.
func outOfTime(p Plan, runs []Run, s Step, find fitter) Decision {
	t := newTape(p, runs, find)
	t.ended = fmt.Sprintf("the time limit of %s is reached: the run at %d per GPU in progress was ended and is not recorded", p.MaxWall, s.ConcurrencyPerGPU)
	return t.decide()
}

// ErrRepeat is what Campaign.Measure returns of a run that met nobody, once the
// target serves again: the run says nothing of the target, is not recorded, and is
// made again. How often that may be is for Measure to bound.
var ErrRepeat = errors.New("the run met no server and is made again")

var errOutOfTime = errors.New("the time limit of the campaign is reached")

// step makes one run, judges it and records it.
func (c *Campaign) step(ctx context.Context, s Step) error {
	if c.Notify != nil {
		ahead := func() Outlook { return c.Curve.OutlookWith(c.Pairs) }
		if c.outlook != nil {
			ahead = c.outlook
		}
		c.Notify(Event{Step: s, Done: len(c.Curve.Runs), Outlook: ahead()})
	}
	within, cancel := c.WithinWall(ctx)
	defer cancel()
	r, counted, servers, err := c.watched(ctx, within, s)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// A run that was whole in time counts, even if the time is now over.
	if (err != nil || r.Stopped == "cancelled") && errors.Is(context.Cause(within), errOutOfTime) {
		return errOutOfTime
	}
	if err != nil {
		return fmt.Errorf("run %d at %d per GPU: %w", len(c.Curve.Runs)+1, s.ConcurrencyPerGPU, err)
	}
	run := c.judged(s, r, counted, servers)
	if c.Journal != nil {
		if err := c.Journal.Append(run); err != nil {
			return err
		}
	}
	c.Curve.Runs = append(c.Curve.Runs, run)
	if c.Notify != nil {
		c.Notify(Event{Step: s, Run: &run, Done: len(c.Curve.Runs)})
	}
	return nil
}

// judged is a run that comes after those of the campaign.
func (c *Campaign) judged(s Step, r loadgen.Result, counted *Workers, servers *Servers) Run {
	spec := c.Curve.Fingerprint.Workload
	r.Warnings = append(r.Warnings, NotJudged(r, spec, usualLength(c.Curve.Runs))...)
	run := Run{
		Seq: len(c.Curve.Runs) + 1, Step: s, Started: r.Started, Result: r,
		Window: max(c.Curve.Plan.Window, 1), Deployment: c.Deployment, Target: c.Target, Workers: counted, Servers: servers,
	}
	run.Violations = judge(run, c.Curve.Runs, spec, c.Curve.Plan.SLOMaxTTFTMS)
	return run
}

// watched makes one run within its time. One that is repeated is watched anew: the
// servers' counters began again with them.
func (c *Campaign) watched(ctx, within context.Context, s Step) (r loadgen.Result, counted *Workers, servers *Servers, err error) {
	for {
		r, counted, servers, err = c.once(ctx, within, s)
		if !errors.Is(err, ErrRepeat) || within.Err() != nil {
			return r, counted, servers, err
		}
	}
}

// once makes one run, hears the servers meanwhile, and counts the workers before
// and after it.
func (c *Campaign) once(ctx, within context.Context, s Step) (r loadgen.Result, counted *Workers, servers *Servers, err error) {
	if c.Workers != nil {
		counted = &Workers{Expected: c.Workers.Expected, From: c.Workers.From, Before: c.Workers.roll(ctx)}
	}
	heard := func(loadgen.Result) *Servers { return nil }
	if c.Hear != nil {
		heard = c.Hear(within)
	}
	r, err = c.Measure(within, s, c.firstRequest())
	servers = heard(r)
	if err == nil && counted != nil {
		counted.After = c.Workers.roll(ctx)
	}
	return r, counted, servers, err
}

// firstRequest continues the request numbers of the recorded runs, so that a
// resumed campaign does not repeat prompts that the server may have cached.
func (c *Campaign) firstRequest() uint64 {
	var next uint64
	for _, r := range c.Curve.Runs {
		next = max(next, r.Result.NextRequest)
	}
	for _, p := range c.Curve.Bridge {
		next = max(next, p.NextRequest)
	}
	return next
}

// usualLength is the campaign's own median of got/requested output tokens, 0
// until enough runs tell it. A run that failed another gate does not count; one
// that failed V4 does, or a first run of odd length would outlaw all others.
func usualLength(runs []Run) float64 {
	var ratios []float64
	for _, r := range runs {
		ratio := LengthRatio(r.Result)
		ok := ratio > 0
		for _, v := range r.Violations {
			ok = ok && v.Gate == "V4"
		}
		if ok {
			ratios = append(ratios, ratio)
		}
	}
	if len(ratios) < minForeignRatio {
		return 0
	}
	return Median(ratios)
}

// remember makes a memo of find for one campaign, whose runs only ever grow:
// their number and the options tell fits apart.
func remember(find fitter) fitter {
	type key struct {
		runs int
		opt  knee.Options
	}
	memo := map[key]knee.Fit{}
	return func(runs []knee.Run, opt knee.Options) knee.Fit {
		k := key{len(runs), opt}
		f, ok := memo[k]
		if !ok {
			f = find(runs, opt)
			memo[k] = f
		}
		return f
	}
}
