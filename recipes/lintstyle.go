package recipes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// styler looks for what AICR's .yamllint.yaml refuses. One finding a rule is
// enough: the first place, and how many there are.
type styler struct {
	l      *linter
	first  map[string]*PosError
	count  map[string]int
	order  []string
	opaque map[int]bool // lines, from 0, whose text is inside of a scalar
}

func (l *linter) style() {
	s := styler{l, map[string]*PosError{}, map[string]int{}, nil, map[int]bool{}}
	s.nodes(l.o.root, 0)
	s.lines()
	for _, rule := range s.order {
		p := s.first[rule]
		if n := s.count[rule]; n > 1 {
			p.Msg += " (" + plural.Of(n, "place") + ")"
		}
		l.add(p, SeverityWarning)
	}
}

func (s *styler) say(line, col int, rule, msg, remedy string) {
	rule = "yamllint-" + rule
	if s.count[rule]++; s.count[rule] == 1 {
		s.order = append(s.order, rule)
		s.first[rule] = s.l.o.errAt(line, col, rule, "AICR's yamllint refuses "+msg, remedy)
	} else if p := s.first[rule]; line < p.Line || line == p.Line && col < p.Col {
		p.Line, p.Col = line, col
	}
}

// nodes walks the tree; indent is the column, from 0, of the block around n.
func (s *styler) nodes(n *yaml.Node, indent int) {
	o := s.l.o
	switch {
	case n.Kind == yaml.ScalarNode:
		last := o.lastLine(n, indent)
		for i := n.Line; i <= last; i++ { // the first line holds its key as well
			s.opaque[i] = true
		}
	case !blockStyle(n):
		s.brackets(n)
	}
	for i, c := range n.Content {
		in := n.Column - 1
		if !blockStyle(n) {
			in = indent
		}
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			s.entry(n, n.Content[i-1], c)
		}
		s.nodes(c, in)
	}
}

// entry looks at a key and what is below it.
func (s *styler) entry(m, key, val *yaml.Node) {
	if val.Kind == yaml.ScalarNode && isNull(val) && val.Value == "" && val.Style == 0 {
		s.say(key.Line, key.Column, "empty-values", "a key without a value", "write a value, or remove the key")
	}
	if val.Kind == yaml.ScalarNode || !blockStyle(m) || !blockStyle(val) || val.Line == key.Line {
		return
	}
	step := val.Column - key.Column
	if step != 2 && (step != 0 || val.Kind != yaml.SequenceNode) {
		s.say(val.Line, val.Column, "indentation", fmt.Sprintf("an indentation of %d", step), "indent by 2 spaces")
	}
}

// brackets counts the spaces inside of a flow collection: none in a list, at
// most one in a mapping.
func (s *styler) brackets(n *yaml.Node) {
	o := s.l.o
	open := o.place(n)
	end, ok := o.text.closing(open)
	if !ok || !strings.ContainsAny(o.text.lines[open.line].body[open.off:][:1], "[{") { // a tag
		return
	}
	rule, most := "brackets", 0
	if n.Kind == yaml.MappingNode {
		rule, most = "braces", 1
	}
	after := o.text.lines[open.line].body[open.off+1:]
	inner := strings.TrimLeft(after, " ")
	before := o.text.lines[end.line].body[:end.off]
	tail := len(before) - len(strings.TrimRight(before, " "))
	wide := inner != "" && inner[0] != '#' && len(after)-len(inner) > most
	if wide || strings.TrimSpace(before) != "" && tail > most && len(n.Content) > 0 {
		s.say(open.line+1, o.text.column(open.line, open.off), rule, fmt.Sprintf("more than %s inside of %s", plural.Of(most, "space"), rule), "remove them")
	}
}

// lines looks at what is not in the tree.
func (s *styler) lines() {
	o := s.l.o
	bodies := make([]string, len(o.text.lines))
	for i, l := range o.text.lines {
		bodies[i] = l.body
	}
	blanks, stray := 0, strayComments(bodies)
	for i, l := range o.text.lines {
		if l.eol == "\r\n" {
			s.say(i+1, 1, "new-lines", "lines that end in \\r\\n", "save the file with \\n; perfsweep keeps what is there")
		}
		if n := utf8.RuneCountInString(l.body); n > 200 && strings.Contains(strings.TrimLeft(l.body, " #-"), " ") {
			s.say(i+1, 201, "line-length", "a line of more than 200 characters", "break it")
		}
		if cut := strings.TrimRight(l.body, " \t"); cut != l.body {
			s.say(i+1, o.text.column(i, len(cut)), "trailing-spaces", "spaces at the end of a line", "remove them")
		}
		if o.text.blank(i) {
			if blanks++; blanks > 2 || i == 0 || i == len(o.text.lines)-1 {
				s.say(i+1, 1, "empty-lines", "blank lines at the beginning or the end, or more than 2 together", "remove them")
			}
			continue
		}
		blanks = 0
		if s.opaque[i] {
			continue
		}
		at := commentAt(l.body)
		if at >= 0 && !regexp.MustCompile(`^#+( |$)|^#!`).MatchString(l.body[at:]) {
			s.say(i+1, o.text.column(i, at), "comments", "a comment without a space behind its #", "add the space")
		}
		if stray[i] {
			s.say(i+1, o.text.indent(i)+1, "comments-indentation", "a comment that is indented like nothing around it", "indent it like the line that it speaks of")
		}
	}
}

// commentAt is the offset of the # that begins a comment, -1 without one.
func commentAt(s string) int {
	quote, before := byte(0), byte('[') // before: the last byte that is no space
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && strings.IndexByte("[{,:-", before) >= 0:
			quote = c
		case c == '#' && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t'):
			return i
		}
		if c != ' ' {
			before = c
		}
	}
	return -1
}

func isComment(l string) bool { return strings.HasPrefix(strings.TrimLeft(l, " "), "#") }

func leading(l string) int { return len(l) - len(strings.TrimLeft(l, " ")) }

// strayComments are the comments that are indented neither like the content
// after them nor like the content or comment before them.
func strayComments(lines []string) map[int]bool {
	next, after := make([]int, len(lines)), 0 // the indentation of the content that follows
	for i := len(lines) - 1; i >= 0; i-- {
		next[i] = after
		if strings.TrimSpace(lines[i]) != "" && !isComment(lines[i]) {
			after = leading(lines[i])
		}
	}
	stray := map[int]bool{}
	before := []int{0} // indentations that a comment may have from what is before it
	for i, l := range lines {
		at := leading(l)
		switch {
		case strings.TrimSpace(l) == "":
		case !isComment(l) && strings.HasPrefix(l[at:], "- "):
			before = []int{at, at + 2}
		case !isComment(l):
			before = []int{at}
		case at != next[i] && !slices.Contains(before, at):
			stray[i], before = true, nil
		default:
			before = []int{at}
		}
	}
	return stray
}
