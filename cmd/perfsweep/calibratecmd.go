package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

type calibrateFlags struct {
	overlay  string
	write    bool
	profile  string
	form     string
	nodeGPUs int
	gate     string
	point    int
	allowSim bool
	recipes  string
	sidecar  string
	journal  string // the campaign's
	anchor   anchorFlags
	explain  bool
	foretell bool // --plan
	spec     specFlags
	data     dataFlags
	bundle   bundleFlags
	bridge   bridgeFlags
	again    bool // --reconfirm
}

// calibration is what a calibration is decided from.
type calibration struct {
	overlay   overlayFile
	policy    calibrate.Policy
	unchecked []string
	curve     sweep.Curve
	decision  sweep.Decision
	reconfirm *calibrate.Reconfirmation // nil without --reconfirm
}

func (a *app) calibrateCmd() *cobra.Command {
	var m measureFlags
	var s sweepFlags
	var f calibrateFlags
	var w windowFlags
	c := &cobra.Command{
		Use:     "calibrate --overlay FILE [--target T] [--journal FILE] [--write]",
		Short:   "Measure, find the knee, confirm a point below it and set the overlay's gate",
		Long:    calibrateLong,
		Example: "  perfsweep calibrate --target sim:gb300 --effort quick --allow-simulated --overlay my.yaml --write",
		Args:    f.fromArgs,
		RunE: func(c *cobra.Command, args []string) error {
			f.bundle.from = append(f.bundle.from, args...)
			if err := f.anchor.check(c.Flags().Changed); err != nil {
				return err
			}
			p, err := s.plan(&m, c.Flags().Changed)
			if err != nil {
				return err
			}
			p.Confirm, p.Point = true, f.point
			cam := &campaign{app: a, flags: &m, changed: c.Flags().Changed, plan: p, model: m.model, overlay: true, windows: w, bridge: f.bridge, carried: f.bundle.file != ""}
			f.foretell = s.foretell
			return a.runCalibrate(c.Context(), cam, &f)
		},
	}
	m.bind(c.Flags())
	s.bind(c)
	w.bind(c.Flags())
	m.deploy.bindTimes(c.Flags())
	f.bind(c.Flags())
	return c
}

func (f *calibrateFlags) policy(slo float64, changed func(string) bool) (calibrate.Policy, error) {
	p := calibrate.Policy{
		Profile: calibrate.Profile(f.profile), Form: calibrate.Form(f.form), NodeGPUs: f.nodeGPUs,
		AllowSimulated: f.allowSim, SLOMaxTTFTMS: slo, TTFTOnly: f.gate == "ttft-only",
	}
	err := nodeGPUs(f.nodeGPUs, changed)
	switch {
	case f.overlay == "":
		return p, badInputf("calibrate needs --overlay FILE, the AICR overlay whose gate is to be set; see %q", "perfsweep calibrate --help")
	case p.Profile != calibrate.Portable && p.Profile != calibrate.Regression:
		return p, badInputf("--floor-profile %q: use portable or regression", f.profile)
	case p.Form != calibrate.KeepForm && p.Form != calibrate.PerGPU && p.Form != calibrate.Absolute:
		return p, badInputf("--floor-form %q: use per-gpu or absolute", f.form)
	case err != nil:
		return p, err
	case p.Form == calibrate.Absolute && f.nodeGPUs == 0:
		return p, badInputf("--floor-form absolute needs --node-gpus N, the GPUs of a full node")
	case f.gate != "both" && f.gate != "ttft-only":
		return p, badInputf("--gate %q: use both or ttft-only", f.gate)
	case changed("concurrency-per-gpu") && f.point < 1 || f.point > 4096:
		return p, badInputf("--concurrency-per-gpu %d: must be between 1 and 4096", f.point)
	}
	return p, nil
}

// nodeGPUs refuses a --node-gpus that no node has: a floor is multiplied and
// divided with it.
func nodeGPUs(n int, changed func(string) bool) error {
	if changed("node-gpus") && (n < 1 || n > sweep.MaxGPUs) {
		return badInputf("--node-gpus %d: must be between 1 and %d", n, sweep.MaxGPUs)
	}
	return nil
}

func (a *app) runCalibrate(ctx context.Context, cam *campaign, f *calibrateFlags) error {
	slo := 0.0 // the plan's, which may be a journal's
	if cam.changed("slo-ttft-ms") {
		slo = cam.flags.sloTTFTMS
	}
	policy, err := f.policy(slo, cam.changed)
	if err != nil {
		return err
	}
	if f.explain && a.output == "csv" {
		return badInputf("--explain has no CSV form; use -o text or -o json")
	}
	if a.flagsOnly {
		return f.judgeFlags(cam)
	}
	if err := f.checkFrom(cam); err != nil {
		return err
	}
	cam.windows.want = policy.Profile.WindowGap()
	if err := f.divert(); err != nil {
		return err
	}
	ov, err := f.open()
	if err != nil {
		return err
	}
	form, err := calibrate.ResolveForm(ov.gate, policy)
	if err != nil {
		return badInputf("%s: %w", f.overlay, err)
	}
	if policy.Approvals, err = f.anchor.read(f.overlay); err != nil {
		return err
	}
	if policy.Deployment, err = f.deployment(cam, ov); err != nil {
		return err
	}
	policy.AcceptDeploymentDiff = f.spec.accept
	policy.Accelerator, policy.Service = ov.Criterion("accelerator"), ov.Criterion("service")
	if f.anchor.approve != "" {
		return a.approveJournal(f, ov, policy)
	}
	if err := f.anchor.journals(&policy); err != nil {
		return err
	}
	cam.accelerator = policy.Accelerator
	unchecked, err := a.rehearse(f, ov, form)
	if err != nil {
		return err
	}
	if err := errors.Join(f.writable(), f.bundle.ready(cam.flags.journal)); err != nil {
		return err
	}
	if len(f.bundle.from) > 0 {
		policy.Now = time.Now()
		return a.calibrateFrom(f, ov, policy, unchecked)
	}
	if cam.model == "" {
		cam.model, cam.modelFrom = ov.gate.Model, "as the overlay says"
	}
	c := calibration{overlay: ov, policy: policy, unchecked: unchecked}
	if f.again {
		return a.runReconfirm(ctx, cam, f, c)
	}
	if f.foretell {
		return cam.foretell(ctx, cam.windows.want, f.writes()...)
	}
	if c.curve, c.decision, err = cam.measureDeployments(ctx); err != nil {
		return err
	}
	return a.judgeCalibration(cam, f, c)
}

