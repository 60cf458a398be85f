package recipes

import "strconv"

// Apart prints two numbers with so many digits after the point, and with more
// where those would not tell them apart: "187.00 is above 187.00" says nothing.
func Apart(a, b float64, digits int) (string, string) {
	for ; ; digits++ {
		s, t := strconv.FormatFloat(a, 'f', digits, 64), strconv.FormatFloat(b, 'f', digits, 64)
		if s != t || a == b || a != a || b != b || digits >= mostDigits {
			return s, t
		}
	}
}

// mostDigits are enough for any two numbers of the sizes that are measured.
const mostDigits = 17
