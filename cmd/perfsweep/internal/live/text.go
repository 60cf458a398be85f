package live

import (
	"strings"
	"unicode"
)

// clean keeps out what would move the cursor, or what has no width of its own.
// Words of servers and files may come into a view.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case !unicode.IsPrint(r), unicode.In(r, unicode.M, unicode.Cf):
			return '?'
		}
		return r
	}, s)
}

// wide are the ranges of characters that may take two columns. Emoji and symbols
// that take one on some terminals are among them: a line that is a column short
// is better than one that wraps.
var wide = [...][2]rune{
	{0x1100, 0x115f}, {0x2300, 0x23ff}, {0x25a0, 0x27bf}, {0x2b00, 0x2bff}, {0x2e80, 0xa4cf}, {0xa960, 0xa97f},
	{0xac00, 0xd7ff}, {0xf900, 0xfaff}, {0xfe10, 0xfe6f}, {0xff01, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x1faff}, {0x20000, 0x3fffd},
}

func runeColumns(r rune) int {
	for _, w := range wide {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}

// columns is the width of a clean text.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// cut shortens a clean text to a width, and says that it did.
func cut(s string, width int, st Style) string {
	if columns(s) <= width {
		return s
	}
	mark := "..."
	if st.Unicode {
		mark = "…"
	}
	if width < len(mark) {
		mark = ""
	}
	left := width - columns(mark)
	var b strings.Builder
	for _, r := range s {
		if left -= runeColumns(r); left < 0 {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), " ") + mark
}

// pack joins the parts that fit, the first always, cut if it must be.
func pack(width int, st Style, sep string, parts ...string) string {
	line := ""
	for _, p := range parts {
		p = clean(p)
		switch {
		case p == "":
		case line == "":
			line = cut(p, width, st)
		case columns(line)+columns(sep)+columns(p) <= width:
			line += sep + p
		}
	}
	return line
}
