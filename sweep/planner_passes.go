package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/knee"
)

// levelsBelowStop is the number of levels that a knee below a stop needs.
const levelsBelowStop = 5

// firstPass measures fixed levels, ascending. All of them: they were asked for.
func (t *tape) firstPass() bool {
	for _, n := range t.plan.Levels {
		if _, ok := t.run(n, Coarse, "a given level, first pass ascending"); !ok {
			return false
		}
	}
	return true
}

// extend adds levels downwards until enough lie below the stop. Past an early
// stop the curve has fallen, so that level does not count.
func (t *tape) extend(s stop) bool {
	want := levelsBelowStop
	if s.kind == stopEarly && t.view.has(s.n) {
		want++
	}
	for len(t.view.valid) < want {
		lowest := t.lowest()
		if lowest <= minLevel {
			return true
		}
		why := fmt.Sprintf("fewer than %d levels lie below the end of the curve", levelsBelowStop)
		if _, ok := t.run(lowest/2, Extend, why); !ok {
			return false
		}
	}
	return true
}

// lowest is the lowest level tried so far, whether or not it gave a valid run.
func (t *tape) lowest() int {
	low := math.MaxInt
	for _, r := range t.read {
		low = min(low, r.Step.ConcurrencyPerGPU)
	}
	return low
}

// secondPass brings every level to the number of repeats, in a seeded random
// order each time: an environment that is slow in bursts must not line up with
// the levels. A level that never gave a valid run is not tried again.
func (t *tape) secondPass() bool {
	for pass := 2; pass <= t.plan.Repeats; pass++ {
		levels := t.view.levels()
		rng := rand.New(rand.NewPCG(t.plan.Seed, uint64(pass)))
		rng.Shuffle(len(levels), func(i, j int) { levels[i], levels[j] = levels[j], levels[i] })
		for _, n := range levels {
			if len(t.view.valid[n]) >= pass {
				continue
			}
			if _, ok := t.run(n, Second, fmt.Sprintf("pass %d over the levels, in random order", pass)); !ok {
				return false
			}
		}
	}
	return true
}

// pairGap is the difference of 15 % at which two runs of a level need a third
// and a fourth.
var pairGap = exact.Log(1 / 0.85)

// settleSplits makes two more runs where the runs of a level disagree.
func (t *tape) settleSplits() bool {
	if t.plan.Repeats < 2 {
		return true // nothing to disagree with
	}
	flagged := map[int]bool{}
	for _, l := range t.fit(true).Levels {
		flagged[l.ConcurrencyPerGPU] = len(l.Flags) > 0
	}
	for _, n := range t.view.levels() {
		if !flagged[n] && knee.MaxGap(t.view.xs(n)) <= pairGap {
			continue
		}
		for range 2 {
			if _, ok := t.run(n, Split, fmt.Sprintf("the runs at %d per GPU disagree", n)); !ok {
				return false
			}
		}
	}
	return true
}

// lower looks for a rise below the lowest level where none was found above it.
func (t *tape) lower() bool {
	for t.fit(true).Status == knee.SaturatedAtMin && t.lowest() > minLevel {
		n := t.lowest() / 2
		if ok := t.repeat(n, Extend, "no rise so far: does throughput rise at lower concurrency?"); !ok {
			return false
		}
	}
	return true
}

// repeat makes the plan's number of runs at a level.
func (t *tape) repeat(n int, p Purpose, why string) bool {
	for range t.plan.Repeats {
		if got, ok := t.run(n, p, why); !ok {
			return false
		} else if !got {
			return true // unmeasurable: more of the same would not help
		}
	}
	return true
}

const (
	maxRefinements = 2
	// closeEnough is the ratio of neighbours below which a knee between them
	// is located as well as the ladder allows.
	closeEnough = 1.5
	// nearLower: a knee this close above a level may as well lie below it.
	nearLower = 1.15
)

// refine adds the half-octave neighbours of the knee.
func (t *tape) refine() bool {
	for range maxRefinements {
		k, ok := refinable(t.fit(true))
		if !ok {
			return true
		}
		fresh := t.neighbours(k)
		if len(fresh) == 0 {
			return true
		}
		for _, n := range fresh {
			why := fmt.Sprintf("the knee lies near %.0f per GPU and its neighbours are more than %.1f× apart", k, closeEnough)
			if !t.repeat(n, Refine, why) {
				return false
			}
		}
	}
	return true
}

func refinable(f knee.Fit) (k float64, ok bool) {
	switch f.Status {
	case knee.Knee, knee.LatencyLimited, knee.Ambiguous:
		k = f.Knee
		if k <= 0 {
			k = float64(f.TiltLevel)
		}
	}
	return k, k > 0
}

// neighbours are the ladder values not yet tried that halve the gap around k.
func (t *tape) neighbours(k float64) []int {
	levels := t.view.levels()
	if len(levels) == 0 {
		return nil
	}
	at := 0 // the level at or below k
	for i, n := range levels {
		if float64(n) <= k*1.001 {
			at = i
		}
	}
	var out []int
	add := func(a, b int) {
		n := ladderNear(math.Sqrt(float64(a) * float64(b)))
		if float64(b) > closeEnough*float64(a) && !t.view.has(n) && !t.view.unmeasurable(n) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if at+1 < len(levels) {
		add(levels[at], levels[at+1])
	}
	if at > 0 && k < nearLower*float64(levels[at]) {
		add(levels[at-1], levels[at])
	}
	return out
}
