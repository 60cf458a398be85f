//go:build accept

package sweep_test

// abTrials is the number of campaigns of a case.
const abTrials = 1000
