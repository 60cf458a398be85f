package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// campaign is one command's use of a target: preflight, journal, runs.
type campaign struct {
	*app
	flags   *measureFlags
	changed func(string) bool
	plan    sweep.Plan
	model   string // wanted; "" = the only one served
	routing string
}

// measure makes what is missing and returns the curve with the planner's last
// word. Without a target it only reads the journal.
func (c *campaign) measure(ctx context.Context) (sweep.Curve, sweep.Decision, error) {
	if err := c.flags.check(); err != nil {
		return sweep.Curve{}, sweep.Decision{}, err
	}
	if c.flags.target == "" {
		curve, err := readJournal(c.flags.journal)
		if err != nil {
			return curve, sweep.Decision{}, err
		}
		plan := curve.Plan
		plan.Confirm = c.plan.Confirm
		curve.Plan = plan
		return curve, sweep.NextStep(plan, curve.Runs), nil
	}
	spec, err := c.flags.spec(c.changed)
	if err != nil {
		return sweep.Curve{}, sweep.Decision{}, err
	}
	labels, err := c.flags.labelMap()
	if err != nil {
		return sweep.Curve{}, sweep.Decision{}, err
	}
	if err := c.plan.Validate(); err != nil {
		return sweep.Curve{}, sweep.Decision{}, badInput(err)
	}
	// The journal is read and tried before the first request.
	journal, old, err := c.openJournal()
	if err != nil {
		return sweep.Curve{}, sweep.Decision{}, err
	}
	defer journal.close()
	t, err := openTarget(c.flags.target, c.flags.gpus)
	if err != nil {
		return sweep.Curve{}, sweep.Decision{}, err
	}
	defer t.close()
	return c.drive(ctx, t, spec, labels, journal, old)
}

// drive runs the preflight, joins the journal and follows the planner.
func (c *campaign) drive(ctx context.Context, t *target, spec loadgen.WorkloadSpec, labels map[string]string, journal *openJournal, old *sweep.Curve) (sweep.Curve, sweep.Decision, error) {
	cfg := loadgen.Config{BaseURL: t.baseURL, Model: c.model, APIKey: os.Getenv(c.flags.keyEnv), Dial: t.dial}
	pre, err := loadgen.RunPreflight(ctx, cfg, spec)
	if err != nil {
		return sweep.Curve{}, sweep.Decision{}, fmt.Errorf("preflight of %s: %w", t.public, err)
	}
	for _, w := range pre.Warnings {
		c.say("note: %s", w)
	}
	c.plan.MinWatch = stallWatch(c.plan, pre)
	curve := sweep.Curve{
		Fingerprint: sweep.Fingerprint{
			Target: t.public, Simulated: t.simulated, Model: pre.Model, GPUs: t.gpus, Workload: spec,
			Effort: c.plan.Effort, RoutingMode: c.routing, StartMode: "ramp+synchronised",
			ToolVersion: version, Labels: labels,
		},
		Plan: c.plan, Started: time.Now().UTC(), Preflight: pre,
	}
	if curve, err = journal.join(curve, old); err != nil {
		return curve, sweep.Decision{}, err
	}
	cfg.Model = curve.Fingerprint.Model
	if cfg.Workload, err = loadgen.NewWorkload(spec, curve.Preflight); err != nil {
		return curve, sweep.Decision{}, fmt.Errorf("workload %s: %w", spec.Name, err)
	}
	c.say("target %s  model %s  %s  effort %s  workload %s %d/%d tokens", t.public, pre.Model, plural(t.gpus, "GPU"), c.plan.Effort, spec.Name, spec.ISL, spec.OSL)
	run := &sweep.Campaign{Curve: curve, Journal: journal.j, Measure: c.measurer(cfg, t.gpus, pre), Notify: c.notify(t.gpus)}
	d, err := run.Run(ctx)
	if err != nil {
		return run.Curve, d, err
	}
	return run.Curve, d, nil
}

// stallWatch: a target that stood still with a single request in flight was
// cold or stalls; a check then watches ten times as long as the silence was,
// so that a stall that recurs is seen rather than hoped away.
func stallWatch(p sweep.Plan, pre loadgen.Preflight) time.Duration {
	slow, warm := pre.SlowestTTFTMS, pre.TTFTMS
	if !p.Check || slow <= 2000 || slow <= 20*warm {
		return 0
	}
	return time.Duration(10 * slow * float64(time.Millisecond))
}

