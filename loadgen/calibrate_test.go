package loadgen

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// TestInputLengthIsHit by the server's own count, for tokenizers that have a
// token a word, several, or one for each digit, with and without a shared
// prefix. Only the rounding to whole words is left, half a word at most.
func TestInputLengthIsHit(t *testing.T) {
	for _, isl := range []int{32, 128, 1000} {
		for _, perWord := range []float64{1, 1.25, 2} {
			for _, digits := range []int{0, 1, 4} {
				for _, shared := range []float64{0, .5} {
					spec := WorkloadSpec{Name: Synthetic, ISL: isl, OSL: 4, Seed: 1, SharedPrefix: shared}
					if 2*numbers*digits >= isl/2 {
						continue // no room for words
					}
					name := fmt.Sprintf("%d tokens of %g a word, %d more a number, %g shared", isl, perWord, digits, shared)
					h := &host{engine: engine{ttft: time.Millisecond}, perWord: perWord, overhead: 11, digits: digits}
					preflight(t, h, "", spec, func(p Preflight, err error) {
						if err != nil || len(p.Warnings) > 0 {
							t.Fatalf("%s: %v %q", name, err, p.Warnings)
						}
						w, err := NewWorkload(spec, p)
						if err != nil {
							t.Fatal(err)
						}
						for i := range uint64(20) {
							if off := math.Abs(float64(h.count(text(w, i))-h.overhead) - float64(isl)); off > perWord/2+1 {
								t.Fatalf("%s: %g tokens off; %+v", name, off, p)
							}
						}
						if math.Abs(p.OverheadTokens-11) > 1 {
							t.Errorf("%s: a template of %g tokens, want 11", name, p.OverheadTokens)
						}
					})
				}
			}
		}
	}
}
