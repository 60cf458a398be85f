package recipes

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

const bom = "\ufeff"

// text is a file cut into lines. Every line remembers its own ending, so that
// joining the lines again gives the same bytes whatever the file mixes.
type text struct {
	bom   bool
	lines []textLine
}

type textLine struct{ body, eol string }

func splitText(src []byte) text {
	var t text
	if rest, ok := bytes.CutPrefix(src, []byte(bom)); ok {
		t.bom, src = true, rest
	}
	for s := string(src); s != ""; {
		body, rest, found := strings.Cut(s, "\n")
		l := textLine{body: body}
		if found {
			l.eol = "\n"
		}
		if b, ok := strings.CutSuffix(body, "\r"); ok && found {
			l.body, l.eol = b, "\r\n"
		}
		t.lines = append(t.lines, l)
		s = rest
	}
	return t
}

// bytes joins the lines, with the byte order mark if there was one.
func (t text) bytes() []byte {
	var b bytes.Buffer
	if t.bom {
		b.WriteString(bom)
	}
	for _, l := range t.lines {
		b.WriteString(l.body)
		b.WriteString(l.eol)
	}
	return b.Bytes()
}

// yaml is what the parser sees: no byte order mark, so that its columns are ours.
func (t text) yaml() []byte {
	t.bom = false
	return t.bytes()
}

// eol is the ending that a line put after line i gets.
func (t text) eol(i int) string {
	if t.lines[i].eol != "" {
		return t.lines[i].eol
	}
	if t.lines[0].eol != "" {
		return t.lines[0].eol
	}
	return "\n"
}

func (t text) indent(i int) int {
	s := t.lines[i].body
	return len(s) - len(strings.TrimLeft(s, " "))
}

func (t text) blank(i int) bool { return strings.TrimSpace(t.lines[i].body) == "" }

func (t text) comment(i int) bool {
	return strings.HasPrefix(strings.TrimLeft(t.lines[i].body, " "), "#")
}

// offset turns a 1-based column, which the YAML parser counts in characters,
// into a byte offset within the line.
func (t text) offset(line, col int) int {
	off := 0
	for s := t.lines[line].body; col > 1 && off < len(s); col-- {
		_, n := utf8.DecodeRuneInString(s[off:])
		off += n
	}
	return off
}

// column is the inverse of offset.
func (t text) column(line, off int) int {
	return utf8.RuneCountInString(t.lines[line].body[:off]) + 1
}
