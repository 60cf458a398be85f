package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

const reconfirmHelp = `--reconfirm asks whether the gate still holds, such as after an image bump: it
measures half of the overlay's point, the point (3 attempts) and the next ladder
value, some ten runs, and holds them against the gate runs that the sidecar keeps.
What noise and the spread between deployments explain keeps the gate (0; --write
records it in the sidecar, and the overlay stays as it is). A change is told with
its interval, and the attempts that a new gate rests on are made at once: then it
proposes one, as always. Where the point is none any more it refuses (9): calibrate.`

// notReconfirmed are the flags that choose what is measured: here the sidecar does.
var notReconfirmed = [...]string{"concurrency-per-gpu", "levels", "repeats", "max-concurrency-per-gpu", "window", "window-gap", "deployments", "approve", "bundle", "from", "ttft-p99", "itl-p99"}

// reconfirming makes the campaign that of the sidecar, and reads it.
func (f *calibrateFlags) reconfirming(cam *campaign, ov overlayFile) (*calibrate.Provenance, error) {
	for _, n := range notReconfirmed {
		if cam.changed(n) {
			return nil, badInputf("--reconfirm measures the point of the overlay's own gate: drop --%s", n)
		}
	}
	if cam.flags.journal == "" {
		return nil, badInputf("--reconfirm needs --journal FILE: what it measures is the evidence for the gate")
	}
	name := sidecarFile(f.sidecar, f.overlay)
	p, err := readSidecar(f.sidecar, f.overlay)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return nil, badInputf("--reconfirm holds a gate against the runs that its sidecar keeps, and there is no %s: calibrate without --reconfirm", name)
	}
	if edits := p.Edits(ov.gate); len(edits) > 0 {
		return nil, badInputf("%s: the gate is not the one that %s was written for (%s): restore it, or calibrate without --reconfirm", f.overlay, name, strings.Join(edits, "; "))
	}
	if !cam.changed("effort") {
		cam.flags.effort, cam.plan.Effort = string(p.Fingerprint.Effort), p.Fingerprint.Effort
	}
	cam.plan.Point, cam.plan.Confirm, cam.plan.Reconfirm = p.Gate.ConcurrencyPerGPU, true, true
	if cam.flags.target == "" {
		return p, nil
	}
	if err := cam.checkFlags(); err != nil {
		return nil, err
	}
	spec, _, err := cam.asked()
	if err != nil {
		return nil, err
	}
	was, now := sweep.Fingerprint{Workload: p.Fingerprint.Workload, Effort: p.Fingerprint.Effort}, sweep.Fingerprint{Workload: spec, Effort: cam.plan.Effort}
	if diff := was.Diff(now); len(diff) > 0 {
		return nil, badInputf("the gate of %s was calibrated with other requests (%s): give the flags of its campaign", f.overlay, strings.Join(diff, "; "))
	}
	return p, nil
}

// reconfirm measures what a gate is held against again, and what a new one needs
// where it is not kept.
func (a *app) reconfirm(ctx context.Context, cam *campaign, f *calibrateFlags, p *calibrate.Provenance) (sweep.Curve, sweep.Decision, calibrate.Reconfirmation, error) {
	plan, model, name := cam.plan, cam.model, sidecarFile(f.sidecar, f.overlay)
	curve, d, err := cam.measure(ctx)
	if err != nil {
		return curve, d, calibrate.Reconfirmation{}, err
	}
	first := p.Reconfirm(name, curve, d)
	if first.State != calibrate.ReconfirmChanged || cam.flags.target == "" || cam.flags.deploy.on {
		return curve, d, first, nil
	}
	a.say("%s", first.Reasons[0])
	a.say("going on with the attempts that a new gate rests on")
	cam.plan, cam.model, cam.flags.resume = plan, model, true
	cam.plan.Reconfirm = false
	if curve, d, err = cam.measure(ctx); err != nil {
		return curve, d, first, err
	}
	if all := p.Reconfirm(name, curve, d); all.State != calibrate.ReconfirmRefused {
		return curve, d, all, nil
	}
	return curve, d, first, nil // why there is no point any more is in the proposal
}

// runReconfirm is calibrate --reconfirm.
func (a *app) runReconfirm(ctx context.Context, cam *campaign, f *calibrateFlags, c calibration) error {
	p, err := f.reconfirming(cam, c.overlay)
	if err != nil {
		return err
	}
	if f.foretell {
		return cam.foretell(ctx, 0, f.writes()...)
	}
	curve, d, r, err := a.reconfirm(ctx, cam, f, p)
	if err != nil {
		return err
	}
	if r.State == calibrate.ReconfirmChanged {
		c.curve, c.decision, c.reconfirm = curve, d, &r
		c.curve.Plan.Reconfirm = false
		return a.judgeCalibration(cam, f, c)
	}
	out := report.Reconfirm{Overlay: f.overlay, Point: p.Gate.ConcurrencyPerGPU, Sidecar: sidecarFile(f.sidecar, f.overlay), Curve: curve, Result: r}
	if r.State == calibrate.ReconfirmKept && f.write {
		if out.Wrote, err = f.recordReconfirmed(cam, p, curve, &out.Result); err != nil {
			return err
		}
	}
	if err := a.printReconfirm(out); err != nil {
		return err
	}
	if r.State != calibrate.ReconfirmKept || f.write && !out.Wrote {
		return verdict{exitInconclusive}
	}
	return nil
}

func (a *app) printReconfirm(r report.Reconfirm) error {
	switch a.output {
	case "json":
		return report.ReconfirmJSON(a.out, r)
	case "csv":
		return report.CurveCSV(a.out, report.Curve{Runs: r.Curve.Points()})
	}
	return report.ReconfirmText(a.out, r)
}

// recordReconfirmed writes the sidecar of a gate that is kept.
func (f *calibrateFlags) recordReconfirmed(cam *campaign, p *calibrate.Provenance, curve sweep.Curve, r *calibrate.Reconfirmation) (bool, error) {
	if curve.Fingerprint.Simulated && !f.allowSim {
		r.Reasons = append(r.Reasons, "a simulator was measured: it is recorded with --allow-simulated only")
		return false, nil
	}
	path := sidecarFile(f.sidecar, f.overlay)
	was, err := os.ReadFile(path)
	if err != nil {
		return false, fmt.Errorf("reading the provenance: %w", err)
	}
	src, err := sourceOf(cam.flags.journal)
	if err != nil {
		return false, err
	}
	text, err := p.KeepReconfirmed(*r, curve, src, time.Now()).Encode()
	if err != nil {
		return false, err
	}
	if err := recipes.WriteFiles(recipes.File{Path: path, Content: text, Was: was}); err != nil {
		return false, fmt.Errorf("the gate is kept, but that was not recorded: %w", err)
	}
	return true, nil
}
