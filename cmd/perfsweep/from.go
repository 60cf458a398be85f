package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

const fromHelp = `--from BUNDLE writes from what a bundle carries and measures nothing. The bundle is
verified first, and judged by the flags of this command: what is decided there, such
as --floor-profile or --allow-simulated, is given again. Anchors, approvals and the
comparison with AICR's template come with it. Several bundles, one a cluster, that
measured the same thing (--label cluster=NAME) give one gate: each must meet every
gate by itself but the second window, which the others are, and is held against the
others. From 3 clusters on the floor's tolerance limit speaks of a further cluster,
and comment and sidecar say which ones it rests on.`

// fromArgs lets bundles follow --from as a shell spells them, --from *.bundle.
func (f *calibrateFlags) fromArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 && !c.Flags().Changed("from") {
		return noArgs(c, args)
	}
	return nil
}

// calibrateFrom is calibrate on bundles in the place of a target and a journal.
func (a *app) calibrateFrom(f *calibrateFlags, ov overlayFile, policy calibrate.Policy, unchecked []string) error {
	var clusters []calibrate.Cluster
	for _, path := range f.bundle.from {
		c, err := openCarried(path)
		if err != nil {
			return err
		}
		clusters = append(clusters, c.cluster(policy))
	}
	one := clusters[0]
	var p calibrate.Proposal
	if len(clusters) == 1 {
		p = calibrate.Propose(one.Curve, ov.gate, one.Policy)
	} else {
		pooled, err := calibrate.Pool(clusters, ov.gate)
		var refused *calibrate.NotPoolableError
		if errors.As(err, &refused) {
			a.write(a.err, "perfsweep: %s\n", refused)
			return verdict{exitInconclusive}
		}
		if err != nil {
			return badInputf("--from: %w", err)
		}
		p, one = pooled.Proposal, pooled.Cluster
	}
	if p.Err != nil {
		return badInputf("%s: %w", f.overlay, p.Err)
	}
	refuseDisaggregated(&p, one.Curve.Fingerprint.Labels)
	return a.answerCalibrate(f, ov, conclusion{policy: one.Policy, findings: attribute(one.Curve.Runs, one.Curve.Fingerprint.GPUs), proposal: p}, one.Curve, unchecked)
}

// openCarried reads a bundle that is to be written from: one that does not verify
// is no evidence.
func openCarried(path string) (carried, error) {
	c, v, err := verifyFile(path, nil)
	switch {
	case err != nil:
		return c, fmt.Errorf("--from: %w", err)
	case len(v.Differences) > 0:
		d := v.Differences[0]
		return c, badInputf("--from %s does not verify: %s: %s, and %d more; see perfsweep verify", path, d.Part, d.Field, len(v.Differences)-1)
	case !v.Signature.Good():
		return c, badInputf("--from %s: its signature %s", path, v.Signature)
	}
	if err := recipes.ValidModel(c.curve.Fingerprint.Model); err != nil {
		return c, badInputf("--from %s: %w", path, err)
	}
	for _, j := range append([]sweep.Curve{c.curve}, c.anchorCurves()...) {
		if odd := calibrate.OddDates(j, time.Now()); odd != "" {
			return c, badInputf("--from %s: %s; was the clock of that cluster set?", path, odd)
		}
	}
	return c, nil
}

func (c carried) anchorCurves() []sweep.Curve {
	var out []sweep.Curve
	for _, list := range c.others {
		for _, a := range list {
			out = append(out, a.Curve)
		}
	}
	return out
}

// cluster is what a bundle carries under the policy of this command.
func (c carried) cluster(p calibrate.Policy) calibrate.Cluster {
	own := c.policy()
	p.Journal = own.Journal
	p.Anchors = append(append([]calibrate.AnchorJournal{}, p.Anchors...), own.Anchors...)
	p.Scaling = append(append([]calibrate.AnchorJournal{}, p.Scaling...), own.Scaling...)
	p.Approvals = append(append([]calibrate.Approval{}, p.Approvals...), own.Approvals...)
	if p.Deployment == nil {
		p.Compared = own.Compared
	}
	p.FrontendBound, p.Frontends = c.record.FrontendBound, c.record.Frontends
	return calibrate.Cluster{Name: c.path, Curve: c.curve, Policy: p}
}

// checkFrom refuses flags that would be ignored silently.
func (f *calibrateFlags) checkFrom(cam *campaign) error {
	if len(f.bundle.from) == 0 {
		return nil
	}
	for _, n := range []string{"target", "journal", "resume", "bundle", "approve", "plan"} {
		if cam.changed(n) {
			return badInputf("--from takes what bundles hold and measures nothing: drop --%s", n)
		}
	}
	f.spec.carried = true
	cam.flags.journal = strings.Join(f.bundle.from, ", ") // in messages
	return errors.Join(checkSLO(cam.flags.sloTTFTMS), cam.refuseMeasuring())
}

// answerCalibrate completes what is told of a conclusion, writes and shows it.
func (a *app) answerCalibrate(f *calibrateFlags, ov overlayFile, c conclusion, curve sweep.Curve, unchecked []string) error {
	p := c.proposal
	if f.explain {
		p.Fit = knee.Find(curve.Points(), knee.Options{EStar: curve.Plan.EStar, Explain: true})
	}
	if c.ended != "" {
		p.Reasons = append(p.Reasons, c.ended)
	}
	p.Reasons = append(p.Reasons, unchecked...)
	clusters := 0
	if others := len(c.policy.Clusters); others > 0 {
		clusters = others + 1
	}
	return a.finishCalibrate(f, ov, c.policy, report.Calibration{
		Clusters: clusters, Curve: curve, Proposal: p, Overlay: f.overlay, Reconfirm: c.reconfirm, Explain: f.explain, Findings: c.findings, Stalls: stalls(curve.Runs),
		Objective: objectiveOf(curve.Plan.Objective, curve.Runs, curve.Fingerprint.GPUs), Ended: c.ended, Unchecked: unchecked,
	})
}
