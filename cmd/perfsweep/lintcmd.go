package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/recipes"
)

// maxOverlay bounds what is read as an overlay; real ones are a few KiB.
const maxOverlay = 4 << 20

func (a *app) lintCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "lint OVERLAY…",
		Short: "List every mistake in overlays, with line and column",
		Long: `lint reads AICR overlays and lists every mistake in their performance gate with
line, column, rule and remedy. It ends with 0 when there is no error (warnings
are printed), and with 2 otherwise.`,
		Example: "  perfsweep lint recipes/overlays/*.yaml",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return badInputf("lint needs at least one OVERLAY; see %q", c.CommandPath()+" --help")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var all []recipes.Finding
			for _, path := range args {
				b, err := readOverlay(path)
				if err != nil {
					return err
				}
				all = append(all, recipes.Lint(path, b)...)
			}
			if err := report.Findings(a.out, a.output, all, len(args)); err != nil {
				return err
			}
			for _, f := range all {
				if f.Severity == "error" {
					return verdict{exitInput}
				}
			}
			return nil
		},
	}
}

// overlayFile is an overlay as it was read.
type overlayFile struct {
	*recipes.Overlay
	src     []byte
	gate    recipes.Gate // its inputs are there even where the check is off
	enabled bool
}

func openOverlay(path string) (o overlayFile, err error) {
	if o.src, err = readOverlay(path); err != nil {
		return o, err
	}
	if o.Overlay, err = recipes.Parse(path, o.src); err != nil {
		return o, err
	}
	o.gate, o.enabled, err = o.Gate()
	return o, err
}

// readOverlay reads a bounded overlay file.
func readOverlay(path string) ([]byte, error) {
	info, err := regularFile(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxOverlay {
		return nil, badInputf("%s: %d bytes is too large for an overlay", path, info.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, badInput(err)
	}
	return b, nil
}
