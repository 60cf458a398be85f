package recipes

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestManagedComment(t *testing.T) {
	long := "  - " + strings.Repeat("word ", 60)
	got, err := managedComment([]string{"a\tb\x1b[31m\u2028c\xff", "two\nlines  ", "", long, strings.Repeat("ß", 300)}, 6)
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for i, l := range got {
		if !strings.HasPrefix(l, "      #") || utf8.RuneCountInString(l) > commentColumns || strings.TrimRight(l, " ") != l || !utf8.ValidString(l) {
			t.Errorf("line %d: %q", i, l)
		}
		if strings.Contains(l, "word") && !strings.HasPrefix(l, "      #   ") {
			t.Errorf("the continuation lost its indentation: %q", l)
		}
		words += strings.Count(l, "word")
	}
	if words != 60 || strings.Count(strings.Join(got, ""), "ß") != 300 {
		t.Error("wrapping lost text")
	}
	want := []string{"      # a b?[31m?c?", "      # two", "      # lines", "      #"}
	if !slices.Equal(got[1:5], want) {
		t.Errorf("%q", got[1:5])
	}
	if got, err := managedComment(nil, 6); got != nil || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, mark := range []string{"perfsweep: begin", "  perfsweep: end of it", "x\nperfsweep: end"} {
		if _, err := managedComment([]string{mark}, 6); err == nil {
			t.Errorf("%q was taken", mark)
		}
	}
}

func TestWrapKeepsEveryWord(t *testing.T) {
	for width := 1; width < 40; width++ {
		in := "   the quick brown fox jumps over the extraordinarily lazy dog"
		out := wrap(in, width)
		if squeeze(strings.Join(out, "")) != squeeze(in) {
			t.Errorf("width %d: %q", width, out)
		}
		for _, l := range out {
			if utf8.RuneCountInString(l) > width {
				t.Errorf("width %d: %q", width, l)
			}
		}
	}
}

func squeeze(s string) string { return strings.ReplaceAll(s, " ", "") }
