package recipes

import (
	"fmt"
	"slices"
)

// platform is the component without which AICR skips the inference check.
const platform = "dynamo-platform"

func (p *PosError) at(rule, msg, remedy string) *PosError {
	return &PosError{File: p.File, Line: p.Line, Col: p.Col, Rule: rule, Msg: msg, Remedy: remedy}
}

func (p Place) err(rule, msg, remedy string) *PosError {
	return &PosError{File: p.File, Line: p.Line, Col: 1, Rule: rule, Msg: msg, Remedy: remedy}
}

func (r *Resolved) constraint(name string) *ResolvedValue {
	if i := slices.IndexFunc(r.Constraints, func(v ResolvedValue) bool { return v.Name == name }); i >= 0 {
		return &r.Constraints[i]
	}
	return nil
}

// judge reads the merged gate and finds what only the chain can decide.
func (r *Resolved) judge(leaf *Overlay) {
	for _, v := range r.Constraints {
		if p := r.Gate.read(v.Name, v.Value); p != nil {
			r.find(SeverityError, v.From.err(p.rule, v.Name+": "+p.msg, p.remedy))
		}
	}
	own := linter{o: leaf}
	own.misplaced(leaf.root, "")
	for _, f := range own.findings {
		r.find(f.Severity, &PosError{File: f.File, Line: f.Line, Col: f.Col, Rule: f.Rule, Msg: f.Message, Remedy: f.Remedy})
	}
	check := slices.IndexFunc(r.Checks, func(v ResolvedValue) bool { return v.Name == CheckName })
	r.Enabled = check >= 0 && !r.Gate.Empty()
	r.bothFloors(r)
	severity := SeverityError
	if r.open {
		severity = SeverityWarning // what is missing may supply it
	}
	at := leaf.errAt(1, 1, "", "", "")
	if leaf.performance.present() {
		at = leaf.errNode(leaf.performance.key, "", "", "")
	}
	if check >= 0 && r.Gate.Empty() {
		r.find(severity, r.Checks[check].From.err("check-without-gate", CheckName+" is enabled but nothing is demanded in the whole chain: AICR skips it and exits 0", "add a floor and a ceiling"))
	}
	if check < 0 && !r.Gate.Empty() {
		r.find(SeverityWarning, at.at("gate-without-check", CheckName+" is in no checks of the chain, so the gate is never judged", "add it to checks, or remove the gate"))
	}
	if !r.Enabled {
		return
	}
	if r.Gate.Model == "" {
		r.find(SeverityWarning, at.at("no-model", "the resolved gate pins no model, so a compiled default can move it", "add "+NameModel))
	}
	if r.Gate.ConcurrencyPerGPU == 0 {
		r.find(SeverityWarning, at.at("no-concurrency", "the resolved gate pins no concurrency, so a compiled default can move it", "add "+NameConcurrency))
	}
	switch {
	case r.constraint(NameCeiling) == nil:
		r.find(SeverityWarning, at.at("one-threshold", "the resolved gate has a floor and no "+NameCeiling+": "+floorAlone, "add "+NameCeiling))
	case r.constraint(NameFloor) == nil && r.constraint(NameFloorPerGPU) == nil && !leaf.says(notGated):
		r.find(SeverityWarning, at.at("one-threshold", "the resolved gate has a ceiling and no floor: "+ceilingAlone, "add a floor, or say in the comment that throughput is not gated and why"))
	}
	if !r.components[platform] {
		r.find(severity, at.at("no-platform", platform+" is in no componentRefs of the chain: AICR skips "+CheckName+" and exits 0", "add the component, or take the check out"))
	}
	r.mergeDependent(leaf)
}

// bothFloors reports the two floor names in one chain, at the later one.
func (r *Resolved) bothFloors(to *Resolved) {
	a, b := r.constraint(NameFloor), r.constraint(NameFloorPerGPU)
	if a == nil || b == nil {
		return
	}
	late, early := *b, *a
	if r.rank(a.From) > r.rank(b.From) {
		late, early = *a, *b
	}
	to.find(SeverityError, late.From.err("both-floors", fmt.Sprintf("for %s, %s here and %s on line %d of %s contradict each other", clip(r.Name), late.Name, early.Name, early.From.Line, early.From.File),
		"remove one of the two; a later overlay cannot remove an inherited constraint by leaving it out"))
}

// rank orders places by application, then by line.
func (r *Resolved) rank(p Place) int {
	i := slices.IndexFunc(r.Sources, func(s Source) bool { return s.File == p.File && s.Overlay == p.Overlay })
	return i<<20 + p.Line
}

