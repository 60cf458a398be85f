//go:build accept

package compare

// coverageTrials is the size of the acceptance run.
const coverageTrials = 40000
