package recipes

import (
	"go.yaml.in/yaml/v3"
)

// setConstraints puts the comment above constraints and edits the list.
func (s *gateSplicer) setConstraints(pad int) error {
	o, e := s.o, s.o.constraints
	comment, err := managedComment(s.comment, pad)
	if err != nil {
		return err
	}
	if !e.present() {
		lines := append(comment, s.constraintLines(pad)...)
		if o.checks.present() {
			s.afterKey(o.performance.val, keyIndex(o.performance.val, "checks"), lines)
			return nil
		}
		return s.under(o.performance, lines...)
	}
	s.insert(e.key.Line-2, comment...)
	if e.empty() {
		return s.under(e, s.itemLines(pad+s.dash, s.gate.constraints())...)
	}
	return s.setItems(e.val)
}

// setItems replaces the values that are there and adds those that are not,
// each after its predecessor in AICR's order.
func (s *gateSplicer) setItems(list *yaml.Node) error {
	want := s.gate.constraints()
	anchor, floor := 0, false
	after := s.firstItem(want) - 1 // the item that the next one goes behind
	if blockStyle(list) {
		anchor = s.firstAnchor(list, want)
	}
	for _, c := range want {
		floor = floor || isFloor(c.name)
		i := s.find(c.name)
		if i < 0 {
			if !blockStyle(list) {
				if err := s.addFlowItem(list, after, c); err != nil {
					return err
				}
				continue
			}
			s.insert(anchor, s.itemLines(list.Column-1, []constraint{c})...)
			continue
		}
		after = i
		if blockStyle(list) {
			anchor = s.endOfItem(list, i)
		}
		if err := s.setItem(s.o.items[i], c); err != nil {
			return err
		}
	}
	if i := s.find(NameFloor); i >= 0 && !floor {
		return s.removeItem(list, i)
	}
	return nil
}

// find is the index of the item with that name; the floor names are one.
func (s *gateSplicer) find(name string) int {
	for i, it := range s.o.items {
		if it.name.Value == name || isFloor(name) && isFloor(it.name.Value) {
			return i
		}
	}
	return -1
}

// firstAnchor is the line after which items go that have no predecessor: just
// before the first item of ours, else at the end of the list.
func (s *gateSplicer) firstAnchor(list *yaml.Node, want []constraint) int {
	first := s.firstItem(want)
	if first == 0 {
		return s.o.constraints.key.Line - 1
	}
	return s.endOfItem(list, first-1)
}

// firstItem is the index of the first item of ours, or of the end of the list.
func (s *gateSplicer) firstItem(want []constraint) int {
	first := len(s.o.items)
	for _, c := range want {
		if i := s.find(c.name); i >= 0 {
			first = min(first, i)
		}
	}
	return first
}

// endOfItem is the last line of an item with the deeper comments after it.
func (s *gateSplicer) endOfItem(list *yaml.Node, i int) int {
	return s.o.trailing(s.o.lastLine(list.Content[i], list.Column-1), list.Column)
}

func (s *gateSplicer) setItem(it item, c constraint) error {
	if it.value == nil {
		return s.o.errNode(it.node, "bad-structure", it.name.Value+" has no value", "write value: below its name")
	}
	var is, want Gate
	want.read(c.name, c.value)
	if p := is.read(c.name, it.value.Value); p != nil || is != want || isNull(it.value) {
		if err := s.setScalar(it.value, c.value); err != nil {
			return err
		}
	}
	if it.name.Value != c.name {
		return s.setScalar(it.name, c.name)
	}
	return nil
}

// removeItem takes an item out of a block list. A comment above the last item
// would be left below everything that it could speak of, which yamllint
// refuses too, so that is the user's to move.
func (s *gateSplicer) removeItem(list *yaml.Node, i int) error {
	o, it := s.o, s.o.items[i]
	if !blockStyle(list) {
		return s.removeFlowItem(list, i)
	}
	dash := it.node.Line - 1
	for o.text.indent(dash) != list.Column-1 || o.text.lines[dash].body[list.Column-1] != '-' {
		dash--
	}
	above := dash - 1
	for o.text.blank(above) {
		above--
	}
	if i == len(o.items)-1 && o.text.comment(above) && o.text.indent(above) < list.Column {
		return o.errAt(above+1, o.text.indent(above)+1, "unsupported-layout", "a comment above "+it.name.Value+", which is to be removed", "remove or move the comment first")
	}
	last := o.lastLine(list.Content[i], list.Column-1)
	if last+1 == len(o.text.lines) || o.text.blank(last+1) {
		dash = above + 1 // the blank lines above set this item off from nothing now
	}
	s.dropLines(dash, last)
	return nil
}
