package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

const bridgedCheckHelp = `A gate of calibrate --bridge is what AIPerf reads. Floor and ceiling are then divided
by the ratios of the sidecar's bridge again, so that perfsweep's readings are held
against perfsweep's; the answer states both. Where the overlay's comment names a
bridge and no sidecar has it, nothing passes (9).`

type checkFlags struct {
	history  checkHistory
	overlay  string
	nodeGPUs int
	baseline string
	sidecar  string
	replay   string
	files    checkFiles
	emulate  bool
	recipes  string
	data     dataFlags
}

func (a *app) checkCmd() *cobra.Command {
	var m measureFlags
	var f checkFlags
	c := &cobra.Command{
		Use:     "check --overlay FILE [--target T] [--journal FILE]",
		Short:   "Re-measure the overlay's operating point and judge it",
		Long:    checkLong + configHelp,
		Example: "  perfsweep check --overlay my.yaml --target http://127.0.0.1:8000 --gpus 4\n  perfsweep check --replay public",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.replay != "" {
				return a.runReplay(c, &f)
			}
			return a.runCheck(c.Context(), &campaign{app: a, flags: &m, changed: c.Flags().Changed, model: m.model}, &f)
		},
	}
	m.bind(c.Flags())
	fl := c.Flags()
	fl.StringVar(&f.overlay, "overlay", "", "AICR overlay whose gate is checked")
	fl.IntVar(&f.nodeGPUs, "node-gpus", 0, "GPUs of a full node, for an absolute floor on a partly used node")
	fl.StringVar(&f.baseline, "baseline", "", "journal of the calibration: adds the capacity pulse, and scales the agreement test with its run-to-run noise")
	fl.StringVar(&f.sidecar, "sidecar", "", sidecarUsage)
	fl.StringVar(&f.replay, "replay", "", replayUsage)
	fl.StringVar(&f.history.path, "history", "", historyUsage)
	f.files.bind(fl)
	fl.BoolVar(&f.emulate, "emulate-aicr", false, "also say what AICR's own evaluator would conclude from the same numbers")
	fl.StringVar(&f.recipes, "recipes", "", recipesUsage)
	fl.StringVar(&f.data.dir, "data", "", dataUsage)
	return c
}

// judgeFlags refuses what a check refuses before it opens anything.
func (f *checkFlags) judgeFlags(cam *campaign) error {
	if err := nodeGPUs(f.nodeGPUs, cam.changed); err != nil {
		return err
	}
	e, err := cam.flags.effortValue()
	if err != nil {
		return err
	}
	cam.plan = sweep.DefaultPlan(e)
	return cam.judgeFlags()
}

// inForce makes the overlay that is judged the one that counts: with --data the
// candidate over the one that was named, if there is one.
func (a *app) inForce(f *checkFlags) error {
	over, err := f.data.over(f.recipes, f.overlay)
	if err != nil || over == "" {
		return err
	}
	if _, err := os.Lstat(over); errors.Is(err, fs.ErrNotExist) {
		a.say("there is no %s: %s itself is checked", over, f.overlay)
		over = f.overlay
	}
	f.data.shipped, f.overlay = f.overlay, over
	return nil
}

// runCheck judges, and says so in files and on stdout.
func (a *app) runCheck(ctx context.Context, cam *campaign, f *checkFlags) error {
	if f.overlay == "" {
		return badInputf("check needs --overlay FILE, the AICR overlay whose gate is to be met; see %q", "perfsweep check --help")
	}
	if a.flagsOnly {
		return f.judgeFlags(cam)
	}
	if err := f.files.begin(f.overlay); err != nil {
		return err
	}
	r := report.CheckReport{Overlay: f.overlay}
	err := errors.Join(a.inForce(f), f.history.ready())
	if err == nil {
		r, err = a.check(ctx, cam, f)
	}
	var kept error
	if err == nil {
		kept = f.history.keep(&r)
	}
	saved := errors.Join(kept, f.files.save(report.CheckOutcome{CheckReport: r, Version: version, Err: err}))
	if err != nil {
		if r.AICR != nil { // AICR takes what is refused here
			if err := a.printCheck(r); !errors.As(err, new(verdict)) {
				saved = errors.Join(saved, err)
			}
		}
		return errors.Join(err, saved)
	}
	if r.Next == "" {
		r.Next = afterCheck(r, f.baseline, cam.flags.journal)
	}
	if err := a.printCheck(r); saved == nil {
		return err
	}
	return saved
}

