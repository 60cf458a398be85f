package recipes

import (
	"fmt"
	"strings"
)

// diffContext is the number of unchanged lines shown around a change.
const diffContext = 3

// maxEdits bounds the work of Diff; files further apart are shown as replaced.
const maxEdits = 2000

// diffLine is one line of the edit script: ' ', '-' or '+'.
type diffLine struct {
	op   byte
	text string // with its ending
}

// Diff is a unified diff of two versions of a file, "" when they are equal.
func Diff(name string, a, b []byte) string {
	if string(a) == string(b) {
		return ""
	}
	script := diffScript(strings.SplitAfter(string(a), "\n"), strings.SplitAfter(string(b), "\n"))
	var out strings.Builder
	name = strings.TrimPrefix(name, "/")
	fmt.Fprintf(&out, "--- a/%s\n+++ b/%s\n", name, name)
	lineA, lineB := 1, 1
	for from := 0; from < len(script); {
		lo, hi := nextHunk(script, from)
		if lo == hi {
			break
		}
		for _, l := range script[from:lo] { // unchanged lines between hunks
			lineA, lineB = advance(lineA, lineB, l.op)
		}
		lineA, lineB = writeHunk(&out, script[lo:hi], lineA, lineB)
		from = hi
	}
	return out.String()
}

// nextHunk is the next range of changes, with context, from an index on.
func nextHunk(script []diffLine, from int) (lo, hi int) {
	lo = from
	for lo < len(script) && script[lo].op == ' ' {
		lo++
	}
	if lo == len(script) {
		return lo, lo
	}
	hi = lo
	for i := lo; i < len(script) && i-hi <= 2*diffContext; i++ {
		if script[i].op != ' ' {
			hi = i + 1
		}
	}
	return max(from, lo-diffContext), min(len(script), hi+diffContext)
}

func advance(a, b int, op byte) (int, int) {
	if op != '+' {
		a++
	}
	if op != '-' {
		b++
	}
	return a, b
}

func writeHunk(out *strings.Builder, hunk []diffLine, a, b int) (int, int) {
	endA, endB := a, b
	for _, l := range hunk {
		endA, endB = advance(endA, endB, l.op)
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", hunkRange(a, endA-a), hunkRange(b, endB-b))
	for _, l := range hunk {
		out.WriteByte(l.op)
		out.WriteString(l.text)
		if !strings.HasSuffix(l.text, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
	return endA, endB
}

func hunkRange(start, n int) string {
	if n == 0 {
		start-- // an empty side is named by the line before it
	}
	if n == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, n)
}

// diffScript strips what is equal at both ends and searches the middle.
func diffScript(a, b []string) []diffLine {
	a, b = dropEmptyLast(a), dropEmptyLast(b)
	var head, tail []diffLine
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, diffLine{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append([]diffLine{{' ', a[len(a)-1]}}, tail...)
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return append(append(head, shortestEdit(a, b)...), tail...)
}

func dropEmptyLast(lines []string) []string {
	if n := len(lines); lines[n-1] == "" {
		return lines[:n-1]
	}
	return lines
}

// shortestEdit is Myers' greedy algorithm (Algorithmica 1, 1986): v[k] is the
// furthest x on diagonal k = x − y with d edits, kept for every d to walk back.
func shortestEdit(a, b []string) []diffLine {
	var trace [][]int
	off := min(len(a)+len(b), maxEdits) + 1
	v := make([]int, 2*off+1)
	for d := 0; d < off; d++ {
		trace = append(trace, append([]int(nil), v[off-d-1:off+d+2]...))
		for k := -d; k <= d; k += 2 {
			x := v[off+k-1] + 1
			if k == -d || k != d && v[off+k-1] < v[off+k+1] {
				x = v[off+k+1]
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			v[off+k] = x
			if x >= len(a) && x-k >= len(b) {
				return walkBack(a, b, trace)
			}
		}
	}
	var all []diffLine
	for _, l := range a {
		all = append(all, diffLine{'-', l})
	}
	for _, l := range b {
		all = append(all, diffLine{'+', l})
	}
	return all
}

func walkBack(a, b []string, trace [][]int) []diffLine {
	var rev []diffLine
	x, y := len(a), len(b)
	for d := len(trace) - 1; d >= 0; d-- {
		at := func(k int) int { return trace[d][k+d+1] } // v as it was before step d
		k := x - y
		prev := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			prev = k + 1
		}
		px := at(prev)
		py := px - prev
		for x > 0 && y > 0 && (d == 0 || x > px && y > py) && a[x-1] == b[y-1] {
			x, y = x-1, y-1
			rev = append(rev, diffLine{' ', a[x]})
		}
		if d == 0 {
			break
		}
		if x == px {
			rev = append(rev, diffLine{'+', b[py]})
		} else {
			rev = append(rev, diffLine{'-', a[px]})
		}
		x, y = px, py
	}
	script := make([]diffLine, len(rev))
	for i, l := range rev {
		script[len(rev)-1-i] = l
	}
	return script
}
