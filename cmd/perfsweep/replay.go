package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/recipes"
)

// publicRecord is the value of --replay that means the record in this binary.
const publicRecord = "public"

const replayUsage = `judge known runs instead of measuring: a CSV of runs, or "public" for AICR's public record`

// runReplay holds gates against runs whose state is known. It needs no server.
func (a *app) runReplay(c *cobra.Command, f *checkFlags) error {
	allowed := []string{"replay", "overlay", "output", "quiet", "exit-codes"}
	var other string
	c.Flags().Visit(func(fl *pflag.Flag) {
		if !slices.Contains(allowed, fl.Name) && other == "" {
			other = fl.Name
		}
	})
	if other != "" {
		return badInputf("--%s says what to measure or to write, and --replay measures nothing; drop one of the two", other)
	}
	runs, err := knownRuns(f.replay)
	if err != nil {
		return err
	}
	gates, err := f.replayed(runs)
	if err != nil {
		return err
	}
	r := report.Replays{Record: f.replay, Runs: len(runs)}
	for _, one := range gates {
		if floor := calibrate.RecordFloor(one.HealthyPerGPU()); floor > 0 {
			one.ApplyRule(floor)
		}
		r.Gates = append(r.Gates, one)
	}
	if err := report.Replay(a.out, a.output, r); err != nil {
		return err
	}
	judged := 0
	for _, g := range r.Gates {
		if g.Gate.HealthyPassed < g.Gate.Healthy || g.Gate.BadCaught < g.Gate.Bad {
			return verdict{exitGateFailed}
		}
		judged += g.Gate.Healthy + g.Gate.Bad
	}
	if judged == 0 { // nothing was shown, which is no pass
		return verdict{exitInconclusive}
	}
	return nil
}

// replayed holds the gate of the overlay that is named, as its chain makes it, or
// those of the shipped overlays against the runs.
func (f *checkFlags) replayed(runs []recipes.KnownRun) ([]recipes.Replay, error) {
	if f.overlay != "" {
		ov, err := openOverlay(f.overlay)
		if err != nil {
			return nil, err
		}
		g, enabled, _, err := f.inForceGate(ov)
		return []recipes.Replay{recipes.ReplayGate(ov.Overlay, g, enabled, runs)}, err
	}
	overlays, err := recipes.Shipped()
	if err != nil {
		return nil, err
	}
	var out []recipes.Replay
	for _, o := range overlays {
		one, err := recipes.ReplayOverlay(o, runs)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func knownRuns(path string) ([]recipes.KnownRun, error) {
	if path == publicRecord {
		return recipes.PublicRuns()
	}
	if _, err := regularFile(path); err != nil {
		return nil, fmt.Errorf("--replay: %w", err)
	}
	fh, err := os.Open(path)
	if err != nil {
		return nil, badInput(err)
	}
	defer func() { _ = fh.Close() }() // only read
	runs, err := recipes.ReadRuns(fh)
	if err != nil {
		return nil, badInputf("--replay %s: %w", path, err)
	}
	return runs, nil
}
