package plot

import "strconv"

// Number writes a value at reading precision: "0.25", "12.3", "1,234".
func Number(v float64) string {
	a := max(v, -v)
	switch {
	case a < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return Group(strconv.FormatFloat(v, 'f', 0, 64))
}

// Group puts thousands separators into a whole number.
func Group(s string) string {
	first := 0
	if s != "" && s[0] == '-' {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// tick writes a round value.
func tick(v float64) string {
	if v >= 1000 || v <= -1000 {
		return Group(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
