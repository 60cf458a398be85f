package recipes

import (
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// CheckName is the check that reads the inference constraints.
const CheckName = "inference-perf"

// Overlay is a parsed overlay file.
type Overlay struct {
	file string
	kind string
	text text
	root *yaml.Node
	// loose is a tree that is not that of the text: see ReadAsAICR.
	loose bool

	spec, validation, performance, checks, constraints entry

	checkNames []*yaml.Node
	items      []item
}

// entry is a key with its value; the zero entry is an absent key.
type entry struct{ key, val *yaml.Node }

func (e entry) present() bool { return e.key != nil }

// empty is true for an absent key, a null, [] and {}.
func (e entry) empty() bool { return e.val == nil || isNull(e.val) || len(e.val.Content) == 0 }

// item is one constraint of the performance phase.
type item struct{ node, name, value *yaml.Node }

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func lookup(m *yaml.Node, key string) entry {
	if m == nil || m.Kind != yaml.MappingNode {
		return entry{}
	}
	for i := 0; i < len(m.Content); i += 2 {
		if m.Content[i].Kind == yaml.ScalarNode && m.Content[i].Value == key {
			return entry{m.Content[i], m.Content[i+1]}
		}
	}
	return entry{}
}

// locate finds the parts that are read or edited and checks their kinds.
func (o *Overlay) locate(root *yaml.Node) error {
	o.root = root
	if root.Kind != yaml.MappingNode {
		return o.errNode(root, "not-an-overlay", "the document is not a mapping", "")
	}
	kind := lookup(root, "kind")
	if !kind.present() {
		return o.errNode(root, "not-an-overlay", "no kind", "an overlay is of kind "+o.kind)
	}
	if kind.val.Value != o.kind {
		return o.errNode(kind.val, "not-an-overlay", fmt.Sprintf("kind is %q", clip(kind.val.Value)), "an overlay is of kind "+o.kind)
	}
	if o.Name() == "" {
		return o.errNode(root, "not-an-overlay", "no metadata.name", "name the overlay as its file")
	}
	o.spec = lookup(root, "spec")
	o.validation = lookup(o.spec.val, "validation")
	o.performance = lookup(o.validation.val, "performance")
	for _, e := range []entry{o.spec, o.validation, o.performance} {
		if e.present() && e.val.Kind != yaml.MappingNode && !isNull(e.val) {
			return o.errNode(e.val, "bad-structure", e.key.Value+" is not a mapping", "")
		}
	}
	return o.locatePhase()
}

func (o *Overlay) locatePhase() error {
	o.checks = lookup(o.performance.val, "checks")
	o.constraints = lookup(o.performance.val, "constraints")
	for _, e := range []entry{o.checks, o.constraints} {
		if e.present() && e.val.Kind != yaml.SequenceNode && !isNull(e.val) {
			return o.errNode(e.val, "bad-structure", e.key.Value+" is not a list", "")
		}
	}
	if !o.checks.empty() {
		o.checkNames = o.checks.val.Content
	}
	for _, n := range o.checkNames {
		if n.Kind != yaml.ScalarNode {
			return o.errNode(n, "bad-structure", "a check is a name", "")
		}
	}
	if o.constraints.empty() {
		return nil
	}
	for _, n := range o.constraints.val.Content {
		it := item{n, lookup(n, "name").val, lookup(n, "value").val}
		if it.name == nil || it.name.Kind != yaml.ScalarNode || isNull(it.name) {
			return o.errNode(n, "bad-structure", "a constraint without a name", "write name: and value:")
		}
		if it.value != nil && it.value.Kind != yaml.ScalarNode {
			return o.errNode(it.value, "bad-structure", "the value of "+clip(it.name.Value)+" is not a string", "")
		}
		o.items = append(o.items, it)
	}
	return nil
}

// Name is metadata.name.
func (o *Overlay) Name() string { return scalar(lookup(lookup(o.root, "metadata").val, "name")) }

// APIVersion is the file's apiVersion, which every edit keeps.
func (o *Overlay) APIVersion() string { return scalar(lookup(o.root, "apiVersion")) }

// Criterion returns spec.criteria[key], such as accelerator or service.
func (o *Overlay) Criterion(key string) string {
	return scalar(lookup(lookup(o.spec.val, "criteria").val, key))
}

func scalar(e entry) string {
	if e.val == nil || e.val.Kind != yaml.ScalarNode || isNull(e.val) {
		return ""
	}
	return e.val.Value
}

// HasPerformance reports whether this file has a performance phase of its own.
func (o *Overlay) HasPerformance() bool { return o.performance.present() }

// Checks are the checks of the performance phase in the file's order.
func (o *Overlay) Checks() []string {
	names := make([]string, 0, len(o.checkNames))
	for _, n := range o.checkNames {
		names = append(names, n.Value)
	}
	return names
}

// Twice is the first constraint name that this file has twice, "" without one.
func (o *Overlay) Twice() string {
	for i, it := range o.items {
		if slices.ContainsFunc(o.items[:i], func(b item) bool { return b.name.Value == it.name.Value }) {
			return clip(it.name.Value)
		}
	}
	return ""
}

// Find says where the value of a constraint stands, from 1. Where it has none
// that is its name, and of a constraint that is not here the first threshold.
func (o *Overlay) Find(name string) (line, col int) {
	var at *yaml.Node
	for _, it := range o.items {
		if it.name.Value != name && (at != nil || !isThreshold(it.name.Value)) {
			continue
		}
		if at = it.value; at == nil {
			at = it.name
		}
		if it.name.Value == name {
			break
		}
	}
	if at == nil {
		return 1, 1
	}
	return max(1, at.Line), max(1, at.Column)
}

// Generated reports whether the comment at the top says that the file is
// generated, so that an edit by hand may be overwritten.
func (o *Overlay) Generated() bool { return o.generatedLine() > 0 }

func (o *Overlay) generatedLine() int {
	says := regexp.MustCompile(`(?i)\bgenerated\b|\bdo not edit\b`)
	for i, l := range o.text.lines {
		if !o.text.comment(i) && !o.text.blank(i) {
			break
		}
		if says.MatchString(l.body) {
			return i + 1
		}
	}
	return 0
}
