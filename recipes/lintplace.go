package recipes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/perfsweep/perfsweep/internal/spell"
)

// misplaced finds what reads like a part of the gate and stands where AICR does
// not look for it: in another phase, among the readiness constraints, or below
// a key that is nearly right.
func (l *linter) misplaced(n *yaml.Node, path string) {
	if n == l.o.constraints.val || n == l.o.checks.val {
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			l.misplaced(n.Content[i+1], strings.TrimPrefix(path+"."+clip(n.Content[i].Value), "."))
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			l.misplacedItem(c, path)
			l.misplaced(c, path)
		}
	}
}

func (l *linter) misplacedItem(n *yaml.Node, path string) {
	name, what := lookup(n, "name").val, ""
	switch {
	case n.Kind == yaml.ScalarNode && n.Value == CheckName:
		name, what = n, "the check "+CheckName
	case name != nil && lookup(n, "value").present() && isManaged(name.Value):
		what = name.Value
	default:
		return
	}
	l.add(l.o.errNode(name, "misplaced-gate", fmt.Sprintf("%s stands in %s, where AICR does not look for it", what, path),
		"move it to spec.validation.performance"), SeverityError)
}

// shapes looks at what the chain is found by. AICR refuses another shape there.
func (l *linter) shapes() {
	spec := l.o.spec.val
	for _, want := range []struct {
		key  string
		kind yaml.Kind
		what string
	}{
		{"base", yaml.ScalarNode, "the name of an overlay"},
		{"mixins", yaml.SequenceNode, "a list of names"},
		{"criteria", yaml.MappingNode, "a mapping"},
		{"componentRefs", yaml.SequenceNode, "a list"},
		{"constraints", yaml.SequenceNode, "a list of names and values"},
	} {
		e := lookup(spec, want.key)
		bad := e.val
		if e.present() && e.val.Kind == want.kind && want.key == "mixins" {
			i := slices.IndexFunc(e.val.Content, func(n *yaml.Node) bool { return n.Kind != yaml.ScalarNode })
			if i < 0 {
				continue
			}
			bad = e.val.Content[i]
		} else if !e.present() || e.val.Kind == want.kind || isNull(e.val) {
			continue
		}
		l.add(l.o.errNode(bad, "bad-structure", fmt.Sprintf("spec.%s is not %s", want.key, want.what), "write "+want.what), SeverityError)
	}
}

// checks looks at the names in the list of checks.
func (l *linter) checks() {
	seen := map[string]int{}
	for _, n := range l.o.checkNames {
		if first := seen[n.Value]; first > 0 {
			l.warn(n, "duplicate-check", fmt.Sprintf("the check %q stands on line %d as well", clip(n.Value), first), "keep one")
		} else {
			seen[n.Value] = n.Line
		}
		// The check was to be called as its constraint at first (NVIDIA/aicr#448).
		name := strings.ToLower(n.Value)
		if n.Value != CheckName && (isFloor(name) || name == NameCeiling || spell.Distance(name, CheckName, 4) < 4) {
			l.add(l.o.errNode(n, "unknown-check", fmt.Sprintf("no check is called %q, so nothing runs and AICR exits 0", clip(n.Value)), "did you mean "+CheckName+"?"), SeverityError)
		}
	}
}

// storageClass judges the one input that Gate does not hold.
func (l *linter) storageClass() {
	name := regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	for _, it := range l.o.items {
		if it.name.Value != nameStorageClass || it.value == nil || isNull(it.value) || strings.TrimSpace(it.value.Value) == "" {
			continue
		}
		if v := it.value.Value; len(v) > 253 || !name.MatchString(v) {
			l.add(l.o.errNode(it.value, "bad-storage-class", fmt.Sprintf("%s: %q is no name of a StorageClass", nameStorageClass, clip(v)), "write the bare name, in lower case"), SeverityError)
		}
	}
}

// alone warns of a gate of one threshold, and of a file that the check may be
// skipped for.
func (l *linter) alone(demand *yaml.Node, enabled bool) {
	o := l.o
	floor := slices.IndexFunc(o.items, func(it item) bool { return isFloor(it.name.Value) })
	ceiling := slices.IndexFunc(o.items, func(it item) bool { return it.name.Value == NameCeiling })
	switch {
	case ceiling < 0:
		l.warn(demand, "one-threshold", "a floor without "+NameCeiling+": "+floorAlone, "add "+NameCeiling)
	case floor < 0 && !o.says(notGated):
		l.warn(demand, "one-threshold", "a ceiling without a floor: "+ceilingAlone, "add a floor, or say in the comment that throughput is not gated and why")
	}
	if floor >= 0 && o.items[floor].name.Value == NameFloor && !o.says(`#1254\b|aicr/issues/1254\b`) {
		l.warn(o.items[floor].name, "full-node-note", NameFloor+" is of a full node, and no comment here says which",
			"add a NOTE: with the node that it assumes and NVIDIA/aicr#1254, as AICR's overlays have it, or use "+NameFloorPerGPU)
	}
	if enabled && !slices.Contains(o.components(), platform) {
		l.warn(demand, "no-platform", platform+" is not in componentRefs here, so unless it is inherited AICR skips "+CheckName+" and exits 0", "add the component, or look at the whole chain with --resolved")
	}
}

const (
	// notGated is how a comment says that a gate has no floor on purpose.
	notGated     = `throughput is (then )?not gated`
	floorAlone   = "a slow first token passes"
	ceilingAlone = "a loss of throughput passes, and AICR takes a TTFT that it did not read for 0"
)

// says looks for words in the comments of the performance phase.
func (o *Overlay) says(pattern string) bool {
	var words []string
	from, to := o.phaseLines()
	for i := from; i < to; i++ {
		if _, comment, found := strings.Cut(o.text.lines[i].body, "#"); found {
			words = append(words, strings.TrimLeft(comment, " "))
		}
	}
	return regexp.MustCompile(`(?i)` + pattern).MatchString(strings.Join(words, " "))
}

// components are the names in componentRefs.
func (o *Overlay) components() []string {
	var names []string
	if refs := lookup(o.spec.val, "componentRefs").val; refs != nil && refs.Kind == yaml.SequenceNode {
		for _, n := range refs.Content {
			names = append(names, scalar(lookup(n, "name")))
		}
	}
	return names
}
