package recipes

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const yamlMapping = yaml.MappingNode

// Place says where a value stands.
type Place struct {
	Overlay string `json:"overlay"` // its metadata.name
	File    string `json:"file"`
	Line    int    `json:"line"`
	Value   string `json:"value,omitempty"` // what stands there, where it is not the value in force
}

// Source is a file that takes part, in the order of application.
type Source struct {
	Overlay string `json:"overlay"`
	File    string `json:"file"`
	Role    string `json:"role"` // base, parent, independent, leaf or mixin
}

// ResolvedValue is a check (without a value) or a constraint of the performance
// phase, with the place that decides it and the places that it overrides.
type ResolvedValue struct {
	Name      string  `json:"name"`
	Value     string  `json:"value,omitempty"`
	From      Place   `json:"from"`
	Overrides []Place `json:"overrides,omitempty"`
}

// Resolved is what AICR makes of an overlay and all that it inherits.
type Resolved struct {
	Name        string          `json:"name"`
	Sources     []Source        `json:"sources"`
	Checks      []ResolvedValue `json:"checks"`
	Constraints []ResolvedValue `json:"constraints"`
	Gate        Gate            `json:"gate"`
	Enabled     bool            `json:"enabled"` // the check is on and something is demanded
	WholeTree   bool            `json:"whole_tree"`
	// Findings are about the chain; what one file alone decides is Lint's.
	Findings []Finding `json:"findings"`

	components map[string]bool
	open       bool // something is missing, so absence proves nothing
}

// Resolve follows base, intermediates, independent overlays that match the
// leaf's criteria, and mixins, and merges their performance phases as AICR does
// since NVIDIA/aicr#1000: lists are united by name, a later value wins, an
// explicit empty list clears, an absent or null one inherits. The least
// specific overlay comes first, and mixins last.
//
// fsys is the recipe folder with overlays/ and mixins/, or a folder of overlays;
// the leaf stands for the file of its name there, so that an edit can be
// resolved before it is written. root is put before each file name in what is
// returned. In a folder without base.yaml only overlays named -any count as
// independent. The error is about reading only: a cycle or a
// missing parent is a finding.
func Resolve(fsys fs.FS, root string, leaf *Overlay) (*Resolved, error) {
	t, err := loadTree(fsys, root, leaf)
	if err != nil {
		return nil, err
	}
	r := t.resolve(leaf)
	t.doubts(r, leaf)
	r.judge(leaf)
	t.dependents(r, leaf)
	return r, nil
}

// resolve merges; it judges only what stops a merge.
func (t *tree) resolve(leaf *Overlay) *Resolved {
	r := &Resolved{Name: leaf.Name(), Sources: []Source{}, Checks: []ResolvedValue{}, Constraints: []ResolvedValue{}, Findings: []Finding{}, WholeTree: t.base, components: map[string]bool{}}
	done := map[*Overlay]bool{}
	var mixins []*yaml.Node
	var mixinsOf []*Overlay
	apply := func(o *Overlay, role string) {
		if done[o] {
			return
		}
		done[o] = true
		r.merge(o, role)
		if list := lookup(o.spec.val, "mixins").val; list != nil && list.Kind == yaml.SequenceNode {
			for _, n := range list.Content {
				if !slices.ContainsFunc(mixins, func(m *yaml.Node) bool { return m.Value == n.Value }) {
					mixins, mixinsOf = append(mixins, n), append(mixinsOf, o)
				}
			}
		}
	}
	if b := t.overlays[rootName]; b != nil {
		apply(b, "base")
	} else if lookup(leaf.spec.val, "base").present() && leaf.parent() == "" {
		r.find(SeverityError, leaf.errNode(lookup(leaf.spec.val, "base").val, "missing-parent", "there is no base.yaml here, so what it demands is unknown", "name the recipe folder that holds it (--recipes)"))
	}
	for _, end := range t.leaves(leaf) {
		list, problem := t.chain(end)
		if problem != nil {
			r.find(SeverityError, problem)
		}
		for i, o := range list {
			switch {
			case o == leaf:
				apply(o, "leaf")
			case i < len(list)-1 || end == leaf:
				apply(o, "parent")
			default:
				apply(o, "independent")
			}
		}
	}
	for i, n := range mixins {
		if m := t.mixins[n.Value]; m != nil {
			r.mixin(m)
			r.merge(m, "mixin")
		} else if u := t.refused("RecipeMixin", n.Value); u != nil {
			r.find(SeverityError, u.as("the mixin", mixinsOf[i]))
		} else {
			r.find(SeverityError, mixinsOf[i].errNode(n, "missing-mixin", fmt.Sprintf("the mixin %q is in no file here", clip(n.Value)), "name the recipe folder that holds it (--recipes), or correct spec.mixins"))
		}
	}
	return r
}

func (r *Resolved) find(severity string, p *PosError) {
	switch p.Rule {
	case "missing-parent", "missing-mixin", "unread-overlay", "inheritance-cycle", "chain-too-deep":
		r.open = true
	}
	f := Finding{p.File, p.Line, p.Col, p.Rule, severity, p.Msg, p.Remedy}
	if !slices.Contains(r.Findings, f) {
		r.Findings = append(r.Findings, f)
	}
}

// merge applies the performance phase of one file.
func (r *Resolved) merge(o *Overlay, role string) {
	r.Sources = append(r.Sources, Source{o.Name(), o.file, role})
	for _, name := range o.components() {
		r.components[name] = true
	}
	if clears(o.checks) {
		r.Checks = []ResolvedValue{}
	}
	for _, n := range o.checkNames {
		if !slices.ContainsFunc(r.Checks, func(c ResolvedValue) bool { return c.Name == n.Value }) {
			r.Checks = append(r.Checks, ResolvedValue{Name: n.Value, From: o.where(n)})
		}
	}
	if clears(o.constraints) {
		r.Constraints = []ResolvedValue{}
	}
	for _, it := range o.items {
		v := ResolvedValue{Name: it.name.Value, From: o.where(it.name)}
		if it.value != nil && !isNull(it.value) {
			v.Value = it.value.Value
		}
		i := slices.IndexFunc(r.Constraints, func(c ResolvedValue) bool { return c.Name == v.Name })
		if i < 0 {
			r.Constraints = append(r.Constraints, v)
			continue
		}
		old := r.Constraints[i]
		old.From.Value = old.Value
		v.Overrides = append(old.Overrides, old.From)
		r.Constraints[i] = v
	}
}

// clears tells an explicit [] from an absent or null list.
func clears(e entry) bool { return e.present() && !isNull(e.val) && len(e.val.Content) == 0 }

func (o *Overlay) where(n *yaml.Node) Place {
	return Place{Overlay: o.Name(), File: o.file, Line: n.Line}
}

// mixin judges what AICR refuses or ignores in a mixin.
func (r *Resolved) mixin(m *Overlay) {
	if m.validation.present() {
		r.find(SeverityError, m.errNode(m.validation.key, "mixin-phase", "a mixin holds constraints and componentRefs only; AICR refuses the whole recipe for a validation block", "move it to an overlay"))
	}
	list := lookup(m.spec.val, "constraints").val
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for _, n := range list.Content {
		if name := lookup(n, "name").val; name != nil && strings.HasPrefix(name.Value, "inference-") {
			r.find(SeverityError, m.errNode(name, "mixin-phase", clip(name.Value)+" in a mixin is a readiness constraint and gates nothing", "move it to the performance phase of an overlay"))
		}
	}
}
