package calibrate

import "testing"

// Only comments of overlays are ASCII; nothing from outside reaches either raw.
func TestSigns(t *testing.T) {
	for _, tt := range []struct{ in, comment, page string }{
		{"≤ 20.00 ms", "<= 20.00 ms", "≤ 20.00 ms"},
		{"|X·R/N − 1| ≤ 5 %", "|X*R/N - 1| <= 5 %", "|X·R/N − 1| ≤ 5 %"},
		{"\x1b[2J\u202eé", "?[2J??", "?[2J??"},
	} {
		if got := printable(tt.in); got != tt.comment {
			t.Errorf("printable(%q) = %q, want %q", tt.in, got, tt.comment)
		}
		if got := inSigns(tt.in); got != tt.page {
			t.Errorf("inSigns(%q) = %q, want %q", tt.in, got, tt.page)
		}
	}
}
