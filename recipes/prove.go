package recipes

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
)

// prove parses the edited file again. The gate must be the wanted one and what
// lies outside of it must be equal, node by node, to what was there.
func (o *Overlay) prove(out []byte, want Gate) error {
	refuse := func(why error) error {
		at := o.spec.key
		if o.performance.present() {
			at = o.performance.key
		}
		return o.errNode(at, "unsupported-layout", fmt.Sprintf("the edit could not be proved (%v), so it is refused", why),
			"write the performance phase in plain block style")
	}
	p, err := Parse(o.file, out)
	if err != nil {
		return refuse(err)
	}
	got, ok, err := p.Gate()
	switch {
	case err != nil:
		return refuse(err)
	case !ok || got != want:
		return refuse(fmt.Errorf("it would read back as %+v", got))
	}
	checks := o.Checks()
	if !slices.Contains(checks, CheckName) {
		checks = append(checks, CheckName)
	}
	if !slices.Equal(checks, p.Checks()) {
		return refuse(errors.New("other checks would change"))
	}
	dropFloor := want.Floor == 0 && want.FloorPerGPU == 0
	if !reflect.DeepEqual(o.rest(o.root, dropFloor), p.rest(p.root, dropFloor)) {
		return refuse(errors.New("something else would change"))
	}
	return nil
}

// rest is a tree without what an edit may change: the inference-perf check,
// the names and values of our constraints, and the parents of these while they
// hold nothing else. Other keys of our constraints are part of the rest.
func (o *Overlay) rest(n *yaml.Node, dropFloor bool) any {
	if n.Kind == yaml.ScalarNode {
		if isNull(n) && o.onPath(n) {
			return nil
		}
		return [2]string{n.ShortTag(), n.Value}
	}
	var list []any
	for i, c := range n.Content {
		var r any
		switch {
		case n == o.checks.val && c.Value == CheckName:
			continue
		case n == o.constraints.val:
			r = o.restOfItem(o.items[i], dropFloor)
		case n.Kind == yaml.MappingNode && i%2 == 0:
			continue // a key goes with its value
		default:
			r = o.rest(c, dropFloor)
		}
		if r == nil && o.onPath(c) || r == nil && n == o.constraints.val {
			continue
		}
		if n.Kind == yaml.MappingNode {
			list = append(list, o.rest(n.Content[i-1], dropFloor))
		}
		list = append(list, r)
	}
	if len(list) == 0 && o.onPath(n) {
		return nil
	}
	return append(list, fmt.Sprint(n.Kind, n.ShortTag()))
}

func (o *Overlay) onPath(n *yaml.Node) bool {
	return n == o.validation.val || n == o.performance.val || n == o.checks.val || n == o.constraints.val
}

func (o *Overlay) restOfItem(it item, dropFloor bool) any {
	name := it.name.Value
	switch {
	case !isManaged(name):
		return o.rest(it.node, dropFloor)
	case isFloor(name) && dropFloor:
		return nil
	case isFloor(name):
		name = NameFloor
	}
	list := []any{name}
	for i := 0; i < len(it.node.Content); i += 2 {
		if v := it.node.Content[i+1]; v != it.name && v != it.value {
			list = append(list, o.rest(it.node.Content[i], dropFloor), o.rest(v, dropFloor))
		}
	}
	if len(list) == 1 {
		return nil
	}
	return list
}

func isManaged(name string) bool {
	switch name {
	case NameModel, NameConcurrency, NameRouting, NameFloorPerGPU, NameFloor, NameCeiling:
		return true
	}
	return false
}
