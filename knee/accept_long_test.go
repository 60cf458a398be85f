//go:build accept

package knee_test

// acceptTrials is the number of curves a family is judged on.
const acceptTrials = 400
