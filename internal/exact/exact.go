// Package exact has the few functions of real numbers that a decision rests on,
// with one result on every machine.
//
// Package math promises no such thing: Exp and Log are assembly on one
// architecture and Go on another, and a Go compiler may fuse x*y + z into one
// rounding where the processor can (the Go specification, "Floating-point
// operators"). A fit that chooses among near-equals then chooses otherwise, and what
// was computed on one cluster cannot be computed again elsewhere. Here every product
// that is added to is rounded first, by a conversion, which the specification makes
// a barrier; what remains are operations that IEEE 754 defines to the last bit. The
// results are within about one unit in the last place of the true ones.
package exact

import (
	"math"
	"strconv"
)

// ln 2 in two parts: the first has so few bits that its products with exponents
// are exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// logTerms and expTerms are how many terms leave less than half a unit in the last
// place: s² ≤ 0.0295 in the one series, |r| ≤ 0.347 in the other.
const (
	logTerms = 12
	expTerms = 15
)

// Log is the natural logarithm.
func Log(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	// ln m = 2 artanh s = 2s (1 + s²/3 + s⁴/5 + …)
	s := (m - 1) / (m + 1)
	z := s * s
	var tail float64
	for i := logTerms; i > 0; i-- {
		tail = float64(z * (tail + 2/float64(2*i+1)))
	}
	e := float64(k)
	return float64(e*ln2High) + (2*s + (float64(s*tail) + float64(e*ln2Low)))
}

// Exp is the exponential function.
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x > 709.79:
		return math.Inf(1)
	case x < -745.2:
		return 0
	}
	k := math.Floor(float64(x/math.Ln2) + 0.5)
	r := (x - float64(k*ln2High)) - float64(k*ln2Low)
	q := 0.0
	for i := expTerms; i > 2; i-- {
		q = float64((1 + q) * r / float64(i))
	}
	return math.Ldexp(1+(r+float64(float64(r*r)*(1+q)/2)), int(k))
}

// Log2 is the logarithm to the base of 2, exact for powers of it.
func Log2(x float64) float64 {
	if m, k := math.Frexp(x); m == 0.5 {
		return float64(k - 1)
	}
	return Log(x) / math.Ln2
}

// Log1p is Log(1 + x), precise where x is small: the error of 1 + x cancels in the
// quotient (W. Kahan; Goldberg 1991, theorem 4).
func Log1p(x float64) float64 {
	u := 1 + x
	if u == 1 || math.IsInf(u, 1) {
		return x
	}
	return Log(u) * x / (u - 1)
}

// Expm1 is Exp(x) - 1, precise where x is small, by the same device.
func Expm1(x float64) float64 {
	u := Exp(x)
	switch {
	case u == 1:
		return x
	case u-1 == -1 || math.IsInf(u, 1):
		return u - 1
	}
	return (u - 1) * x / Log(u)
}

// Pow is x to the power of y, for x > 0.
func Pow(x, y float64) float64 { return Exp(y * Log(x)) }

// Digits rounds to n significant digits. A value that somebody else's series or
// root finding gave is one on every machine after it, as far as its last digits are
// not what they differ in.
func Digits(x float64, n int) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', n-1, 64), 64)
	if err != nil {
		return x
	}
	return y
}
