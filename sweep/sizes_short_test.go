//go:build !accept

package sweep

const accepting = false
