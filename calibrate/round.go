package calibrate

import (
	"math"
	"strconv"
)

// roundSlack undoes the last binary digits of a product such as 0.85 × 20000,
// which must round as the decimal 17000 that it stands for.
const roundSlack = 1e-12

// floorSig rounds x down to sig significant decimal digits. It works on the
// decimal expansion, so the answer prints with no more digits than that.
func floorSig(x float64, sig int) float64 { return roundSig(x*(1+roundSlack), sig, false) }

// ceilSig rounds x up to sig significant decimal digits.
func ceilSig(x float64, sig int) float64 { return roundSig(x*(1-roundSlack), sig, true) }

// roundSig returns 0 for anything that is not a positive finite number.
func roundSig(x float64, sig int, up bool) float64 {
	if !positive(x) {
		return 0
	}
	// d.ddd…e±xx: 17 digits after the point are exact enough to tell every
	// float64 from its neighbours.
	text := strconv.FormatFloat(x, 'e', 17, 64)
	mantissa, exponent := text[:19], text[20:]
	digits := mantissa[:1] + mantissa[2:]
	head, err := strconv.ParseInt(digits[:sig], 10, 64)
	if err != nil {
		return 0
	}
	exp10, err := strconv.Atoi(exponent)
	if err != nil {
		return 0
	}
	if rest, err := strconv.ParseInt(digits[sig:], 10, 64); up && (err != nil || rest > 0) {
		head++
	}
	v, err := strconv.ParseFloat(strconv.FormatInt(head, 10)+"e"+strconv.Itoa(exp10-sig+1), 64)
	if err != nil {
		return 0
	}
	return v
}

// positive reports whether x is a usable measurement: finite and above zero.
func positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
