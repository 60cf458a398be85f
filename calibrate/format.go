package calibrate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/internal/exact"
)

// num prints a quantity with at most four significant digits, never as an
// exponent at the sizes that occur here.
func num(x float64) string {
	switch {
	case !positive(x):
		return "0"
	case x >= 1000:
		return strconv.FormatFloat(math.Round(x), 'f', -1, 64)
	}
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return "0"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// percentGap says a gap of ln X as the share that the lower run lacks.
func percentGap(gap float64) string { return fmt.Sprintf("%.1f %%", 100*-exact.Expm1(-gap)) }

// printable makes text from outside safe for one comment line: printable ASCII
// only, of bounded length.
func printable(s string) string {
	const limit = 120
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	if len(s) > limit {
		s = s[:limit-3] + "..."
	}
	return s
}
