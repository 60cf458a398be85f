package report

import (
	"strings"
	"testing"
	"unicode/utf8"
)

type paper struct {
	strings.Builder
	width int
}

func (p *paper) Columns() int { return p.width }

func TestFold(t *testing.T) {
	for _, tt := range []struct {
		line string
		want string
	}{
		{"short\n", "short\n"},
		{"\n", "\n"},
		{"one two three four five\n", "one two three four\n  five\n"},
		{"  one two three four five six seven\n", "  one two three four\n    five six seven\n"},
		{"a /path/that/is/much/too/long/to/break b\n", "a\n  /path/that/is/much/too/long/to/break\n  b\n"},
		{"überüberüberüber über\n", "überüberüberüber\n  über\n"},
		{"aligned   at   columns   here\n", "aligned   at  \n  columns   here\n"},
	} {
		if got := fold(tt.line, 20); got != tt.want {
			t.Errorf("%q:\n%q, want\n%q", tt.line, got, tt.want)
		}
	}
}

// Folding loses no word, and no line is wider than it must be.
func TestFoldWidths(t *testing.T) {
	text := strings.Repeat("gate C7 wants an anchor from outside; give --anchor JOURNAL or --approve, ", 9)
	for width := 20; width < 300; width += 7 {
		p := &paper{width: width}
		if _, err := p.WriteString(folded(p, "  "+text+"\n")); err != nil {
			t.Fatal(err)
		}
		if got := strings.Fields(p.String()); strings.Join(got, " ") != strings.TrimSpace(text) {
			t.Errorf("%d: words are lost:\n%s", width, p.String())
		}
		for line := range strings.Lines(p.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, " \n")); n > width {
				t.Errorf("%d: a line of %d: %s", width, n, line)
			}
		}
	}
	var plain strings.Builder
	if got := folded(&plain, text); got != text {
		t.Error("a text is folded where there is no width")
	}
}

// An answer and what comes next fold at the usual width, and on a narrower paper at its.
func TestHeadWidths(t *testing.T) {
	text := strings.Repeat("perfsweep calibrate with the same flags ", 5)
	for width, want := range map[int]int{0: usualColumns, 50: 50, 200: usualColumns} {
		w := &paper{width: width}
		p := &printer{w: w}
		p.head(text)
		p.next(text)
		widest := 0
		for line := range strings.Lines(w.String()) {
			widest = max(widest, utf8.RuneCountInString(strings.TrimRight(line, " \n")))
		}
		if p.err != nil || widest > want || widest < want-12 {
			t.Errorf("on %d columns: a line of %d, at most %d wanted: %v\n%s", width, widest, want, p.err, w.String())
		}
	}
}
