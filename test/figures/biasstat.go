package main

import "math"

// estimate is a mean with the range into which the mean of as many further runs
// falls with a chance of 95 %: the values are taken as normal. That is wider by
// the root of 2 than the confidence interval of the mean, which is about where
// the mean of infinitely many runs lies, and that nobody will see.
type estimate struct{ mean, low, high float64 }

func (e estimate) covers(v float64) bool { return e.low <= v && v <= e.high }

// estimateOf needs two values for a range; of one, the range is not a number
// and covers nothing.
func estimateOf(v []float64) estimate {
	n := float64(len(v))
	mean := 0.
	for _, x := range v {
		mean += x / n
	}
	if len(v) < 2 {
		return estimate{mean, math.NaN(), math.NaN()}
	}
	squares := 0.
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	half := student975(len(v)-1) * math.Sqrt(squares/(n-1)*2/n)
	return estimate{mean, mean - half, mean + half}
}

// student975 is the 97.5 % quantile of Student's t. Past the table it is
// Cornish and Fisher's expansion about the normal quantile (Biometrika 1960),
// within 0.0002 there.
func student975(freedom int) float64 {
	table := [...]float64{12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281}
	if freedom <= len(table) {
		return table[freedom-1]
	}
	const z = 1.959964
	f := float64(freedom)
	z3, z5, z7 := math.Pow(z, 3), math.Pow(z, 5), math.Pow(z, 7)
	return z + (z3+z)/(4*f) + (5*z5+16*z3+3*z)/(96*f*f) + (3*z7+19*z5+17*z3-15*z)/(384*f*f*f)
}

// linear is a quantile as AIPerf defines it, and with it every report in its
// form: between order statistics, at position q(n-1). The values are sorted.
func linear(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	k := int(at)
	return sorted[k] + (at-float64(k))*(sorted[min(k+1, len(sorted)-1)]-sorted[k])
}
