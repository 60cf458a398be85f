package recipes

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// nested renders keys, one below the other, with the phase in the innermost.
func (s *gateSplicer) nested(pad int, keys ...string) ([]string, error) {
	var lines []string
	for _, k := range keys {
		lines = append(lines, strings.Repeat(" ", pad)+k+":")
		pad += s.unit
	}
	phase, err := s.phase(pad)
	return append(lines, phase...), err
}

// phase renders checks, comment and constraints.
func (s *gateSplicer) phase(pad int) ([]string, error) {
	comment, err := managedComment(s.comment, pad)
	if err != nil {
		return nil, err
	}
	return append(append(s.checkLines(pad), comment...), s.constraintLines(pad)...), nil
}

func (s *gateSplicer) checkLines(pad int) []string {
	return []string{strings.Repeat(" ", pad) + "checks:", strings.Repeat(" ", pad+s.dash) + "- " + CheckName}
}

func (s *gateSplicer) constraintLines(pad int) []string {
	return append([]string{strings.Repeat(" ", pad) + "constraints:"}, s.itemLines(pad+s.dash, s.gate.constraints())...)
}

func (s *gateSplicer) itemLines(pad int, list []constraint) []string {
	var lines []string
	for _, c := range list {
		lines = append(lines, strings.Repeat(" ", pad)+"- name: "+c.name, strings.Repeat(" ", pad)+"  value: "+quoted(c.value))
	}
	return lines
}

// indentUnit is how far spec's keys are indented, 2 in every AICR overlay.
func (o *Overlay) indentUnit() int {
	if o.spec.empty() {
		return 2
	}
	return max(1, o.spec.val.Column-o.spec.key.Column)
}

// dashOffset is how the file indents lists below their key: as in the
// performance phase, else as in the first list of spec.
func (o *Overlay) dashOffset() int {
	for _, m := range []*yaml.Node{o.performance.val, o.spec.val} {
		if off, ok := firstDash(m); ok {
			return off
		}
	}
	return 2
}

func firstDash(m *yaml.Node) (int, bool) {
	if m == nil || m.Kind != yaml.MappingNode {
		return 0, false
	}
	for i := 0; i < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		if v.Kind == yaml.SequenceNode && blockStyle(v) && v.Column >= k.Column {
			return v.Column - k.Column, true
		}
		if off, ok := firstDash(v); ok {
			return off, true
		}
	}
	return 0, false
}

// spaced reports whether the file separates the keys of m by blank lines.
func (o *Overlay) spaced(m *yaml.Node) bool {
	for i := 2; i < len(m.Content); i += 2 {
		for line := m.Content[i].Line - 2; line >= 0 && (o.text.comment(line) || o.text.blank(line)); line-- {
			if o.text.blank(line) {
				return true
			}
		}
	}
	return false
}
