package calibrate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
)

// SidecarLint is an overlay with the sidecar that it is held against.
type SidecarLint struct {
	Name    string // the sidecar's file
	Content []byte // nil where there is none
	Overlay *recipes.Overlay
	File    string // the overlay's
	Source  []byte
	// Resolved is the chain that the overlay ends, whose gate is the one in force;
	// nil for the file alone.
	Resolved *recipes.Resolved
	// Router is what a validator catalog sets; "" is that of AICR's template.
	Router string
	recipes.Options

	findings []recipes.Finding
}

// SidecarRules are the rules that only a sidecar, or that there is none, can break. It also decides some
// of recipes.Rules: stale-provenance, floor-slack, floor-above-measured and
// provisional, which without one rest on what a comment says.
func SidecarRules() []recipes.Rule {
	const e, w = recipes.SeverityError, recipes.SeverityWarning
	return []recipes.Rule{
		{Name: "sidecar-missing", Severity: w, Summary: "The comment is one that calibrate wrote, and the sidecar that it wrote with it is not there.", Remedy: bringSidecar},
		{Name: "sidecar-damaged", Severity: e, Summary: "The sidecar of provenance cannot be read, or contradicts itself.", Remedy: calibrateAgain},
		{Name: "sidecar-interrupted", Severity: e, Summary: "A write ended between sidecar and overlay, so that they belong to two calibrations.", Remedy: writeAgain},
		{Name: "gate-edited", Severity: e, Summary: "A threshold is no longer the one that was calibrated.", Remedy: restoreGate},
		{Name: "overlay-edited", Severity: w, Summary: "The overlay's text changed after it was written, its gate did not.", Remedy: rehash},
	}
}

const (
	bringSidecar   = "bring the sidecar back from where the overlay was written, name it with --sidecar FILE, or calibrate again"
	calibrateAgain = "calibrate again, or restore the file"
	writeAgain     = "run the same perfsweep calibrate --write again"
	restoreGate    = "restore the value, or calibrate again: nothing that was measured supports another one"
	rehash         = "look at the change; perfsweep calibrate --journal JOURNAL --write records the new text"
	measureAgain   = "run perfsweep calibrate again"
)

// Lint joins to what an overlay's own lint found what its sidecar tells. Where
// a sidecar can be read, its numbers stand for those of the comment.
func (s SidecarLint) Lint(own []recipes.Finding) []recipes.Finding {
	if s.Content == nil {
		return recipes.SortFindings(append(own, s.missing()...))
	}
	p, err := ParseProvenance(s.Name, s.Content)
	if err != nil {
		line, col := placeOf(s.Content, err)
		return append(own, recipes.Finding{File: s.Name, Line: line, Col: col, Rule: "sidecar-damaged", Severity: recipes.SeverityError, Message: err.Error(), Remedy: calibrateAgain})
	}
	g, _, err := s.Overlay.Gate()
	if s.Resolved != nil && err == nil {
		g = s.Resolved.Gate
	}
	known := err == nil // else its error is a finding already
	if s.interrupted(p, g, known) {
		return recipes.SortFindings(append(own, s.findings...))
	}
	s.age(p)
	s.router(p)
	s.image(p)
	if p.Outcome == OutcomeSimulated {
		s.add("", "provisional", recipes.SeverityWarning, s.Name+" says SIMULATED: the values were not calibrated on hardware", "run perfsweep calibrate on a real target")
	}
	if known {
		s.gate(p, g)
		s.floor(p, g)
	}
	mine := func(f recipes.Finding) bool {
		if slices.ContainsFunc(s.findings, func(o recipes.Finding) bool { return o.Rule == f.Rule && f.Rule == "provisional" }) {
			return f.File == s.File
		}
		return f.File == s.File && slices.Contains([]string{"stale-provenance", "floor-slack", "floor-above-measured"}, f.Rule)
	}
	return recipes.SortFindings(append(slices.DeleteFunc(own, mine), s.findings...))
}

// missing tells a comment of calibrate whose sidecar is not beside it. One that says
// provisional was written from a record, and never had any.
func (s *SidecarLint) missing() []recipes.Finding {
	line, col, status := s.Overlay.Managed()
	if line == 0 || status == "provisional" {
		return nil
	}
	return []recipes.Finding{{File: s.File, Line: line, Col: col, Rule: "sidecar-missing", Severity: recipes.SeverityWarning,
		Message: fmt.Sprintf("no %s beside it: what this comment says was measured, and whether the gate was edited since, cannot be told", s.Name), Remedy: bringSidecar}}
}

// add puts a finding at the value of a constraint, or at that which overrides
// it in the chain; name "" is the first threshold.
func (s *SidecarLint) add(name, rule, severity, msg, remedy string) {
	f := recipes.Finding{File: s.File, Rule: rule, Severity: severity, Message: msg, Remedy: remedy}
	f.Line, f.Col = s.Overlay.Find(name)
	if s.Resolved != nil {
		for _, c := range s.Resolved.Constraints {
			if c.Name == name && c.From.File != s.File {
				f.File, f.Line, f.Col = c.From.File, c.From.Line, 1
			}
		}
	}
	s.findings = append(s.findings, f)
}

