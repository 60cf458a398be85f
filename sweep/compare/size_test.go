//go:build !accept

package compare

// coverageTrials is the size of the short suite.
const coverageTrials = 1500
