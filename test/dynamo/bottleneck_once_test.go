//go:build dynamo

package dynamo

import "testing"

// TestBottlenecks: each known bottleneck of a real deployment is named.
func TestBottlenecks(t *testing.T) {
	for _, b := range bottlenecks() {
		t.Run(b.name, func(t *testing.T) { attributeReal(t, b) })
	}
}
