package calibrate

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestRounding(t *testing.T) {
	for _, c := range []struct{ x, floor3, floor2, ceil2 float64 }{
		{0.85 * 20000, 17000, 17000, 17000}, // 16999.999… in binary
		{17999.999, 17900, 17000, 18000},
		{18000, 18000, 18000, 18000},
		{0.85 * 21197, 18000, 18000, 19000},
		{1354, 1350, 1300, 1400},
		{2 * 677, 1350, 1300, 1400},
		{999.9, 999, 990, 1000},
		{0.0012345, 0.00123, 0.0012, 0.0013},
		{100, 100, 100, 100},
		{0.9 * 100, 90, 90, 90},
		{1.1 * 100, 110, 110, 110}, // 110.00000000000001 in binary
		{7, 7, 7, 7},
		{1e300, 1e300, 1e300, 1e300},
		{0, 0, 0, 0},
		{-5, 0, 0, 0},
		{math.NaN(), 0, 0, 0},
		{math.Inf(1), 0, 0, 0},
	} {
		if f3, f2, c2 := floorSig(c.x, 3), floorSig(c.x, 2), ceilSig(c.x, 2); f3 != c.floor3 || f2 != c.floor2 || c2 != c.ceil2 {
			t.Errorf("%v: %v %v %v, want %v %v %v", c.x, f3, f2, c2, c.floor3, c.floor2, c.ceil2)
		}
	}
}

// A rounded value prints with no more significant digits than asked for, lies
// on the right side, within one unit of its last digit, and is a fixed point.
func TestRoundingLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Exp(rapid.Float64Range(-12, 20).Draw(t, "ln x"))
		sig := rapid.IntRange(1, 4).Draw(t, "digits")
		f, c := floorSig(x, sig), ceilSig(x, sig)
		for _, v := range []float64{f, c} {
			text := strconv.FormatFloat(v, 'e', -1, 64)
			digits := 0
			for _, r := range text {
				if r == 'e' {
					break
				}
				if r != '.' {
					digits++
				}
			}
			if digits > sig {
				t.Fatalf("%v rounded to %d digits prints as %s", x, sig, text)
			}
			if floorSig(v, sig) != v || ceilSig(v, sig) != v {
				t.Fatalf("%v is not a fixed point", v)
			}
		}
		unit := math.Pow(10, float64(1-sig)) * 1.0000001
		if !(f <= x*(1+1e-11) && c >= x*(1-1e-11) && f >= x*(1-unit) && c <= x*(1+unit)) {
			t.Fatalf("%v to %d digits: %v and %v", x, sig, f, c)
		}
	})
}
