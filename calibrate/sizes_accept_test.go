//go:build accept

package calibrate

// Sizes of the statistical acceptance, on each seed: campaigns of a family,
// and draws of a set of confirmation runs.
const (
	fullAcceptance = true
	acceptTrials   = 16
	floorDraws     = 2000
)
