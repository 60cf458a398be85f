package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/sweep"
)

const planHelp = `--plan says what the campaign would take and ends: runs, minutes, GPU-hours, peak
streams against what this machine was found to read (selftest), what is written
where, and which permissions it needs. It looks at the target with the same few
single requests as every campaign, puts no load on it, and writes nothing. Of a
k8s: target, with --deploy too, it reads what the cluster knows and starts no pod:
it names what would be made there, and asks the API server for each right that this
takes; it ends with 1 where one is missing.`

// foretell is --plan: what the campaign would take, with nothing measured.
// apart is the time that its windows must be apart, 0 where one is enough; files
// are what it would write beside the journal.
func (c *campaign) foretell(ctx context.Context, apart time.Duration, files ...string) error {
	switch {
	case c.output == "csv":
		return badInputf("--plan has no CSV form; use -o text or -o json")
	case c.flags.target == "":
		return badInputf("--plan foretells what would be measured: give --target")
	}
	if err := c.checkFlags(); err != nil {
		return err
	}
	spec, labels, err := c.asked()
	if err != nil {
		return err
	}
	old, err := c.peekJournal()
	if err != nil {
		return err
	}
	if c.flags.journal != "" {
		files = append([]string{c.flags.journal}, files...)
	}
	if c.flags.deploy.on {
		return c.foretellDeploying(ctx, apart, spec, labels, old, files)
	}
	t, err := c.resolve(ctx)
	if err != nil {
		return err
	}
	defer c.release(ctx, t)
	if err := c.chooseWindow(old); err != nil {
		return err
	}
	if t.place != nil {
		return c.foretellLoading(ctx, t, apart, spec, labels, old, files)
	}
	curve, _, err := c.preflight(ctx, t, spec, labels)
	if err != nil {
		return err
	}
	if old != nil { // nothing is written: the journal is there already
		j := openJournal{path: c.flags.journal}
		if curve, _, err = c.join(curve, &j, old, c.elsewhere(old, curve)); err != nil {
			return err
		}
	}
	if err := c.refereed(ctx); err != nil {
		return err
	}
	p := planOf(curve, c.bridge.planned(), apart, files)
	c.tellPooling(&p, curve)
	p.Ceiling, p.Permissions = knownCeiling(), []string{"HTTP to " + t.public + ", with its API key if it wants one"}
	if t.simulated {
		p.Permissions = []string{"none: the simulator runs in this process"}
	}
	return c.printPlan(p)
}

// planOf is what a campaign would take from where its journal is.
func planOf(curve sweep.Curve, pairs sweep.BridgePlan, apart time.Duration, files []string) report.Plan {
	f := curve.Fingerprint
	p := report.Plan{
		Target: f.Target, GPUs: f.GPUs, Model: f.Model, Effort: curve.Plan.Effort, FirstLook: curve.FirstLook() && curve.Plan.Confirm, RunsDone: len(curve.Runs),
		Outlook: curve.OutlookWith(pairs), MaxWall: curve.Plan.MaxWall, Peak: curve.Plan.Peak(), Files: files,
	}
	if d := sweep.NextStep(curve.Plan, curve.Runs); d.Done && p.Outlook.Runs == 0 {
		p.Finished = d.Reason
	}
	p.Untimed = p.Finished == "" && curve.Preflight.E2EMS <= 0
	if gap := curve.Preflight.ChunkGapMS; gap > 0 {
		p.PeakChunksPerSec = float64(p.Peak*f.GPUs) * 1000 / gap
	}
	if apart > 0 && curve.Plan.Window < 2 && !f.Simulated { // C6 is waived there
		p.WindowRuns, p.WindowsApart = windowRuns(), apart
	}
	return p
}

// writes names the files that would be made or changed beside the journal.
func (f *calibrateFlags) writes() (files []string) {
	if f.bundle.file != "" {
		files = append(files, f.bundle.file)
	}
	if !f.write {
		return files
	}
	files = append(files, f.overlay, sidecarFile(f.sidecar, f.overlay))
	if path := f.data.registry(); path != "" {
		files = append(files, path)
	}
	return files
}

// windowRuns is the most runs of a further window: an attempt is two.
func windowRuns() int {
	_, attempts := sweep.WindowAttempts(2)
	return 2 * attempts
}

func (c *campaign) printPlan(p report.Plan) error {
	if c.output == "json" {
		return report.PlanJSON(c.out, p)
	}
	return report.PlanText(c.out, p)
}

// peekJournal reads --journal without locking or mending it; nil where the
// campaign would begin it.
func (c *campaign) peekJournal() (*sweep.Curve, error) {
	path := c.flags.journal
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && c.flags.resume:
		return nil, nothingToResume(path)
	case errors.Is(err, os.ErrNotExist), err == nil && info.Size() == 0:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("--journal: %w", err)
	}
	old, err := readJournal(path)
	if errors.Is(err, sweep.ErrEmptyJournal) {
		return nil, nil
	}
	return &old, err
}
