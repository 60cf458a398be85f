package recipes

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The first and last line of the comment that an edit replaces. Comments
// outside of them are people's and are never touched.
const (
	markBegin = "# perfsweep: begin"
	markEnd   = "# perfsweep: end"
)

const markNote = " (rewritten by perfsweep; edits in this block are lost)"

// commentColumns is where managed comments wrap; AICR's yamllint allows 200.
const commentColumns = 120

// managedComment renders the comment block at an indentation. Measured text,
// such as a model name that a server sent, may be in it, so control characters
// are replaced. No lines give no block.
func managedComment(lines []string, indent int) ([]string, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	pad := strings.Repeat(" ", indent)
	out := []string{pad + markBegin + markNote}
	for _, l := range strings.Split(strings.Join(lines, "\n"), "\n") {
		l = strings.TrimRight(strings.Map(printable, strings.ToValidUTF8(l, "?")), " ")
		if isMark("# "+strings.TrimLeft(l, " "), markBegin) || isMark("# "+strings.TrimLeft(l, " "), markEnd) {
			return nil, fmt.Errorf("setting the gate: the comment line %q is a marker of the comment itself", clip(l))
		}
		for _, w := range wrap(l, max(40, commentColumns-indent-2)) {
			if isMark("# "+w, markBegin) || isMark("# "+w, markEnd) { // a break may have made it one
				return nil, fmt.Errorf("setting the gate: the comment wraps into a line that is a marker of the comment itself: %q", clip(l))
			}
			out = append(out, strings.TrimRight(pad+"# "+w, " "))
		}
	}
	return append(out, pad+markEnd), nil
}

func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case r == '\ufeff' || r == '\u2028' || r == '\u2029' || unicode.IsControl(r):
		return '?'
	}
	return r
}

// wrap breaks s at spaces, and a longer word anywhere, keeping its indentation.
func wrap(s string, width int) []string {
	text := strings.TrimLeft(s, " ")
	lead := s[:min(len(s)-len(text), width/2)]
	var out []string
	for s = lead + text; utf8.RuneCountInString(s) > width; {
		runes := []rune(s)
		cut := width
		for i := width; i > len(lead); i-- {
			if runes[i] == ' ' {
				cut = i
				break
			}
		}
		out = append(out, strings.TrimRight(string(runes[:cut]), " "))
		s = lead + strings.TrimLeft(string(runes[cut:]), " ")
	}
	return append(out, s)
}

func isMark(line, mark string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), mark)
	return ok && (rest == "" || rest[0] == ' ')
}

// managedBlock finds the comment block of an earlier edit, as line numbers
// from 0; found is false when there is none.
func (o *Overlay) managedBlock() (first, last int, found bool, err error) {
	from, to := o.phaseLines()
	first, last = -1, -1
	for i, l := range o.text.lines {
		begin, end := isMark(l.body, markBegin), isMark(l.body, markEnd)
		switch {
		case !begin && !end:
			continue
		case i < from || i >= to:
			return 0, 0, false, o.markError(i, "lies outside of the performance phase")
		case begin && first >= 0, end && (first < 0 || last >= 0):
			return 0, 0, false, o.markError(i, "has no partner")
		case begin:
			first = i
		default:
			last = i
		}
	}
	if first >= 0 && last < 0 {
		return 0, 0, false, o.markError(first, "has no partner")
	}
	for i := first; first >= 0 && i <= last; i++ {
		if !o.text.comment(i) {
			return 0, 0, false, o.markError(first, "opens a block with more than comments in it")
		}
	}
	return first, last, first >= 0, nil
}

// Managed is where the comment of an earlier edit begins, from 1, and the status
// that it states; line 0 where there is none.
func (o *Overlay) Managed() (line, col int, status string) {
	first, last, found, err := o.managedBlock()
	if err != nil || !found {
		return 0, 0, ""
	}
	if first+1 < last {
		status, _, _ = strings.Cut(strings.TrimLeft(o.text.lines[first+1].body, " #"), ":")
	}
	return first + 1, o.text.indent(first) + 1, status
}

func (o *Overlay) markError(line int, what string) error {
	return o.errAt(line+1, o.text.indent(line)+1, "managed-comment", "the marker "+strings.TrimSpace(clip(o.text.lines[line].body))+" "+what,
		"remove the old perfsweep comment by hand")
}
