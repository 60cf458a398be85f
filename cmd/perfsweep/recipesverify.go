package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/bundle"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
)

func (a *app) recipesVerifyCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [DIR]",
		Short: "Compute the floors and ceilings of overlays again from their sidecars",
		Long: `verify reads every overlay in DIR (recipes/overlays) that has a sidecar beside it,
computes what follows from the gate runs that the sidecar keeps (limits, floor,
ceiling, what an evaluator compares with, the medians of clusters, hashes) and names
every value that is not the recorded one to the last bit. The overlay must be the
file that was written: its gate, and its bytes. An overlay without a sidecar is said
to have no evidence; one without sidecar and gate is left out, and so is a campaign
file that lies beside them, with a line.

What needs the journal is not computed: knee, operating point and gates. "perfsweep
verify BUNDLE" does that. How old a measurement is, and of which image, is told by
"perfsweep recipes status".

It ends with 8 where something differs, with 9 where no overlay has a sidecar, with
2 where an overlay cannot be read, else with 0.`,
		Example: "  perfsweep recipes verify recipes/overlays\n  perfsweep recipes verify -o json recipes/overlays",
		Args:    atMostOne("one DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := filepath.Join("recipes", "overlays")
			if len(args) > 0 {
				dir = args[0]
			}
			list, err := a.verifiedOverlays(dir)
			if err != nil {
				return err
			}
			if err := report.VerifiedOverlays(a.out, a.output, list); err != nil {
				return err
			}
			return verifiedVerdict(list)
		},
	}
}

func verifiedVerdict(list []report.VerifiedOverlay) error {
	seen := false
	for _, o := range list {
		if o.State == report.OverlayDiffers {
			return verdict{exitGateFailed}
		}
		seen = seen || o.State == report.OverlayVerified
	}
	if !seen {
		return verdict{exitInconclusive}
	}
	return nil
}

func (a *app) verifiedOverlays(dir string) ([]report.VerifiedOverlay, error) {
	files, err := a.overlayFiles(dir, "")
	if err != nil {
		return nil, err
	}
	var out []report.VerifiedOverlay
	for _, file := range files {
		ov, err := openOverlay(file)
		if err != nil {
			return nil, badInput(err)
		}
		side, err := sidecarBytes("", file)
		if err != nil {
			return nil, err
		}
		if side == nil && ov.gate.Empty() {
			continue
		}
		one, err := verifyOverlay(file, ov, side)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// verifyOverlay holds an overlay against its sidecar, and that against itself.
func verifyOverlay(file string, ov overlayFile, side []byte) (report.VerifiedOverlay, error) {
	out := report.VerifiedOverlay{Overlay: ov.Name(), File: file, Sidecar: sidecarFile("", file), State: report.OverlayNoEvidence, Differences: []bundle.Difference{}}
	if side == nil {
		return out, nil
	}
	out.State = report.OverlayVerified
	differ := func(d ...bundle.Difference) {
		out.Differences = append(out.Differences, d...)
		if len(out.Differences) > 0 {
			out.State = report.OverlayDiffers
		}
	}
	part := filepath.Base(out.Sidecar)
	p, err := calibrate.ParseProvenance(part, side)
	if err != nil {
		differ(bundle.Difference{Part: part, Field: "(whole)", Recorded: "no sidecar that can be relied on", Computed: err.Error()})
		return out, nil
	}
	for _, m := range p.Mismatches(calibrate.OverlayState{Bytes: ov.src, Gate: ov.gate}) {
		differ(bundle.Difference{Part: filepath.Base(file), Field: m.Name, Recorded: m.Sidecar, Computed: m.Overlay})
	}
	again, err := p.Recompute()
	if err != nil {
		differ(bundle.Difference{Part: part, Field: "baseline_runs", Recorded: "runs that give a limit", Computed: err.Error()})
		return out, nil
	}
	computed, err := again.Encode()
	if err != nil {
		return out, err
	}
	d, n := bundle.Compare(part, side, computed)
	differ(d...)
	out.Values, out.Runs = n, len(p.BaselineRuns)
	return out, nil
}
