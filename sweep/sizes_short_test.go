//go:build !accept

package sweep

// Sizes of the statistical tests; make accept has larger ones.
const (
	fullAcceptance = false
	acceptTrials   = 5
)
