//go:build !race

package loadgen

import (
	"testing"

	"github.com/perfsweep/perfsweep/loadgen/internal/stream"
)

// TestDecodeAllocatesNothing: not a byte a chunk, so that no collector runs in
// the middle of a measurement. The race detector allocates on its own.
func TestDecodeAllocatesNothing(t *testing.T) {
	for name, pair := range decodeCases(t) {
		var r stream.Reader
		var s transcript
		src := &paced{}
		i := 0
		if got := testing.AllocsPerRun(20, func() {
			src.events = pair[i%2]
			i++
			decodeStream(t, &r, &s, src, 1000)
		}); got != 0 {
			t.Errorf("%s: %v allocations in 1000 chunks", name, got)
		}
	}
}