// measurer makes one run of a step.
func (c *campaign) measurer(cfg loadgen.Config, gpus int, pre loadgen.Preflight) func(context.Context, sweep.Step, uint64) (loadgen.Result, error) {
	e2e := time.Duration(pre.E2EMS * float64(time.Millisecond))
	return func(ctx context.Context, s sweep.Step, first uint64) (loadgen.Result, error) {
		cfg := cfg
		cfg.Concurrency = s.ConcurrencyPerGPU * gpus
		cfg.Kind = s.Kind
		cfg.FirstRequest = first
		cfg.Limits = c.plan.Effort.Limits(s, cfg.Concurrency, e2e)
		r, err := loadgen.Run(ctx, cfg)
		if err == nil && r.Window.E2EMeanMS > 0 {
			e2e = time.Duration(r.Window.E2EMeanMS * float64(time.Millisecond))
		}
		return r, err
	}
}

// notify prints a line a run.
func (c *campaign) notify(gpus int) func(sweep.Event) {
	return func(e sweep.Event) {
		if e.Run == nil {
			c.say("[%d] %d per GPU (%d streams), %s: %s", e.Done+1, e.Step.ConcurrencyPerGPU, e.Step.ConcurrencyPerGPU*gpus, e.Step.Kind, e.Step.Why)
			return
		}
		est := e.Run.Result.Window
		if e.Step.Kind == loadgen.Gate {
			est = e.Run.Result.WholeRun
		}
		line := fmt.Sprintf("     %.0f tok/s per GPU, TTFT p50 %.0f ms, p99 %.0f ms", est.OutputTokPerSec/float64(gpus), est.TTFTP50MS, est.TTFTP99MS)
		for _, v := range e.Run.Violations {
			line += fmt.Sprintf("\n     INVALID %s: %s (limit %s); %s", v.Gate, v.Observed, v.Threshold, v.Remedy)
		}
		c.say("%s", line)
	}
}

// openJournal is the journal of a campaign, nil-safe: without --journal it
// does nothing.
type openJournal struct {
	path string
	j    *sweep.Journal
}

func (o *openJournal) close() {
	if o.j != nil {
		_ = o.j.Close() // every line was fsynced when it was written
	}
}

// openJournal opens --journal. An existing one is locked and returned as old.
func (c *campaign) openJournal() (*openJournal, *sweep.Curve, error) {
	o := &openJournal{path: c.flags.journal}
	if o.path == "" {
		return o, nil, nil
	}
	info, err := os.Stat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.flags.resume:
		return nil, nil, badInputf("--resume: %s does not exist; drop --resume to start it", o.path)
	case errors.Is(err, fs.ErrNotExist):
		return o, nil, o.tryFolder()
	case err != nil:
		return nil, nil, fmt.Errorf("--journal: %w", err)
	case info.IsDir():
		return nil, nil, badInputf("--journal %s is a folder; name a file", o.path)
	case info.Size() == 0:
		return o, nil, o.tryFolder()
	}
	j, old, err := sweep.ResumeJournal(o.path)
	if err != nil {
		return nil, nil, journalError(err)
	}
	o.j = j
	return o, &old, nil
}

// tryFolder proves that the journal can be created, leaving nothing behind.
func (o *openJournal) tryFolder() error {
	_, statErr := os.Stat(o.path)
	f, err := os.OpenFile(o.path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("--journal cannot be written: %w; choose another place", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("--journal: %w", err)
	}
	if statErr != nil {
		return os.Remove(o.path)
	}
	return nil
}

// join writes the header of a new journal, or holds an old one against what is
// asked now: different fingerprints are never pooled.
func (o *openJournal) join(now sweep.Curve, old *sweep.Curve) (sweep.Curve, error) {
	if o.path == "" {
		return now, nil
	}
	if old == nil {
		j, err := sweep.CreateJournal(o.path, now)
		if err != nil {
			return now, journalError(err)
		}
		o.j = j
		return now, nil
	}
	if diff := old.Fingerprint.Diff(now.Fingerprint); len(diff) > 0 {
		return now, badInputf("%s was measured under another fingerprint (%s); use a new --journal", o.path, strings.Join(diff, "; "))
	}
	if diff := old.Plan.Diff(now.Plan); len(diff) > 0 {
		return now, badInputf("%s was planned differently (%s); use a new --journal or the same flags", o.path, strings.Join(diff, "; "))
	}
	// The old calibration of prompt lengths keeps the prompts the same.
	now.Runs, now.Started, now.Preflight = old.Runs, old.Started, old.Preflight
	return now, nil
}

// readJournal reads without measuring.
func readJournal(path string) (sweep.Curve, error) {
	c, err := sweep.ReadJournal(path)
	if err != nil {
		return c, journalError(err)
	}
	return c, nil
}

// journalError: a damaged or missing journal is the user's input, a disk that
// fails is the world.
func journalError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return badInput(err)
}
