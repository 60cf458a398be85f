package loadgen

import (
	"cmp"
	"slices"
)

// What a wave is at least, so that its median says something, and how many of
// them are kept: what is compiled as it is first needed shows in the first ones.
const (
	leastWave = 16
	keptWaves = 8
)

// waves are the median TTFTs, in milliseconds, of the first waves of a run: of as
// many requests at a time as there are streams, in the order in which they were
// sent.
func waves(good []sample, streams int) []float64 {
	type one struct{ sent, ttft int64 }
	var all []one
	for i := range good {
		if m := &good[i]; m.first != 0 {
			all = append(all, one{m.sent, m.first - m.sent})
		}
	}
	slices.SortFunc(all, func(a, b one) int { return cmp.Compare(a.sent, b.sent) })
	size := max(streams, leastWave)
	var out []float64
	for w := range slices.Chunk(all, size) {
		if len(w) < size || len(out) == keptWaves {
			break
		}
		slices.SortFunc(w, func(a, b one) int { return cmp.Compare(a.ttft, b.ttft) })
		out = append(out, float64(w[rank(0.5, size)-1].ttft)/nsPerMS)
	}
	return out
}
