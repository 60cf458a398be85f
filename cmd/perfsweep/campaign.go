package main

import (
	"context"
	"fmt"
	"time"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// campaign is one command's use of a target: preflight, journal, runs.
type campaign struct {
	*app
	flags   *measureFlags
	changed func(string) bool
	plan    sweep.Plan
	windows windowFlags
	model   string // wanted; "" = the only one served
	// modelFrom says who named it, where that is no flag.
	modelFrom string
	overlay   bool // the result is for an overlay, which must be able to pin the model
	// accelerator is that of the overlay, such as h100, "" where there is none.
	accelerator string
	side        sweep.Side // "" unless two targets are measured in turns
	// baselines are what a check is held against, and census who was ready at
	// the preflight: the workers that V1 expects.
	baselines []knownWorkers
	census    census
	loaders   *loaders // nil: this process makes the load
	named     bool     // the cluster names the deployment
	precision string   // of what --deploy has brought up, as far as it is known
	noted     []string // what bringing it up has told already
	// id is the campaign's, as its journal has it; "" where none is needed.
	id   string
	ears ears
	// carried says that the campaign is packed into a bundle (--bundle).
	carried bool
	// bridge asks for runs of AIPerf beside those at the operating point.
	bridge bridgeFlags
}

// measure makes what is missing and returns the curve with the planner's last
// word. Without a target it only reads the journal.
func (c *campaign) measure(ctx context.Context) (sweep.Curve, sweep.Decision, error) {
	if err := c.checkFlags(); err != nil {
		return sweep.Curve{}, sweep.Decision{}, err
	}
	if c.flags.target == "" {
		if err := c.refuseMeasuring(); err != nil {
			return sweep.Curve{}, sweep.Decision{}, err
		}
		curve, err := readJournal(c.flags.journal)
		if err != nil {
			return curve, sweep.Decision{}, err
		}
		if curve.Plan.Point > 0 { // whether fewer attempts will do is this command's question
			curve.Plan.Reconfirm = c.plan.Reconfirm
		}
		if curve.Plan.Confirm = c.plan.Confirm; c.plan.Confirm {
			curve.Plan.Window = curve.Windows()
		}
		return curve, sweep.NextStep(curve.Plan, curve.Runs), nil
	}
	spec, labels, err := c.asked()
	if err != nil {
		return sweep.Curve{}, sweep.Decision{}, err
	}
	// The journal is read and tried before the first request.
	journal, old, err := c.openJournal()
	if err != nil {
		return sweep.Curve{}, sweep.Decision{}, err
	}
	defer journal.close()
	ready := func(s kube.DeploySpec) error {
		if err := c.beforeDeploying(ctx, s, spec, labels, old); err != nil {
			return err
		}
		return c.awaitDeploying(ctx, old)
	}
	return c.onDeployment(ctx, ready, func() (sweep.Curve, sweep.Decision, error) {
		t, err := c.resolve(ctx)
		if err != nil {
			return sweep.Curve{}, sweep.Decision{}, err
		}
		defer func() { c.release(ctx, t) }()
		if err := c.chooseWindow(old); err != nil {
			return sweep.Curve{}, sweep.Decision{}, err
		}
		if t, err = c.beforeLoad(ctx, t, old); err != nil {
			return sweep.Curve{}, sweep.Decision{}, err
		}
		return c.drive(ctx, t, spec, labels, journal, old)
	})
}

// checkFlags refuses values and combinations before anything is opened.
func (c *campaign) checkFlags() error {
	if err := c.flags.check(); err != nil {
		return err
	}
	if err := c.flags.deploy.check(c.flags, c.changed); err != nil {
		return err
	}
	if err := c.bridge.check(c.flags, c.changed); err != nil {
		return err
	}
	if err := c.windows.check(c.changed, c.flags.journal, c.flags.deploy.times > 1); err != nil {
		return err
	}
	return checkDeployment(c.flags.deployment, c.changed("deployment"))
}

// asked is what the flags ask for, tried as far as that goes without a target.
func (c *campaign) asked() (loadgen.WorkloadSpec, map[string]string, error) {
	spec, err := c.flags.spec(c.changed, c.plan.Effort)
	if err != nil {
		return spec, nil, err
	}
	labels, err := labelMap("label", c.flags.labels)
	if err != nil {
		return spec, nil, err
	}
	if labels, err = c.flags.withProduct(labels); err != nil {
		return spec, nil, err
	}
	probe := c.plan
	if probe.MaxConcurrencyPerGPU == 0 {
		probe.MaxConcurrencyPerGPU = sweep.DefaultUpperEnd
	}
	return spec, labels, badInput(probe.Validate())
}

// judgeFlags refuses what a campaign refuses before it opens anything.
func (c *campaign) judgeFlags() error {
	if err := c.checkFlags(); err != nil {
		return err
	}
	if c.flags.target == "" {
		return c.refuseMeasuring()
	}
	_, _, err := c.asked()
	return err
}

// refuseMeasuring refuses flags that would be ignored silently: a journal is
// judged as it was measured.
func (c *campaign) refuseMeasuring() error {
	for _, f := range measuringFlags() {
		if c.changed(f) {
			return badInputf("--%s says what to measure and needs --target; without one %s is judged as it was measured: drop the flag", f, c.flags.journal)
		}
	}
	return c.refuseObjective()
}

// drive runs the preflight, joins the journal and follows the planner.
func (c *campaign) drive(ctx context.Context, t *target, spec loadgen.WorkloadSpec, labels map[string]string, journal *openJournal, old *sweep.Curve) (sweep.Curve, sweep.Decision, error) {
	curve, cfg, err := c.preflight(ctx, t, spec, labels)
	if err != nil {
		return curve, sweep.Decision{}, err
	}
	if why := calibrate.OtherAccelerator(c.accelerator, curve.Fingerprint); why != "" {
		return curve, sweep.Decision{}, badInputf("%s", why)
	}
	if err := c.refereed(ctx); err != nil {
		return curve, sweep.Decision{}, err
	}
	run, err := c.begin(curve, cfg, journal, old)
	if err != nil {
		return curve, sweep.Decision{}, err
	}
	if t.place == nil { // else it was waited for before pods were started
		if err := c.awaitWindow(ctx, run.Curve); err != nil {
			return curve, sweep.Decision{}, err
		}
	}
	if !t.simulated { // a simulator in this process makes garbage of its own
		defer leanHeap()()
	}
	defer c.showLive(ctx)()
	d, err := run.Run(ctx)
	if err == nil {
		err = c.bridged(ctx, t, run, d)
	}
	return run.Curve, d, err
}

// preflight looks at the target and says what is about to be measured, and how.
func (c *campaign) preflight(ctx context.Context, t *target, spec loadgen.WorkloadSpec, labels map[string]string) (sweep.Curve, loadgen.Config, error) {
	cfg := loadgen.Config{BaseURL: t.baseURL, Model: c.model, Dial: t.dial, Waiting: func(what string, since time.Duration) {
		c.say("waiting for %s: %.0f s", what, since.Seconds())
	}, Progress: c.progress()}
	if err := c.network(&cfg, t); err != nil {
		return sweep.Curve{}, cfg, err
	}
	labels = c.labelled(t, labels)
	if err := checkCountLabels(labels); err != nil {
		return sweep.Curve{}, cfg, err
	}
	if err := c.checkStated(sweep.Fingerprint{Simulated: t.simulated, Labels: labels}); err != nil {
		return sweep.Curve{}, cfg, err
	}
	if err := c.startLoaders(ctx, t); err != nil {
		return sweep.Curve{}, cfg, err
	}
	c.loaders = t.loaders
	pre, err := untilServed(ctx, c.servesWithin(t), c.say, func(ctx context.Context) (loadgen.Preflight, error) {
		return t.loaders.preflight(ctx, cfg, spec)
	})
	if err != nil {
		return sweep.Curve{}, cfg, fmt.Errorf("preflight of %s: %w%s", t.public, err, c.frontendWords(ctx, t.public, err))
	}
	for _, w := range pre.Warnings {
		c.say("note: %s", w)
	}
	c.census = takeCensus(ctx, t, cfg)
	if c.ears, err = c.listen(ctx, t, cfg, pre); err != nil {
		return sweep.Curve{}, cfg, err
	}
	if c.plan.Check {
		c.plan.MinWatch = sweep.StallWatch(pre)
	}
	if c.plan.MaxConcurrencyPerGPU == 0 {
		c.plan.MaxConcurrencyPerGPU = c.upperEnd(t.gpus)
	}
	if err := loadgen.CheckStreams(c.plan.Peak() * t.gpus); err != nil {
		return sweep.Curve{}, cfg, fmt.Errorf("the largest level, %d per GPU: %w", c.plan.Peak(), err)
	}
	if c.overlay {
		if err := recipes.ValidModel(pre.Model); err != nil {
			return sweep.Curve{}, cfg, badInputf("the served model cannot be pinned in an overlay: %w; name another with --model", err)
		}
	}
	curve := sweep.Curve{
		Fingerprint: sweep.Fingerprint{
			Target: t.public, Simulated: t.simulated, Model: pre.Model, GPUs: t.gpus, Workload: spec,
			Effort: c.plan.Effort, RoutingMode: labels["routing_mode"], StartMode: "ramp+synchronised",
			ToolVersion: version, Labels: labels, Deployment: c.flags.deployment,
		},
		Plan: c.plan, Started: time.Now().UTC(), Preflight: pre, ID: c.id, Configuration: c.config.kept(),
	}
	if err := record(&curve.Fingerprint, cfg); err != nil {
		return curve, cfg, err
	}
	return curve, cfg, nil
}

// begin joins the journal and makes what follows the planner.
func (c *campaign) begin(now sweep.Curve, cfg loadgen.Config, journal *openJournal, old *sweep.Curve) (*sweep.Campaign, error) {
	pre, target, elsewhere := now.Preflight, now.Fingerprint.Target, c.elsewhere(old, now)
	curve, workers, err := c.join(now, journal, old, elsewhere)
	if err != nil {
		return nil, err
	}
	f := curve.Fingerprint
	cfg.Model = f.Model
	if cfg.Workload, err = loadgen.NewWorkload(f.Workload, curve.Preflight); err != nil {
		return nil, fmt.Errorf("workload %s: %w", f.Workload.Name, err)
	}
	run := func(ctx context.Context, cfg loadgen.Config) (loadgen.Result, error) {
		return c.loaders.run(ctx, cfg, curve.Preflight)
	}
	if curve.FirstLook() && c.overlay {
		c.say("a first look: nothing will be written from this target at quick effort")
	}
	c.tellUnstated(f)
	c.say("target %s  model %s (%s)  %s  effort %s  workload %s", target, f.Model, c.namedBy(), plural.Of(f.GPUs, "GPU"), c.plan.Effort, f.Workload)
	return &sweep.Campaign{
		Curve: curve, Journal: journal.j, Deployment: c.flags.deployment, Target: elsewhere,
		Measure: c.measurer(cfg, f.GPUs, pre, run, c.absence(target, cfg, f.Workload)), Workers: workers, Hear: c.ears.hear, Notify: c.notify(f.GPUs), Pairs: c.bridge.planned(),
	}, nil
}

// join completes what is measured now with what the servers tell, and joins it to
// the journal.
func (c *campaign) join(now sweep.Curve, journal *openJournal, old *sweep.Curve, elsewhere string) (sweep.Curve, *sweep.WorkerWatch, error) {
	workers := c.watchWorkers(&now.Fingerprint, old)
	addFacts(&now.Fingerprint, c.ears.facts, old)
	c.moved(&now, old)
	curve, err := journal.join(now, old, elsewhere)
	if journal.j != nil {
		c.hasJournal(journal.path)
	}
	return curve, workers, err
}
