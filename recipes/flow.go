package recipes

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// endOf is the place behind what stands in a flow collection: a scalar on one
// line, or something in braces or brackets.
func (o *Overlay) endOf(n *yaml.Node) (place, error) {
	at := o.place(n)
	body := o.text.lines[at.line].body
	quoted := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
	switch {
	case n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value != "" && strings.HasPrefix(body[at.off:], n.Value):
		return place{at.line, at.off + len(n.Value)}, nil
	case n.Kind == yaml.ScalarNode && quoted || n.Kind == yaml.MappingNode && strings.HasPrefix(body[at.off:], "{"), n.Kind == yaml.SequenceNode && strings.HasPrefix(body[at.off:], "["):
		if end, ok := o.text.closing(at); ok {
			return place{end.line, end.off + 1}, nil
		}
	}
	return place{}, o.errNode(n, "unsupported-layout", "an item of a flow list that is tagged or without braces", "write the list in block style")
}

// addFlowCheck appends our check to a flow list, behind its last item, so that
// a comma or a comment after that stays where it is.
func (s *gateSplicer) addFlowCheck(list *yaml.Node) error {
	end, err := s.o.endOf(list.Content[len(list.Content)-1])
	if err == nil {
		s.replace(end.line, end.off, end.off, ", "+CheckName)
	}
	return err
}

// addFlowItem puts a constraint into a flow list, after its i-th item or before
// the first, on a line of its own below that one.
func (s *gateSplicer) addFlowItem(list *yaml.Node, i int, c constraint) error {
	first := s.o.place(list.Content[0])
	text := flowItem(c)
	pad := strings.Repeat(" ", list.Content[0].Column-1)
	if i < 0 {
		if _, err := s.o.endOf(list.Content[0]); err != nil {
			return err
		}
		s.replace(first.line, first.off, first.off, text+","+s.o.text.eol(first.line)+pad)
		return nil
	}
	end, err := s.o.endOf(list.Content[i])
	if err != nil {
		return err
	}
	rest := strings.TrimLeft(s.o.text.lines[end.line].body[end.off:], " ")
	comma := strings.HasPrefix(rest, ",")
	if rest = strings.TrimLeft(strings.TrimPrefix(rest, ","), " "); rest != "" && rest[0] != '#' {
		s.replace(end.line, end.off, end.off, ","+s.o.text.eol(end.line)+pad+text)
		return nil
	}
	// The line ends here, so a comment on it stays with its item.
	set := inlineSplice{end.off, end.off, ","}
	if !comma && !slices.Contains(s.inline[end.line], set) {
		s.inline[end.line] = append(s.inline[end.line], set)
	}
	s.insert(end.line, pad+text+",")
	return nil
}

// flowQuoted is quoted, with what means something between braces quoted too.
func flowQuoted(value string) string {
	if strings.ContainsAny(value, ",[]{}") {
		return `"` + value + `"`
	}
	return quoted(value)
}

// removeFlowItem takes an item out of a flow list, with the comma that set it
// off. A comment beside it could speak of it or of the list, so that is the
// user's to move.
func (s *gateSplicer) removeFlowItem(list *yaml.Node, i int) error {
	o := s.o
	refuse := o.errNode(list.Content[i], "unsupported-layout", "an item to remove that shares its lines with others over several lines, or with a comment", "write the constraints in block style")
	at := o.place(list.Content[i])
	end, err := o.endOf(list.Content[i])
	if err != nil || end.line != at.line {
		return refuse
	}
	body := o.text.lines[at.line].body
	if i+1 < len(list.Content) {
		if next := o.place(list.Content[i+1]); next.line == at.line {
			s.replace(at.line, at.off, next.off, "")
			return nil
		}
	}
	if i > 0 {
		if before, err := o.endOf(list.Content[i-1]); err == nil && before.line == at.line {
			s.replace(at.line, before.off, end.off, "")
			return nil
		}
	}
	if strings.TrimSpace(body[:at.off]) != "" || !regexp.MustCompile(`^ *,? *$`).MatchString(body[end.off:]) {
		return refuse
	}
	s.dropLines(at.line, at.line)
	return nil
}