// interrupted recognises a sidecar that is newer than its overlay. Where both
// have one gate no verdict depends on it.
func (s *SidecarLint) interrupted(p Provenance, g recipes.Gate, known bool) bool {
	h := hash(s.Source)
	if h != p.ReplacedOverlaySHA256 || h == p.OverlaySHA256 {
		return false
	}
	severity, what := recipes.SeverityError, "a gate that was never written"
	if known && len(p.edited(g)) == 0 {
		severity, what = recipes.SeverityWarning, "a comment that was never written"
	}
	s.add("", "sidecar-interrupted", severity, fmt.Sprintf("%s belongs to %s: calibrate --write was interrupted before it replaced the overlay", s.Name, what), writeAgain)
	return true
}

// gate compares thresholds and inputs with those that were written. An input
// says what was measured; a threshold is what was derived from it.
func (s *SidecarLint) gate(p Provenance, g recipes.Gate) {
	edits := p.edited(g)
	for _, e := range edits {
		switch e.name {
		case recipes.NameModel, recipes.NameConcurrency, recipes.NameRouting:
			s.add(e.name, "stale-provenance", recipes.SeverityError, "the gate was calibrated with another "+e.text(), measureAgain)
		default:
			s.add(e.name, "gate-edited", recipes.SeverityError, "edited after it was calibrated: "+e.text(), restoreGate)
		}
	}
	if len(edits) == 0 && hash(s.Source) != p.OverlaySHA256 {
		s.findings = append(s.findings, recipes.Finding{File: s.File, Line: 1, Col: 1, Rule: "overlay-edited", Severity: recipes.SeverityWarning,
			Message: fmt.Sprintf("the text is not the one that %s was written with (SHA-256 %.12s, not %.12s); its gate is", s.Name, hash(s.Source), p.OverlaySHA256), Remedy: rehash})
	}
}

// floor compares the floor in force with the runs that the sidecar holds.
func (s *SidecarLint) floor(p Provenance, g recipes.Gate) {
	name, floor, measured := recipes.NameFloorPerGPU, g.FloorPerGPU, p.Limits.Median
	if g.Floor > 0 {
		name, floor, measured = recipes.NameFloor, g.Floor, measured*float64(p.NodeGPUs)
	}
	if !positive(floor) || !positive(measured) {
		return
	}
	const derive = "derive it from the measured spread: perfsweep calibrate"
	switch {
	case floor > measured:
		s.add(name, "floor-above-measured", recipes.SeverityWarning, fmt.Sprintf("the floor %s is above the %s tok/s that %s records", num(floor), num(measured), s.Name), derive)
	case floor < measured/2:
		s.add(name, "floor-slack", recipes.SeverityWarning, fmt.Sprintf("the floor %s is %.0f %% of the %s tok/s that %s records; with the evaluator's 10 %% a loss of %.0f %% passes",
			num(floor), 100*floor/measured, num(measured), s.Name, 100-100*(1-recipes.Tolerance)*floor/measured), derive)
	}
}

// stale adds what does not break the gate, and takes away what it rests on.
func (s *SidecarLint) stale(format string, args ...any) {
	s.add("", "stale-provenance", recipes.SeverityWarning, fmt.Sprintf(format, args...), measureAgain)
}

func (s *SidecarLint) age(p Provenance) {
	if odd := p.OddDates(s.Today); odd != "" {
		s.stale("in %s %s", s.Name, odd)
	}
	last, _ := p.latest()
	measured, err := time.Parse(time.RFC3339, last)
	if err != nil {
		if measured, err = time.Parse(time.RFC3339, p.Written); err != nil {
			return
		}
	}
	if age := s.Today.Sub(measured); s.MaxAge > 0 && age > s.MaxAge {
		s.stale("the measurement in %s is of %s, %s ago", s.Name, measured.Format(time.DateOnly), plural.Of(int(age.Hours()/24), "day"))
	}
	if d := p.Tolerance - recipes.Tolerance; d > 1e-9 || d < -1e-9 {
		s.stale("the gate was calibrated for an evaluator's tolerance of %s, it is %s", num(p.Tolerance), num(recipes.Tolerance))
	}
}

// router compares the router that was measured with the one that the evaluator
// deploys. The two values of inference-routing-mode are among the gate's inputs.
func (s *SidecarLint) router(p Provenance) {
	now, was := s.Router, p.Fingerprint.RoutingMode
	if now == "" {
		now = recipes.TemplateRouter
	}
	if was != "" && was != routeDynamo && was != routeGateway && was != now {
		s.stale("the gate was calibrated with router %s, AICR's check deploys %s", printable(was), printable(now))
	}
}

// image compares the runtime that was measured with that of AICR's template,
// which no overlay names. Only two tags of one repository can be told apart.
func (s *SidecarLint) image(p Provenance) {
	name := func(image string) (repository, tag string) {
		image, _, _ = strings.Cut(image, "@")
		repository, tag, _ = strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
		return repository, tag
	}
	_, on := p.latest()
	was, wasTag := name(on.Labels["image"])
	now, nowTag := name(recipes.TemplateImage)
	if was == now && wasTag != "" && wasTag != nowTag {
		s.stale("the gate was calibrated with image %s, AICR's template has %s", printable(on.Labels["image"]), recipes.TemplateImage)
	}
}