// check measures what is missing and judges it.
func (a *app) check(ctx context.Context, cam *campaign, f *checkFlags) (report.CheckReport, error) {
	r := report.CheckReport{Overlay: f.overlay}
	if err := nodeGPUs(f.nodeGPUs, cam.changed); err != nil {
		return r, err
	}
	ov, err := openOverlay(f.overlay)
	if err != nil {
		return r, f.emulateRefused(cam, ov, &r, err)
	}
	gate, enabled, inherited, err := f.inForceGate(ov)
	if err != nil {
		return r, f.emulateRefused(cam, ov, &r, err)
	}
	if !enabled {
		// A disabled check is no gate, whatever constraints lie beside it.
		r.Result = calibrate.Check(recipes.Gate{}, sweep.Curve{}, f.nodeGPUs, nil)
		r.Result.Reasons = append(r.Result.Reasons, inherited...)
		return r, f.emulateAICR(ov.Overlay, &r)
	}
	if r.Inputs, err = f.checkInputs(gate, cam.model); err != nil {
		return r, f.emulateRefused(cam, ov, &r, err)
	}
	demanded := gate
	gate.ConcurrencyPerGPU = r.Inputs.ConcurrencyPerGPU
	if gate.Model == "" {
		gate.Model = r.Inputs.Model
	}
	sidecar, err := readSidecar(f.sidecar, f.overlay)
	if err != nil {
		return r, err
	}
	node, err := f.nodeSize(sidecar, demanded)
	if err != nil {
		return r, err
	}
	base, source, err := f.base()
	if err != nil {
		return r, err
	}
	e, err := cam.flags.effortValue()
	if err != nil {
		return r, err
	}
	if cam.flags.target != "" {
		if r.Next = otherEffort(sidecar, e, cam.flags.journal); r.Next != "" {
			cam.say("effort %s, and the gate was calibrated with %s: this check will be stale and inconclusive (9); sooner: %s", e, sidecar.Fingerprint.Effort, r.Next)
		}
	}
	cam.plan = sweep.DefaultPlan(e)
	cam.plan.Check, cam.plan.Point = true, gate.ConcurrencyPerGPU
	cam.plan.SLOMaxTTFTMS, cam.plan.MaxWall = cam.flags.sloTTFTMS, cam.flags.maxWall
	if planned, why := calibrate.PlanPulse(cam.plan, gate, base); why == "" {
		cam.plan = planned
	}
	cam.model, cam.modelFrom, cam.accelerator = r.Inputs.Model, modelNamedBy(r.Inputs), ov.Criterion("accelerator")
	if base != nil {
		cam.baselines = append(cam.baselines, knownWorkers{"the baseline", base.Fingerprint})
	}
	if sidecar != nil {
		cam.baselines = append(cam.baselines, knownWorkers{"the calibration of the sidecar", sidecar.Fingerprint})
	}
	if r.Curve, _, err = cam.measure(ctx); err != nil {
		return r, err
	}
	if base != nil {
		if why := calibrate.MeasuredAfter(*base, r.Curve); why != "" {
			return r, badInputf("--baseline %s: %s; give the journal of the calibration that the gate was written from, or check again with a new journal", f.baseline, why)
		}
	}
	r.Findings, r.Stalls = attributeRuns(r.Curve.Runs, r.Curve.Fingerprint.GPUs), stalls(r.Curve.Runs)
	side := calibrate.Sidecar{Name: sidecarFile(f.sidecar, f.overlay), Provenance: sidecar, Overlay: calibrate.OverlayState{Bytes: ov.src, Gate: demanded}, Accelerator: cam.accelerator, Baseline: source, Now: time.Now()}
	r.Result = side.Check(gate, r.Curve, f.nodeGPUs, base)
	r.Result.Reasons = append(append(r.Result.Reasons, inherited...), node...)
	if sidecar != nil {
		if odd := sidecar.OddDates(side.Now); odd != "" {
			r.Result.Reasons = append(r.Result.Reasons, "in "+side.Name+", "+odd)
		}
	}
	return r, f.emulateAICR(ov.Overlay, &r)
}

// base reads the baseline, nil where none is named.
func (f *checkFlags) base() (*sweep.Curve, calibrate.Source, error) {
	if f.baseline == "" {
		return nil, calibrate.Source{}, nil
	}
	all, err := readAnchors("--baseline", []string{f.baseline})
	if err != nil {
		return nil, calibrate.Source{}, err
	}
	return &all[0].Curve, all[0].Source, nil
}

func (a *app) printCheck(r report.CheckReport) error {
	var err error
	switch a.output {
	case "json":
		err = report.CheckJSON(a.out, r)
	case "csv":
		err = report.RunsCSV(a.out, r.Curve)
	default:
		err = report.CheckText(a.out, r)
	}
	if err != nil {
		return err
	}
	switch r.Result.Verdict {
	case calibrate.Pass:
		return nil
	case calibrate.Fail:
		return verdict{exitGateFailed}
	}
	return verdict{exitInconclusive}
}
