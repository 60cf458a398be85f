package report

import (
	"io"
	"strings"
	"unicode/utf8"
)

// usualColumns is what a table must fit into, wherever it is printed.
const usualColumns = 80

// Columned is a writer whose lines a human reads in so many columns, 0 where that
// is not known. Sentences are folded to it. Anywhere else, as in a file that is
// searched, one sentence stays one line.
type Columned interface {
	io.Writer
	Columns() int
}

// folded breaks the lines of a text for a writer that has a width.
func folded(w io.Writer, text string) string {
	columns := columnsOf(w)
	if columns <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(fold(line, columns))
	}
	return b.String()
}

// fold breaks a line at blanks, and sets what follows a little to the right. A
// word that is wider than a line stays whole, so that it can be copied.
func fold(line string, width int) string {
	body := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(body)]
	next := indent + "  "
	if len(next) > width/2 {
		return line
	}
	var b strings.Builder
	b.WriteString(indent)
	at, first := len(indent), true
	for i, word := range strings.Split(body, " ") {
		n := utf8.RuneCountInString(strings.TrimSuffix(word, "\n"))
		switch {
		case i == 0:
		case at+1+n > width && !first:
			b.WriteString("\n" + next)
			at, first = len(next), true
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
		first = first && n == 0
	}
	return b.String()
}
