package recipes

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// place is a byte offset within a line, both from 0.
type place struct{ line, off int }

func (o *Overlay) place(n *yaml.Node) place {
	line := n.Line - 1
	return place{line, o.text.offset(line, n.Column)}
}

func blockStyle(n *yaml.Node) bool { return n.Style&yaml.FlowStyle == 0 }

// lastLine is the line, from 0, on which n ends. The parser gives beginnings
// only. indent is the column, from 0, of the block that holds n: whatever
// follows a scalar deeper than that belongs to the scalar.
func (o *Overlay) lastLine(n *yaml.Node, indent int) int {
	switch {
	case n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0:
		return n.Line - 1 // nothing is there, on the line of its key
	case n.Kind != yaml.ScalarNode && blockStyle(n):
		return o.lastLine(n.Content[len(n.Content)-1], n.Column-1)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return o.continued(n.Line-1, indent, false)
	case n.Kind == yaml.ScalarNode && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0:
		return o.continued(n.Line-1, indent, true)
	}
	if end, ok := o.text.closing(o.place(n)); ok {
		return end.line
	}
	return n.Line - 1
}

// continued follows a scalar over the lines that are deeper than its block.
func (o *Overlay) continued(line, indent int, commentEnds bool) int {
	end := line
	for i := line + 1; i < len(o.text.lines); i++ {
		switch {
		case o.text.blank(i):
		case o.text.indent(i) <= indent, commentEnds && o.text.comment(i):
			return end
		default:
			end = i
		}
	}
	return end
}

// trailing moves past the comments after line that are indented by at least
// depth, and so belong to what ends there rather than to what comes next.
func (o *Overlay) trailing(line, depth int) int {
	end := line
	for i := line + 1; i < len(o.text.lines); i++ {
		switch {
		case o.text.blank(i):
		case o.text.comment(i) && o.text.indent(i) >= depth:
			end = i
		default:
			return end
		}
	}
	return end
}

// closing finds the bracket or quote that closes the one at p.
func (t text) closing(p place) (place, bool) {
	depth, quote, before := 0, byte(0), byte('[') // before: the last byte that is no space
	for i := p.line; i < len(t.lines); i++ {
		s := t.lines[i].body
		off := 0
		if i == p.line {
			off = p.off
		}
		for ; off < len(s); off++ {
			c := s[off]
			switch {
			case quote == '"' && c == '\\', quote == '\'' && strings.HasPrefix(s[off:], "''"):
				off++
				continue
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case (c == '"' || c == '\'') && strings.IndexByte("[{,:", before) >= 0:
				quote, before = c, c
				continue
			case c == '[' || c == '{':
				depth++
			case c == ']' || c == '}':
				depth--
			case c == '#' && (off == 0 || s[off-1] == ' '):
				off = len(s)
				continue
			}
			if quote == 0 && depth == 0 {
				return place{i, off}, true
			}
			if c != ' ' && quote == 0 {
				before = c
			}
		}
	}
	return place{}, false
}

// phaseLines is the range of lines, from 0 and half open, of the performance
// phase with the comments in it.
func (o *Overlay) phaseLines() (from, to int) {
	if !o.performance.present() {
		return 0, 0
	}
	from = o.performance.key.Line - 1
	indent := o.performance.key.Column - 1
	if e := o.performance; !e.empty() && !blockStyle(e.val) { // its comment is above it
		to = max(from, o.lastLine(e.val, indent)) + 1
		for from > 0 && o.text.comment(from-1) && o.text.indent(from-1) == indent {
			from--
		}
		return from, to
	}
	last := from
	for i := 1; i < len(o.performance.val.Content); i += 2 { // a bracket may close at any column
		last = max(last, o.lastLine(o.performance.val.Content[i], o.performance.val.Column-1))
	}
	for to = last + 1; to < len(o.text.lines); to++ {
		if !o.text.blank(to) && !o.text.comment(to) && o.text.indent(to) <= indent {
			break
		}
	}
	for to > from+1 && (o.text.blank(to-1) || o.text.comment(to-1) && o.text.indent(to-1) <= indent) {
		to--
	}
	return from, to
}
