package spell

import "testing"

func TestDistance(t *testing.T) {
	for _, row := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 4, 0},
		{"knee", "knee", 4, 0},
		{"", "abc", 4, 3},
		{"kitten", "sitting", 9, 3},
		{"flaw", "lawn", 9, 2},
		{"intention", "execution", 9, 5},
		{"ab", "ba", 9, 2},
		// At the limit and above, the limit.
		{"kitten", "sitting", 3, 3},
		{"kitten", "sitting", 2, 2},
		{"", "abcdef", 4, 4},
		{"a", "a", 0, 0},
		{"a", "b", 0, 0},
	} {
		if got := Distance(row.a, row.b, row.limit); got != row.want {
			t.Errorf("%q, %q: %d, want %d", row.a, row.b, got, row.want)
		}
		if got := Distance(row.b, row.a, row.limit); got != row.want {
			t.Errorf("%q, %q: %d, want %d", row.b, row.a, got, row.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"target", "targets", "gpus", "gpu"}
	for _, row := range []struct {
		word  string
		limit int
		want  string
	}{
		{"targte", 4, "target"}, // and not targets, which is farther
		{"gp", 3, "gpu"},
		{"gpuz", 3, "gpus"}, // as far as gpu, and before it
		{"targte", 2, ""},
		{"", 3, ""},
		{"gpus", 0, ""},
	} {
		if got := Nearest(row.word, known, row.limit); got != row.want {
			t.Errorf("%q, %d: %q, want %q", row.word, row.limit, got, row.want)
		}
	}
}