// judgeCalibration decides on what was measured.
func (a *app) judgeCalibration(cam *campaign, f *calibrateFlags, c calibration) (err error) {
	ov, policy, curve, d, unchecked := c.overlay, c.policy, c.curve, c.decision, c.unchecked
	if err := recipes.ValidModel(curve.Fingerprint.Model); err != nil {
		return badInputf("%s: %w", cam.flags.journal, err)
	}
	if policy.Journal, err = sourceOf(cam.flags.journal); err != nil {
		return err
	}
	policy.Now, policy.BridgeAsked = time.Now(), cam.bridge.command != nil
	made := conclude(curve, ov.gate, policy)
	if made.proposal.Err != nil {
		return badInputf("%s: %w", f.overlay, made.proposal.Err)
	}
	if made.reconfirm = c.reconfirm; c.reconfirm != nil {
		made.proposal.Reasons = append(slices.Clone(c.reconfirm.Reasons), made.proposal.Reasons...)
	}
	packed := a.writeBundle(&f.bundle, cam.flags.journal, ov.gate, policy, [2][]string{f.anchor.anchors, f.anchor.scaling})
	if d.Reason != "" && !made.proposal.Writable {
		made.ended = d.Reason
	}
	f.journal = cam.flags.journal
	err = a.answerCalibrate(f, ov, made, curve, unchecked)
	if packed != nil { // the answer was printed, and what was asked for is not there
		return packed
	}
	return err
}

// writable tries, before anything is measured, what --write is to change.
func (f *calibrateFlags) writable() error {
	if !f.write {
		return nil
	}
	if err := checkWritable(f.overlay); err != nil {
		return err
	}
	return f.sidecarReady()
}

// deployment is what gate C11 looks at: a file's, or what --deploy makes.
func (f *calibrateFlags) deployment(cam *campaign, ov overlayFile) (*recipes.Deployment, error) {
	if err := cam.flags.deploy.check(cam.flags, cam.changed); err != nil {
		return nil, err
	}
	if f.spec.file == "" && cam.flags.deploy.on {
		return cam.flags.deploy.compared(cam.flags, cmp.Or(cam.model, ov.gate.Model))
	}
	return f.spec.read()
}

// finishCalibrate makes the edit, writes it if that is allowed, and shows it.
// What was measured is shown whatever became of the file.
func (a *app) finishCalibrate(f *calibrateFlags, ov overlayFile, policy calibrate.Policy, r report.Calibration) error {
	var failed error
	r.Shipped, r.Made = f.data.shipped, f.data.fresh
	if !r.Proposal.Gate.Empty() {
		edited, err := ov.SetGate(r.Proposal.Gate, r.Proposal.Comment)
		if err != nil {
			return err
		}
		r.Upstream = ov.UpstreamNeeds(r.Proposal.Gate)
		r.Diff = recipes.Diff(f.overlay, ov.src, edited)
		if r.Shipped != "" {
			r.Upstream = nil // a candidate is no change to AICR's repository
			r.Diff = f.data.fromShipped(r.Diff, f.overlay)
		}
		if f.write && r.Proposal.Writable {
			if _, failed = f.chainAllows(edited, r.Proposal.Gate); failed == nil {
				failed = f.writeOverlay(ov, edited, r, policy)
			}
			r.Wrote, r.Sidecar = failed == nil, sidecarFile(f.sidecar, f.overlay)
		}
	}
	switch from := len(f.bundle.from); {
	case failed != nil:
	case from > 0 && !r.Proposal.Writable: // to a bundle nothing is added
		r.Next = afterFrom(r, from)
	default:
		r.Next = cmp.Or(afterBundle(r, f.bundle.file), afterCalibration(r, f.write, f.journal))
	}
	err := a.printCalibration(r)
	if failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	if !r.Proposal.Writable {
		return verdict{exitInconclusive}
	}
	return nil
}

func (a *app) printCalibration(r report.Calibration) error {
	switch a.output {
	case "json":
		return report.CalibrationJSON(a.out, r)
	case "csv":
		return report.CurveCSV(a.out, report.Curve{Runs: r.Curve.Points(), Objective: r.Objective})
	}
	return report.CalibrationText(a.out, r)
}
