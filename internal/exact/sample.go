package exact

import "math"

// Mean of values, NaN of none. They are added in their order: libraries add several
// at a time on some machines.
func Mean(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// Variance of values, with a divisor of one less than their number; NaN of fewer
// than two.
func Variance(v []float64) float64 {
	mean := Mean(v)
	var ss, off float64
	for _, x := range v {
		d := x - mean
		ss += float64(d * d)
		off += d // what the rounding of the mean left
	}
	return (ss - float64(off*off)/float64(len(v))) / float64(len(v)-1)
}

// StdDev is the square root of Variance.
func StdDev(v []float64) float64 { return math.Sqrt(Variance(v)) }