// mergeDependent compares with AICR before #1000, where the last phase in the
// chain replaced the whole of the earlier ones.
func (r *Resolved) mergeDependent(leaf *Overlay) {
	old, problems := leaf.readGate()
	if len(problems) > 0 || !leaf.performance.present() || old == r.Gate && slices.Contains(leaf.Checks(), CheckName) {
		return
	}
	r.find(SeverityWarning, leaf.errNode(leaf.performance.key, "merge-dependent", "part of the gate is inherited; an AICR from before NVIDIA/aicr#1000 lets this phase replace the inherited one and would judge less",
		"write check, inputs and thresholds here as well"))
}

// dependents finds the overlays for which this one, as it is, makes both floor
// names meet.
func (t *tree) dependents(to *Resolved, leaf *Overlay) {
	for _, name := range t.names() {
		o := t.overlays[name]
		if o == leaf || name == rootName {
			continue
		}
		r := t.resolve(o)
		if slices.ContainsFunc(r.Sources, func(s Source) bool { return s.Overlay == leaf.Name() && s.File == leaf.file }) {
			r.bothFloors(to)
		}
	}
}

// Forbids returns the first finding for which a gate must not be written. In a
// folder that is not a whole tree a missing parent or mixin is none: the file
// may be meant for a tree elsewhere, and then Open says what was not checked.
func (r *Resolved) Forbids() error {
	for _, f := range r.Findings {
		missing := f.Rule == "missing-parent" || f.Rule == "missing-mixin" || f.Rule == "unread-overlay" && f.Severity == SeverityWarning
		quiet := f.Rule == "no-platform" || missing && !r.WholeTree
		if (f.Severity == SeverityError || f.Rule == "unread-overlay") && !quiet {
			return &PosError{File: f.File, Line: f.Line, Col: f.Col, Rule: f.Rule, Msg: f.Message, Remedy: f.Remedy}
		}
	}
	return nil
}

// Refused returns the first finding for which the gate of the chain cannot be
// judged: values that are none, names that contradict each other, files that must be
// there. That AICR would skip the check is none: this program judges it all the same.
// Nor is what only an overlay that inherits from this one makes of it.
func (r *Resolved) Refused() error {
	for _, f := range r.Findings {
		missing := (f.Rule == "missing-parent" || f.Rule == "missing-mixin") && !r.WholeTree
		skipped := f.Rule == "no-platform" || f.Rule == "check-without-gate" || f.Rule == "misplaced-gate"
		child := f.Rule == "both-floors" && (r.constraint(NameFloor) == nil || r.constraint(NameFloorPerGPU) == nil)
		if f.Severity == SeverityError && !missing && !skipped && !child {
			return &PosError{File: f.File, Line: f.Line, Col: f.Col, Rule: f.Rule, Msg: f.Message, Remedy: f.Remedy}
		}
	}
	return nil
}

// Inherited lists the parts of the gate that do not stand in a file.
func (r *Resolved) Inherited(file string) []ResolvedValue {
	var out []ResolvedValue
	for _, v := range r.Constraints {
		if isManaged(v.Name) && v.From.File != file {
			out = append(out, v)
		}
	}
	return out
}

// Open lists what the resolution could not see.
func (r *Resolved) Open() []string {
	var list []string
	for _, f := range r.Findings {
		switch f.Rule {
		case "missing-parent", "missing-mixin", "unread-overlay":
			list = append(list, fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message))
		}
	}
	return list
}

// Proves reports where the chain makes another gate of the one that was
// written: a value from an overlay that is applied later, or a floor that is
// inherited although none is meant.
func (r *Resolved) Proves(want Gate) error {
	if want.RoutingMode == "" {
		want.RoutingMode = r.Gate.RoutingMode
	}
	if r.Gate == want && r.Enabled {
		return nil
	}
	var meant Gate
	for _, v := range r.Constraints {
		if !isManaged(v.Name) {
			continue
		}
		var is Gate
		is.read(v.Name, v.Value)
		i := slices.IndexFunc(want.constraints(), func(c constraint) bool { return c.name == v.Name })
		if i >= 0 {
			meant = Gate{}
			meant.read(v.Name, want.constraints()[i].value)
		}
		if i < 0 || is != meant {
			return v.From.err("inherited-gate", fmt.Sprintf("%s %q applies to %s after all; a leaf cannot remove it or be applied later", v.Name, clip(v.Value), clip(r.Name)), "change it there first")
		}
	}
	return &PosError{File: r.Name, Line: 1, Col: 1, Rule: "inherited-gate", Msg: "the resolved chain does not hold the gate that was written, or its check is off", Remedy: "see perfsweep lint --resolved"}
}
