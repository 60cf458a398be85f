//go:build !accept

package calibrate

// Sizes of the statistical tests; make accept has larger ones.
const (
	fullAcceptance = false
	acceptTrials   = 2
	floorDraws     = 200
)
