package loadgen

import (
	"slices"
	"testing"
	"time"
)

// TestWaves: requests are put into waves by when they were sent, whatever the
// order of their records; what is no whole wave, and answers without a token, are
// left out.
func TestWaves(t *testing.T) {
	made := func(n int, ttftMS func(i int) int64) []sample {
		var out []sample
		for i := range n {
			m := sample{outcome: OK}
			m.sent = int64(i+1) * int64(time.Second)
			if ms := ttftMS(i); ms > 0 {
				m.first = m.sent + ms*int64(time.Millisecond)
			}
			out = append(out, m)
		}
		slices.Reverse(out)
		return out
	}
	for name, c := range map[string]struct {
		samples []sample
		streams int
		want    []float64
	}{
		"by the streams":        {made(96, func(i int) int64 { return int64(900 - 200*(i/32)) }), 32, []float64{900, 700, 500}},
		"the rest is no wave":   {made(95, func(i int) int64 { return int64(900 - 200*(i/32)) }), 32, []float64{900, 700}},
		"few streams":           {made(40, func(i int) int64 { return int64(100 + i/leastWave) }), 2, []float64{100, 101}},
		"the median":            {made(16, func(i int) int64 { return int64(i + 1) }), 16, []float64{8}},
		"without tokens":        {made(64, func(int) int64 { return 0 }), 16, nil},
		"a long run":            {made(16*20, func(int) int64 { return 5 }), 16, slices.Repeat([]float64{5}, keptWaves)},
		"fewer than one wave":   {made(10, func(int) int64 { return 5 }), 1, nil},
		"half without a token ": {made(64, func(i int) int64 { return int64(7 * (i % 2)) }), 32, []float64{7}},
	} {
		if got := waves(c.samples, c.streams); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
