package enginesim

import "math"

// Stalls come in whole windows, counted from the first request.
const (
	stallWindowS   = 5.0
	windowsPerTurn = 10
)

// stalls says which windows stand still: of each ten exactly count, the first
// of the ten always and the others in seeded order.
type stalls struct {
	seed  uint64
	count int
}

// at says whether time t stands still, and when the window of t ends.
func (s stalls) at(t float64) (still bool, until float64) {
	if s.count == 0 {
		return false, math.Inf(1)
	}
	window := math.Floor(t / stallWindowS)
	return s.still(uint64(window)), (window + 1) * stallWindowS
}

func (s stalls) still(window uint64) bool {
	turn, at := window/windowsPerTurn, window%windowsPerTurn
	if at == 0 {
		return true
	}
	// Windows 1 to 9 are ranked by their numbers; the lowest count−1 stand still.
	mine := mix(s.seed, forStall, turn*windowsPerTurn+at)
	lower := 0
	for other := uint64(1); other < windowsPerTurn; other++ {
		if mix(s.seed, forStall, turn*windowsPerTurn+other) < mine {
			lower++
		}
	}
	return lower < s.count-1
}
