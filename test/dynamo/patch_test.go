package dynamo

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// patch applies a unified diff of one file, strictly: every context line and
// every removed line must be there, at the place that the hunk names.
func patch(src, diff string) (string, error) {
	lines := strings.SplitAfter(src, "\n")
	var out strings.Builder
	var hunk hunk
	next, hunks := 0, 0
	for _, line := range diffLines(diff) {
		if hunk.done() {
			if !strings.HasPrefix(line, "@@ ") {
				continue // file names and what stands between hunks
			}
			var err error
			if hunk, err = parseHunk(line); err != nil {
				return "", err
			}
			if hunk.first < next || hunk.first > len(lines) {
				return "", fmt.Errorf("hunk %q starts outside of what is left of the file", line)
			}
			out.WriteString(strings.Join(lines[next:hunk.first], ""))
			next, hunks = hunk.first, hunks+1
			continue
		}
		mark, text := line[0], line[1:]
		if mark != ' ' && mark != '-' && mark != '+' {
			return "", fmt.Errorf("diff line %q inside a hunk", line)
		}
		if mark != '+' {
			if next >= len(lines) || lines[next] != text {
				return "", fmt.Errorf("line %d of the file is not the %q of the diff", next+1, line)
			}
			next++
			hunk.old--
		}
		if mark != '-' {
			out.WriteString(text)
			hunk.new--
		}
	}
	if hunks == 0 || !hunk.done() {
		return "", fmt.Errorf("%d hunks, the last one lacks %d old and %d new lines", hunks, hunk.old, hunk.new)
	}
	out.WriteString(strings.Join(lines[next:], ""))
	return out.String(), nil
}

// diffLines splits a diff; a line marked as the end of a file without a newline
// loses its own.
func diffLines(diff string) []string {
	var out []string
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, `\ `) && len(out) > 0 {
			out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], "\n")
			continue
		}
		out = append(out, line)
	}
	return out
}

// hunk is a hunk's first line, as an index into the old file, and the old and
// new lines that are still to come.
type hunk struct{ first, old, new int }

func (h hunk) done() bool { return h.old <= 0 && h.new <= 0 }

var hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// parseHunk reads "@@ -a,b +c,d @@", where a length of 1 may be left out.
func parseHunk(line string) (hunk, error) {
	m := hunkHeader.FindStringSubmatch(line)
	if m == nil {
		return hunk{}, fmt.Errorf("%q is not a hunk header", line)
	}
	n := [3]int{0, 1, 1}
	for i := range n {
		if m[i+1] == "" {
			continue
		}
		var err error
		if n[i], err = strconv.Atoi(m[i+1]); err != nil {
			return hunk{}, fmt.Errorf("hunk header %q: %w", line, err)
		}
	}
	h := hunk{first: n[0], old: n[1], new: n[2]}
	if h.old > 0 { // else the new lines follow line a
		h.first--
	}
	return h, nil
}

func TestPatch(t *testing.T) {
	const src = "a\nb\nc\nd\ne\n"
	for _, tt := range []struct {
		diff, want string // "" wants an error
	}{
		{"--- x\n+++ x\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n", "a\nb\nC\nd\ne\n"},
		{"@@ -1,1 +1,2 @@\n a\n+x\n@@ -5,1 +6,1 @@\n-e\n+E\n", "a\nx\nb\nc\nd\nE\n"},
		{"@@ -5 +5 @@\n-e\n+E\n\\ No newline at end of file\n", "a\nb\nc\nd\nE"},
		{"@@ -5,0 +6,1 @@\n+f\n", "a\nb\nc\nd\ne\nf\n"},
		{"@@ -2,2 +2,1 @@\n-b\n--- c\n", ""},
		{"@@ -2,1 +2,1 @@\n-B\n+x\n", ""},
		{"@@ -2,2 +2,1 @@\n-b\n", ""},
		{"@@ -9,1 +9,1 @@\n-b\n+x\n", ""},
		{"no hunk\n", ""},
		{"", ""},
	} {
		got, err := patch(src, tt.diff)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("patch(%q) = %q, %v, want %q", tt.diff, got, err, tt.want)
		}
	}
}
