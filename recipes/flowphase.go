package recipes

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// setFlowPhase edits a performance phase that is itself in flow style. It has
// no line of its own for a comment, which therefore stands above its key.
func (s *gateSplicer) setFlowPhase() error {
	o := s.o
	if err := s.dropBlock(); err != nil {
		return err
	}
	comment, err := managedComment(s.comment, o.performance.key.Column-1)
	if err != nil {
		return err
	}
	s.insert(o.performance.key.Line-2, comment...)
	open := o.place(o.performance.val)
	if open.line != o.performance.key.Line-1 {
		return o.errNode(o.performance.val, "unsupported-layout", "a flow mapping that begins below its key", "write it in block style")
	}
	switch {
	case slices.Contains(o.Checks(), CheckName):
	case !o.checks.present():
		s.replace(open.line, open.off+1, open.off+1, "checks: ["+CheckName+"], ")
	case o.checks.empty():
		err = s.fill(o.checks, "["+CheckName+"]")
	default:
		err = s.addFlowCheck(o.checks.val)
	}
	if err != nil {
		return err
	}
	switch {
	case !o.constraints.present():
		end, err := o.endOf(o.performance.val.Content[len(o.performance.val.Content)-1])
		if err != nil {
			return err
		}
		s.replace(end.line, end.off, end.off, ", constraints: "+s.flowList(end.line))
		return nil
	case o.constraints.empty():
		return s.fill(o.constraints, s.flowList(o.constraints.key.Line-1))
	}
	return s.setItems(o.constraints.val)
}

// fill puts text in the place of an empty [] on the line of its key.
func (s *gateSplicer) fill(e entry, text string) error {
	at := s.o.place(e.val)
	end, ok := s.o.text.closing(at)
	if e.val.Kind != yaml.SequenceNode || e.val.Style&yaml.TaggedStyle != 0 || !ok || end.line != at.line {
		return s.o.errNode(e.val, "unsupported-layout", "an explicit null or an empty list over several lines between braces", "write []")
	}
	s.replace(at.line, at.off, end.off+1, text)
	return nil
}

// flowList is the whole list, a constraint a line to keep lines short.
func (s *gateSplicer) flowList(line int) string {
	sep := s.o.text.eol(line) + strings.Repeat(" ", s.o.performance.key.Column-1+s.unit)
	var items []string
	for _, c := range s.gate.constraints() {
		items = append(items, flowItem(c))
	}
	return "[" + sep + strings.Join(items, ","+sep) + "]"
}

func flowItem(c constraint) string {
	return "{name: " + c.name + ", value: " + flowQuoted(c.value) + "}"
}
