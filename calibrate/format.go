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
	return bounded(strings.NewReplacer("≤", "<=", "≥", ">=", "−", "-", "×", "x", "·", "*").Replace(s), "")
}

// inSigns is printable for where more than ASCII is read: it keeps the signs that
// the run gates are written with.
func inSigns(s string) string { return bounded(s, "≤≥−×·") }

// bounded keeps printable ASCII and the signs given, to a bounded length.
func bounded(s, signs string) string {
	const limit = 120
	out := []rune(s)
	for i, r := range out {
		if (r < ' ' || r > '~') && !strings.ContainsRune(signs, r) {
			out[i] = '?'
		}
	}
	if len(out) > limit {
		out = append(out[:limit-3], []rune("...")...)
	}
	return string(out)
}
