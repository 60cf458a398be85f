package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/markup"
)

// PageMarkdown writes the report for a pull request: the answer, the curve and
// the gates open, the rest folded.
func PageMarkdown(out io.Writer, p Page) error {
	m := &markdown{}
	answer, mood := p.verdict()
	m.line("## %s %s", map[string]string{"good": "✅", "warn": "⚠️", "bad": "❌"}[string(mood)], words(capital(answer)))
	m.line("")
	m.line("%s", words(p.title()))
	m.line("")
	if c := p.Comparison; c != nil {
		for _, l := range c.lines() {
			m.line("- %s", words(l))
		}
		m.line("")
		m.table(c.levelGrid())
	}
	for _, s := range p.sides() {
		m.side(s, answer)
	}
	_, err := io.WriteString(out, m.b.String())
	return err
}

type markdown struct{ b strings.Builder }

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

func (m *markdown) side(s Side, said string) {
	if a := s.kneeWords(); a != said {
		m.line("%s", words(s.of(a)))
		m.line("")
	}
	for _, w := range s.warnings() {
		m.line("- %s", words(s.of(w)))
	}
	m.line("")
	m.table(s.levels())
	if o := s.Curve.Objective; o != nil {
		for _, w := range s.goodputWords() {
			m.line("- %s", words(s.of(w)))
		}
		m.line("")
		if len(o.SLO.Levels) > 0 {
			m.table(s.goodputGrid())
		}
	}
	if g := s.Gates; g != nil {
		if len(g.Campaign) > 0 {
			for _, r := range s.remarks() {
				m.line("- %s", words(s.of(r)))
			}
			m.line("")
			m.folded(gateGrid(s.of("The gates on the campaign"), g.Campaign, campaignState))
		}
		m.folded(gateGrid(s.of("The run gates"), g.Run, s.runState))
	}
	if s.recorded() {
		m.folded(s.runTable())
	}
	if f := s.Curve.Fingerprint; f != nil {
		g := grid{caption: s.of("Fingerprint"), head: []string{"field", "value"}, words: map[int]bool{0: true, 1: true}}
		for _, f := range fields(f) {
			g.add(f[0], f[1])
		}
		m.folded(g)
	}
}

func (m *markdown) folded(g grid) {
	m.line("<details><summary>%s</summary>", markup.Escape(g.caption)) // a line of HTML
	m.line("")
	m.table(g)
	m.line("</details>")
	m.line("")
}

func (m *markdown) table(g grid) {
	row := func(cells []string) {
		m.b.WriteString("|")
		for _, c := range cells {
			m.b.WriteString(" " + words(c) + " |")
		}
		m.b.WriteString("\n")
	}
	row(g.head)
	m.b.WriteString("|")
	for i := range g.head {
		if g.words[i] {
			m.b.WriteString(" :--- |")
		} else {
			m.b.WriteString(" ---: |")
		}
	}
	m.b.WriteString("\n")
	for _, r := range g.rows {
		row(r)
	}
	m.line("")
}

// words makes a server's words plain text in Markdown: no markup, no table cell, no
// link, nobody mentioned and no issue referred to. Markdown escapes what it gives a
// meaning with a backslash; what only GitHub does, after it, is parted by a joiner
// that has no width. Names such as latency_limited stay readable.
func words(s string) string {
	var b strings.Builder
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, string(unicode.ReplacementChar))), " ")
	before := ' '
	numbered := true // only digits so far, as before the dot of a list
	for i, r := range s {
		rest := s[i+utf8.RuneLen(r):]
		next, _ := utf8.DecodeRuneInString(rest)
		switch {
		case strings.ContainsRune("\\`*[]<>|~$&", r),
			r == '_' && !(alphanumeric(before) && alphanumeric(next)),
			i == 0 && strings.ContainsRune("-+=", r) && (next == ' ' || next == r),
			numbered && i > 0 && strings.ContainsRune(".)", r) && next == ' ',
			r == ':' && strings.HasPrefix(rest, "//"),
			r == '.' && strings.HasSuffix(strings.ToLower(s[:i]), "www"):
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == 0xFFFE, r == 0xFFFF:
			b.WriteRune(unicode.ReplacementChar)
		default:
			b.WriteRune(r)
		}
		if r == '@' || r == '#' {
			b.WriteRune(wordJoiner)
		}
		numbered = numbered && r >= '0' && r <= '9'
		before = r
	}
	return b.String()
}

// wordJoiner has no width, and no name or number begins with it.
const wordJoiner = '\u2060'

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
