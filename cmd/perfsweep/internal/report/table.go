package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// table aligns rows; the last cell of a row runs free. On a terminal that it is
// too wide for its cells are broken.
func (p *printer) table(rows [][]string) {
	if p.err != nil || len(rows) == 0 {
		return
	}
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range rows {
		last := len(r) - 1
		fmt.Fprintf(tw, "%s\t %s\n", strings.Join(r[:last], "\t"), r[last])
	}
	if p.err = tw.Flush(); p.err != nil {
		return
	}
	text := b.String()
	if width := columnsOf(p.w); width > 0 && widest(text) > width {
		text = narrow(rows, width)
	}
	p.raw(text)
}

// columnsOf is the width of what a human reads, 0 where that is not known.
func columnsOf(w io.Writer) int {
	if c, ok := w.(Columned); ok {
		return c.Columns()
	}
	return 0
}

func widest(text string) int {
	most := 0
	for line := range strings.Lines(text) {
		most = max(most, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
	}
	return most
}

// leastBeside is the room in which a free cell still reads well beside its row.
const leastBeside = 20

// narrow lays a table out in so many columns: cells are broken at blanks where
// that helps, and what runs free goes below its row where there is no room
// beside it.
func narrow(rows [][]string, columns int) string {
	last := len(rows[0]) - 1
	size := func(head, body func(string) int) (widths []int, all int) {
		widths = make([]int, last)
		for i := range widths {
			width := head
			for _, r := range rows {
				widths[i] = max(widths[i], width(r[i]))
				width = body
			}
			all += widths[i] + 2
		}
		return widths, all
	}
	widths, all := size(utf8.RuneCountInString, utf8.RuneCountInString)
	if all+leastBeside > columns { // the heads are the longest
		widths, all = size(longestWord, utf8.RuneCountInString)
	}
	if all > columns {
		widths, all = size(longestWord, longestWord)
	}
	room, beside := columns-all-1, true
	if room < leastBeside {
		room, beside = columns-8, false
	}
	var b strings.Builder
	for _, r := range rows {
		cells, height := make([][]string, last), 0
		for i := range cells {
			cells[i] = breakAt(r[i], widths[i])
			height = max(height, len(cells[i]))
		}
		free := breakAt(r[last], room)
		if beside {
			height = max(height, len(free))
		}
		for k := range height {
			line := ""
			for i := range cells {
				line += fmt.Sprintf("%*s", widths[i]+2, nth(cells[i], k))
			}
			if beside {
				line += " " + nth(free, k)
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		for _, line := range free {
			if !beside {
				b.WriteString("        " + line + "\n")
			}
		}
	}
	return b.String()
}

func nth(lines []string, k int) string {
	if k < len(lines) {
		return lines[k]
	}
	return ""
}

func longestWord(cell string) int {
	most := 0
	for word := range strings.FieldsSeq(cell) {
		most = max(most, utf8.RuneCountInString(word))
	}
	return most
}

// breakAt breaks a text at blanks into lines of a width. A word that is wider
// stays whole.
func breakAt(text string, width int) []string {
	var lines []string
	for word := range strings.FieldsSeq(text) {
		n := len(lines) - 1
		if n >= 0 && utf8.RuneCountInString(lines[n])+1+utf8.RuneCountInString(word) <= width {
			lines[n] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}
