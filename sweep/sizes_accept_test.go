//go:build accept

package sweep

// accepting chooses the sizes of the statistical acceptance.
const accepting = true
