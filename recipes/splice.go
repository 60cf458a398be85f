package recipes

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// splices collects changes to a file, by line, and applies them together.
type splices struct {
	o      *Overlay
	inline map[int][]inlineSplice
	after  map[int][]string // new lines after a line, in order
	drop   map[int]bool
}

type inlineSplice struct {
	from, to int
	text     string
}

func newSplices(o *Overlay) *splices {
	return &splices{o, map[int][]inlineSplice{}, map[int][]string{}, map[int]bool{}}
}

func (s *splices) insert(line int, lines ...string) { s.after[line] = append(s.after[line], lines...) }

func (s *splices) replace(line, from, to int, text string) {
	s.inline[line] = append(s.inline[line], inlineSplice{from, to, text})
}

func (s *splices) dropLines(first, last int) {
	for i := first; i <= last; i++ {
		s.drop[i] = true
	}
}

// apply returns the new file. Whether it ends in a newline stays as it was.
func (s *splices) apply() []byte {
	old := s.o.text
	out := text{bom: old.bom}
	for i, l := range old.lines {
		if !s.drop[i] {
			edits := s.inline[i]
			slices.Reverse(edits) // of two insertions at one place the earlier comes first
			slices.SortStableFunc(edits, func(a, b inlineSplice) int { return b.from - a.from })
			for _, e := range edits {
				l.body = l.body[:e.from] + e.text + l.body[e.to:]
			}
			out.lines = append(out.lines, textLine{l.body, old.eol(i)})
		}
		for _, body := range s.after[i] {
			out.lines = append(out.lines, textLine{body, old.eol(i)})
		}
	}
	if old.lines[len(old.lines)-1].eol == "" {
		n := len(out.lines)
		for n > 1 && out.lines[n-1].body == "" { // it would read as a final newline
			n--
		}
		out.lines = out.lines[:n]
		out.lines[n-1].eol = ""
	}
	return out.bytes()
}

// setScalar replaces the text of a scalar on one line, in its own quotes.
func (s *splices) setScalar(n *yaml.Node, value string) error {
	refuse := func(why string) error {
		return s.o.errNode(n, "unsupported-layout", why, `write it as one quoted string on one line`)
	}
	at := s.o.place(n)
	body := s.o.text.lines[at.line].body
	switch n.Style {
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		end, ok := s.o.text.closing(at)
		if !ok || end.line != at.line {
			return refuse("the value to replace goes over several lines")
		}
		quote := body[at.off : at.off+1]
		s.replace(at.line, at.off, end.off+1, quote+value+quote)
	case 0:
		if n.Value == "" || !strings.HasPrefix(body[at.off:], n.Value) {
			return refuse("the value to replace is empty or goes over several lines")
		}
		if !plainSafe(value, n.ShortTag()) {
			value = `"` + value + `"`
		}
		s.replace(at.line, at.off, at.off+len(n.Value), value)
	default:
		return refuse("the value to replace is tagged or a block scalar")
	}
	return nil
}

// plainSafe reports whether value without quotes reads back as the same text,
// and as a string or what stood there before.
func plainSafe(value, tag string) bool {
	doc, _, err := decode([]byte(value))
	if err != nil || len(doc.Content) != 1 {
		return false
	}
	n := doc.Content[0]
	return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == value && (n.ShortTag() == "!!str" || n.ShortTag() == tag && tag != "!!null")
}

// quoted is value as a new constraint shows it: AICR leaves names bare and
// quotes comparators and numbers.
func quoted(value string) string {
	if !strings.ContainsAny(value, "<>") && plainSafe(value, "!!str") {
		return value
	}
	return `"` + value + `"`
}

// under puts lines first below a key whose value is a block or empty. An
// empty [] or {} goes away; a comment behind it stays.
func (s *splices) under(e entry, lines ...string) error {
	if e.empty() && e.val.Kind != yaml.ScalarNode {
		end, ok := s.o.text.closing(s.o.place(e.val))
		at := s.o.place(e.val)
		if !ok || end.line != at.line || at.line != e.key.Line-1 {
			return s.o.errNode(e.val, "unsupported-layout", "an empty collection over several lines", "write it on the line of its key")
		}
		body := s.o.text.lines[at.line].body
		colon := strings.TrimRight(body[:at.off], " ")
		if e.val.Style&yaml.TaggedStyle != 0 || !strings.HasSuffix(colon, ":") {
			return s.o.errNode(e.val, "unsupported-layout", "an empty collection with a tag", "remove the tag")
		}
		s.replace(at.line, len(colon), end.off+1, "")
	} else if e.val.Kind == yaml.ScalarNode && (e.val.Value != "" || e.val.Style != 0) {
		return s.o.errNode(e.val, "unsupported-layout", "an explicit null", "remove the word")
	}
	s.insert(e.key.Line-1, lines...)
	return nil
}
