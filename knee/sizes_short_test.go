//go:build !accept

package knee_test

// Sizes of the statistical tests; make accept has larger ones.
const (
	fullAcceptance = false
	acceptTrials   = 25
)
