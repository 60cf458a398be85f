//go:build !accept

package sweep_test

// abTrials is the number of campaigns of a case; make accept has more.
const abTrials = 100
