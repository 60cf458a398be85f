package sweep

import (
	"math"

	"github.com/perfsweep/perfsweep/internal/exact"
)

// Ladder is the half-octave ladder of concurrencies per GPU. The search ends
// at 1024 (knee.md S-1); the values above serve points that were given.
var Ladder = []int{
	1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
	1536, 2048, 3072, 4096,
}

const (
	// minLevel and maxLevel bound what a plan may ask for, per GPU.
	minLevel, maxLevel = 1, 4096
	// firstLevel is where the ascending pass begins.
	firstLevel = 8
)

// LadderFloor returns the largest ladder value that is at most v, 0 below the
// ladder. A value within a part in a billion of a step counts as that step:
// 0.8 × 160 must give 128.
func LadderFloor(v float64) int {
	floor := 0
	for _, n := range Ladder {
		if float64(n) <= v*(1+1e-9) {
			floor = n
		}
	}
	return floor
}

// LadderNext returns the smallest ladder value above n, 0 above the ladder.
func LadderNext(n int) int {
	for _, v := range Ladder {
		if v > n {
			return v
		}
	}
	return 0
}

// ladderPrev returns the largest ladder value below n, 0 below the ladder.
func ladderPrev(n int) int {
	prev := 0
	for _, v := range Ladder {
		if v < n {
			prev = v
		}
	}
	return prev
}

// ladderNear returns the ladder value nearest to v on a log scale.
func ladderNear(v float64) int {
	near := Ladder[0]
	for _, n := range Ladder {
		if math.Abs(exact.Log(float64(n)/v)) < math.Abs(exact.Log(float64(near)/v)) {
			near = n
		}
	}
	return near
}

// coarseLevels are the powers of two from 8 up to top, and the ladder value
// at top where that is no power of two.
func coarseLevels(top int) []int {
	var levels []int
	last := LadderFloor(float64(top))
	for n := min(firstLevel, last); n <= last; n *= 2 {
		levels = append(levels, n)
	}
	if n := len(levels); n > 0 && levels[n-1] < last {
		levels = append(levels, last)
	}
	return levels
}
