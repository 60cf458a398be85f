package report

import (
	"strings"
	"testing"
)

// A table that fits is not touched; a wider one is broken so that no line is wider
// than the terminal, and no word of it is lost.
func TestTable(t *testing.T) {
	rows := [][]string{
		{"healthy pass", "bad caught", "tok/s", "state and source of it"},
		{"1 of 2", "3 of 3", "123,456", "healthy; an issue that has a long story to tell, in many words"},
		{"-", "-", "-", ""},
	}
	at := func(columns int) string {
		to := &paper{width: columns}
		p := &printer{w: to}
		p.table(rows)
		if p.err != nil {
			t.Fatal(p.err)
		}
		return to.String()
	}
	unknown := at(0)
	if strings.Count(unknown, "\n") != len(rows) || at(200) != unknown {
		t.Errorf("a table that fits:\n%s\n%s", unknown, at(200))
	}
	for columns := 30; columns < 110; columns++ {
		got := at(columns)
		if w := widest(got); w > columns {
			t.Errorf("%d columns in %d:\n%s", w, columns, got)
		}
		words := func(s string) map[string]int {
			n := map[string]int{}
			for _, w := range strings.Fields(s) {
				n[w]++
			}
			return n
		}
		was, is := words(unknown), words(got)
		for w, n := range was {
			if is[w] != n {
				t.Errorf("%q stands %d times, not %d, in %d columns:\n%s", w, is[w], n, columns, got)
			}
		}
	}
	if got, want := at(50), "  healthy     bad    tok/s state and source of it\n     pass  caught\n"; !strings.HasPrefix(got, want) {
		t.Errorf("in 50 columns:\n%s", got)
	}
}
