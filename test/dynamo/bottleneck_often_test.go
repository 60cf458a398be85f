//go:build verify

package dynamo

import (
	"fmt"
	"testing"
)

// TestBottlenecksOften: five of five.
func TestBottlenecksOften(t *testing.T) {
	for _, b := range bottlenecks() {
		for i := range 5 {
			t.Run(fmt.Sprintf("%s/%d", b.name, i+1), func(t *testing.T) { attributeReal(t, b) })
		}
	}
}
