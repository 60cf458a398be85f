package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
)

// maxOverlay bounds what is read as an overlay; real ones are a few KiB.
const maxOverlay = 4 << 20

type lintFlags struct {
	resolved  bool
	recipes   string
	validator string
	sidecar   string
	maxAge    int
	data      string // over recipes, which is then set
}

func (a *app) lintCmd() *cobra.Command {
	var f lintFlags
	c := &cobra.Command{
		Use:   "lint [--resolved] OVERLAY…",
		Short: "List every mistake in overlays, with line and column",
		Long: `lint reads AICR overlays and lists every mistake in their performance gate with
line, column, rule and remedy. Mixins and validator catalogs may be among the
files; the validator that a catalog pins is then held against the overlays.

--resolved follows base, intermediates, independent overlays and mixins with
AICR's merge rule, shows where each value of the gate comes from, and judges the
whole chain, with validators/catalog.yaml of its folder. Without it the chain of
a file whose parent lies beside it is judged as well; of another file the findings
say what only a parent can tell. -o sarif writes SARIF 2.1.0 for code scanning.

Where calibrate left a sidecar beside an overlay (OVERLAY.provenance.json, or
--sidecar FILE), the gate and the text are held against it: a threshold that was
edited since, a floor far from what was measured, a measurement of another model,
load, router or image or one that is old, a write that was interrupted, and a
sidecar that is damaged. A comment that calibrate wrote without a sidecar beside
it is a warning (sidecar-missing).

It ends with 0 when there is no error (warnings are printed), and with 2
otherwise.`,
		Example: "  perfsweep lint recipes/overlays/*.yaml\n  perfsweep lint --resolved -o json recipes/overlays/h100-eks-ubuntu-inference-dynamo.yaml",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return badInputf("lint needs at least one OVERLAY; see %q", c.CommandPath()+" --help")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.runLint(c.Flags(), &f, args) },
	}
	fl := c.Flags()
	fl.BoolVar(&f.resolved, "resolved", false, "follow base, independent overlays and mixins; show where each value comes from")
	fl.StringVar(&f.recipes, "recipes", "", recipesUsage)
	fl.StringVar(&f.validator, "validator", "", "image tag of the validator that will run the overlays: its release, such as v0.21.1, or latest")
	fl.StringVar(&f.sidecar, "sidecar", "", sidecarUsage+"; for a single overlay")
	fl.IntVar(&f.maxAge, "max-age", 180, "days after which a recorded measurement is stale; 0 never")
	return c
}

func (a *app) runLint(c *pflag.FlagSet, f *lintFlags, args []string) error {
	age, err := maxAge(f.maxAge)
	if err != nil {
		return err
	}
	if f.sidecar != "" && len(args) > 1 {
		return badInputf("--sidecar %s is of one overlay, and %s %s given; lint them one by one", f.sidecar, plural.Of(len(args), "file"), plural.Verb(len(args), "was", "were"))
	}
	if c.Changed("validator") {
		if err := recipes.CheckValidator(f.validator); err != nil {
			return badInputf("--validator: %w", err)
		}
	}
	opt := recipes.Options{Today: time.Now(), MaxAge: age, Validator: f.validator}
	if f.resolved {
		if args, err = withCatalogs(f.recipes, args); err != nil {
			return err
		}
	}
	sources, router := make([][]byte, len(args)), ""
	for i, path := range args {
		if sources[i], err = readOverlay(path); err != nil {
			return err
		}
		if opt.Validator == "" {
			opt.Validator = recipes.CatalogValidator(sources[i])
		}
		if router == "" {
			router = recipes.CatalogRouter(sources[i])
		}
	}
	l := report.Lint{Files: len(args), Rules: append(recipes.Rules(), calibrate.SidecarRules()...)}
	for i, path := range args {
		one := calibrate.SidecarLint{File: path, Source: sources[i], Router: router, Options: opt}
		found, err := f.lintFile(&one)
		if err != nil {
			return err
		}
		if f.resolved && one.Resolved != nil {
			l.Resolved = append(l.Resolved, one.Resolved)
		}
		l.Add(found)
	}
	if err := report.Findings(a.out, a.output, l); err != nil {
		return err
	}
	for _, f := range l.Findings {
		if f.Severity == recipes.SeverityError {
			return verdict{exitInput}
		}
	}
	return nil
}

// mostDays is a hundred years: a number that a duration does not hold would turn round.
const mostDays = 36500

// maxAge is the value of --max-age.
func maxAge(days int) (time.Duration, error) {
	if days < 0 || days > mostDays {
		return 0, badInputf("--max-age %d: must be between 0 and %d days", days, mostDays)
	}
	return time.Duration(days) * 24 * time.Hour, nil
}

// lintFile lints one file, with its chain and its sidecar where there are any.
func (f *lintFlags) lintFile(s *calibrate.SidecarLint) (found []recipes.Finding, err error) {
	s.Overlay, err = recipes.Parse(s.File, s.Source)
	if err != nil { // what does not parse has neither
		return recipes.LintWith(s.File, s.Source, s.Options), nil
	}
	if f.resolved || f.data != "" || parentAtHand(f.recipes, s.File, s.Overlay) {
		if s.Resolved, err = f.resolve(s.File, s.Overlay); err != nil {
			return nil, err
		}
		found = recipes.LintResolved(s.File, s.Source, s.Resolved, s.Options)
	} else {
		found = recipes.LintWith(s.File, s.Source, s.Options)
	}
	s.Name = sidecarFile(f.sidecar, s.File)
	if s.Content, err = sidecarBytes(f.sidecar, s.File); err != nil {
		return found, err
	}
	return s.Lint(found), nil
}

// overlayFile is an overlay as it was read.
type overlayFile struct {
	*recipes.Overlay
	src     []byte
	gate    recipes.Gate // its inputs are there even where the check is off
	enabled bool
}

func (f *lintFlags) resolve(path string, o *recipes.Overlay) (*recipes.Resolved, error) {
	if f.data != "" {
		return resolveOver(f.data, f.recipes, path, o)
	}
	return resolveOverlay(f.recipes, path, o)
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
		return nil, badInputf("%s: %d bytes is too large for an overlay; name the overlay itself", path, info.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, badInput(err)
	}
	return b, nil
}
