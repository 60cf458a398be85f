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
