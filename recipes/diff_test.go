package recipes

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDiff(t *testing.T) {
	a := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n"
	b := "1\n2\nthree\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14"
	want := "--- a/x.yaml\n+++ b/x.yaml\n@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n" +
		"@@ -11,4 +11,4 @@\n 11\n 12\n 13\n-14\n+14\n\\ No newline at end of file\n"
	if diff := cmp.Diff(want, Diff("x.yaml", []byte(a), []byte(b))); diff != "" {
		t.Error(diff)
	}
	if got := Diff("x", []byte(a), []byte(a)); got != "" {
		t.Errorf("equal files differ: %s", got)
	}
	if got := Diff("x", nil, []byte("a\n")); got != "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n" {
		t.Errorf("from nothing: %s", got)
	}
	if got := Diff("x", []byte("a\nb\n"), nil); got != "--- a/x\n+++ b/x\n@@ -1,2 +0,0 @@\n-a\n-b\n" {
		t.Errorf("to nothing: %s", got)
	}
}

// Applying the diff to a must give b, whatever they are, and the script must
// be as short as the longest common subsequence allows.
func TestDiffApplies(t *testing.T) {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\r\n", "\n"}), 0, 30)
	rapid.Check(t, func(t *rapid.T) {
		as, bs := lines.Draw(t, "a"), lines.Draw(t, "b")
		a, b := strings.Join(as, ""), strings.Join(bs, "")
		if rapid.Bool().Draw(t, "cut") {
			b = strings.TrimSuffix(b, "\n")
		}
		d := Diff("f", []byte(a), []byte(b))
		if got := patch(t, a, d); got != b {
			t.Fatalf("applied: %q, want %q\n%s", got, b, d)
		}
		script := diffScript(strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n"))
		same := 0
		for _, l := range script {
			if l.op == ' ' {
				same++
			}
		}
		if want := lcs(dropEmptyLast(strings.SplitAfter(a, "\n")), dropEmptyLast(strings.SplitAfter(b, "\n"))); same != want {
			t.Fatalf("%d lines kept, %d possible", same, want)
		}
	})
}

func TestDiffOfFilesFarApart(t *testing.T) {
	a, b := strings.Repeat("a\n", 3000), strings.Repeat("b\n", 3000)
	if got := patch(t, a, Diff("f", []byte(a), []byte(b))); got != b {
		t.Error("does not apply")
	}
}

func lcs(a, b []string) int {
	t := make([][]int, len(a)+1)
	for i := range t {
		t[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			t[i+1][j+1] = max(t[i][j+1], t[i+1][j])
			if a[i] == b[j] {
				t[i+1][j+1] = t[i][j] + 1
			}
		}
	}
	return t[len(a)][len(b)]
}

// patch applies a unified diff strictly.
func patch(t interface{ Fatalf(string, ...any) }, a, diff string) string {
	if diff == "" {
		return a
	}
	from := strings.SplitAfter(a, "\n")
	pos := 0
	var out strings.Builder
	body := strings.SplitAfter(diff, "\n")[2:]
	for i, l := range body {
		text := l[min(1, len(l)):]
		if i+1 < len(body) && strings.HasPrefix(body[i+1], `\`) {
			text = strings.TrimSuffix(text, "\n")
		}
		switch {
		case strings.HasPrefix(l, "@@"):
			m := regexp.MustCompile(`^@@ -(\d+)(,0)?`).FindStringSubmatch(l)
			start, _ := strconv.Atoi(m[1])
			if m[2] == "" {
				start--
			}
			for ; pos < start; pos++ {
				out.WriteString(from[pos])
			}
		case strings.HasPrefix(l, "+"):
			out.WriteString(text)
		case strings.HasPrefix(l, "-"), strings.HasPrefix(l, " "):
			if from[pos] != text {
				t.Fatalf("line %d is %q, the diff says %q", pos+1, from[pos], text)
			}
			if l[0] == ' ' {
				out.WriteString(text)
			}
			pos++
		}
	}
	return out.String() + strings.Join(from[pos:], "")
}
