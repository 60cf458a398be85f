//go:build accept

package sweep

// Sizes of the statistical acceptance: sweeps of a family on each seed.
const (
	fullAcceptance = true
	acceptTrials   = 40
)
