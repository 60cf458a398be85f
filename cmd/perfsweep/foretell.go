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
single requests as every campaign, puts no load on it, and writes nothing.`

// foretell is --plan: what the campaign would take, with nothing measured.
// apart is the time that its windows must be apart, 0 where one is enough; files
// are what it would write beside the journal.
func (c *campaign) foretell(ctx context.Context, apart time.Duration, files ...string) error {
	switch {
	case c.output == "csv":
		return badInputf("--plan has no CSV form; use -o text or -o json")
	case c.flags.deploy.on:
		return badInputf("--plan asks the target, which --deploy has not brought up: drop one of them")
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
	t, err := c.resolve(ctx)
	if err != nil {
		return err
	}
	defer c.release(ctx, t)
	if err := c.chooseWindow(old); err != nil {
		return err
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
	p := report.Plan{
		Target: t.public, GPUs: t.gpus, Model: curve.Fingerprint.Model, Effort: curve.Plan.Effort, RunsDone: len(curve.Runs),
		Outlook: curve.Outlook(), MaxWall: curve.Plan.MaxWall, Peak: curve.Plan.Peak(), Ceiling: knownCeiling(),
		Files: files, Permissions: []string{"HTTP to " + t.public + ", with its API key if it wants one"},
	}
	if t.simulated {
		p.Permissions = []string{"none: the simulator runs in this process"}
	}
	if t.place != nil {
		p.Permissions = []string{"in the namespace of the load generators: create, get, list and delete jobs.batch; create and delete secrets; list and get pods; get pods/log; list events; and from outside the cluster create pods/proxy"}
	}
	if c.flags.journal != "" {
		p.Files = append([]string{c.flags.journal}, files...)
	}
	if d := sweep.NextStep(curve.Plan, curve.Runs); d.Done {
		p.Finished = d.Reason
	}
	if gap := curve.Preflight.ChunkGapMS; gap > 0 {
		p.PeakChunksPerSec = float64(p.Peak*t.gpus) * 1000 / gap
	}
	if apart > 0 && curve.Plan.Window < 2 && !t.simulated { // C6 is waived there
		_, p.WindowRuns = sweep.WindowAttempts(2)
		p.WindowsApart = apart
	}
	return c.printPlan(p)
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
