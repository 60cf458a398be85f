package calibrate

import (
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/perfsweep/perfsweep/internal/exact"
)

// distDigits is how many digits of a distribution function count. It is computed
// by series and root finding whose last digits are not the same on every machine.
const distDigits = 10

// normalCDF is the standard normal distribution.
func normalCDF(z float64) float64 { return exact.Digits(distuv.UnitNormal.CDF(z), distDigits) }

// studentsT is a quantile of Student's t.
func studentsT(nu, p float64) float64 {
	return exact.Digits(distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}.Quantile(p), distDigits)
}
