//go:build accept

package knee_test

// Sizes of the statistical acceptance: curves of a family on each seed.
const (
	fullAcceptance = true
	acceptTrials   = 100
)
