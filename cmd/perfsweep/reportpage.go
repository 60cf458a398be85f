package main

import (
	"path/filepath"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/compare"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// page reads the journals and judges what they hold.
func (f *reportFlags) page(paths []string, changed func(string) bool) (report.Page, error) {
	p := report.Page{Version: version}
	if f.sidecar != "" && f.overlay == "" {
		return p, badInputf("--sidecar belongs to --overlay FILE")
	}
	if len(paths) == 1 && (len(f.compare.across) > 0 || changed("gpus-b")) {
		return p, badInputf("--across and --gpus-b are for two journals; name a second one, or drop them")
	}
	o, err := f.compare.options(changed)
	if err != nil {
		return p, err
	}
	if len(paths) == 1 {
		p.A, err = f.side(paths[0], f.compare.gpus, f.overlay)
		return p, err
	}
	c := report.Comparison{NameA: filepath.Base(paths[0]), NameB: filepath.Base(paths[1]), Options: o}
	files := report.Comparison{NameA: paths[0], NameB: paths[1]}
	if err := f.compare.read(&files); err != nil {
		return p, err
	}
	c.A, c.B, c.Objective = files.A, files.B, files.Objective
	if c.Differences, err = sameThing(c.A, c.B, f.compare.across); err != nil {
		return p, err
	}
	if c.Report, err = compare.Curves(c.A, c.B, o); err != nil {
		return p, badInput(err)
	}
	a, b, err := f.pair(paths)
	if err != nil {
		return p, err
	}
	p.A, p.B, p.Comparison = a, &b, &c
	return p, nil
}

// pair reads the two sides of an overlay of curves; a gate is the first one's.
func (f *reportFlags) pair(paths []string) (a, b report.Side, err error) {
	gpusB := f.compare.gpusB
	if gpusB == 0 {
		gpusB = f.compare.gpus
	}
	tells := func(path string, gpus int) int { // what a file tells is not told again
		if at, err := curveAt(path); err != nil || at.tellsGPUs() {
			return 0
		}
		return gpus
	}
	if a, err = f.side(paths[0], tells(paths[0], f.compare.gpus), f.overlay); err != nil {
		return a, b, err
	}
	if b, err = f.side(paths[1], tells(paths[1], gpusB), ""); err != nil {
		return a, b, err
	}
	a.Letter, b.Letter = "A", "B"
	return a, b, nil
}

// side reads one journal, or the curve of another tool, and fits it.
func (f *reportFlags) side(path string, gpus int, overlay string) (report.Side, error) {
	s := report.Side{Name: filepath.Base(path)}
	at, err := curveAt(path)
	if err != nil {
		return s, err
	}
	if at.kind == curveJournal && gpus == 0 {
		c, err := readJournal(path)
		if err != nil {
			return s, err
		}
		return s, f.fromJournal(&s, path, c, overlay)
	}
	if overlay != "" {
		return s, badInputf("--overlay: %s is no journal of perfsweep, so no overlay was calibrated from it", path)
	}
	if s.Curve, s.Notes, err = readCurve(path, gpus); err != nil {
		return s, err
	}
	plan := sweep.DefaultPlan(sweep.Standard)
	s.Curve.Fit = knee.Find(s.Curve.Runs, knee.Options{EStar: plan.EStar})
	s.Curve.Point = sweep.ChoosePoint(plan, s.Curve.Fit, s.Curve.All)
	return s, nil
}

// fromJournal fills in a side from a journal, as it was planned.
func (f *reportFlags) fromJournal(s *report.Side, path string, c sweep.Curve, overlay string) error {
	fit := c.Fit()
	s.Started, s.LimitTTFTMS = c.Started, c.Plan.SLOMaxTTFTMS
	s.Curve = report.Curve{
		Runs: c.Points(), All: c.Runs, Fit: fit, Point: sweep.ChoosePoint(c.Plan, fit, c.Runs),
		Fingerprint: &c.Fingerprint, Preflight: &c.Preflight, Findings: attribute(c.Runs, c.Fingerprint.GPUs),
		Objective: objectiveOf(c.Plan.Objective, c.Runs, c.Fingerprint.GPUs),
	}
	s.Stalls = stallsOf(c.Runs)
	return f.judge(s, path, c, overlay)
}

// judge fills in the gates: as the overlay's sidecar has them where it was
// written from this very journal, else from the journal alone. A sweep writes
// nothing, so that only its runs are judged.
func (f *reportFlags) judge(s *report.Side, path string, c sweep.Curve, overlay string) error {
	var current recipes.Gate
	var written *calibrate.Provenance
	if overlay != "" {
		ov, err := openOverlay(overlay)
		if err != nil {
			return err
		}
		current = ov.gate
		if written, err = readSidecar(f.sidecar, overlay); err != nil {
			return err
		}
		if written == nil {
			s.Notes = append(s.Notes, "the overlay "+filepath.Base(overlay)+" has no provenance beside it: the gates are judged from the journal alone")
		}
	}
	source, err := sourceOf(path)
	if err != nil {
		return err
	}
	p := calibrate.Propose(c, current, calibrate.Policy{Journal: source})
	switch {
	case written != nil && written.Journal.SHA256 == source.SHA256:
		s.Gates = report.GatesWritten(*written, p.RunGates)
	case c.Plan.Confirm:
		s.Gates = report.GatesOf(p)
	default:
		s.Gates = &report.Gates{Run: p.RunGates}
	}
	if written != nil && written.Journal.SHA256 != source.SHA256 {
		s.Notes = append(s.Notes, "the overlay "+filepath.Base(overlay)+" was written from another journal, or from another state of this one: its gate is not shown")
	}
	return nil
}

// stallsOf are the events of each run that has any.
func stallsOf(runs []sweep.Run) map[int][]observe.Event {
	out := map[int][]observe.Event{}
	for _, r := range runs {
		if span, ok := saidOf(r.Servers); ok && len(span.Events) > 0 {
			out[r.Seq] = span.Events
		}
	}
	return out
}
