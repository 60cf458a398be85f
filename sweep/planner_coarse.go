package sweep

import (
	"fmt"

	"github.com/perfsweep/perfsweep/loadgen"
)

// How the ascending pass may end.
const (
	stopNone         = ""
	stopEarly        = "early"
	stopPlateau      = "plateau"
	stopUnmeasurable = "unmeasurable"
)

// stop is where and why the ascending pass ended.
type stop struct {
	kind string
	n    int
}

// The early stop (knee.md §7.2) and the plateau stop (§17, §18.2).
const (
	stopLoss        = 0.90 // of the best throughput
	stopTTFTRatio   = 3
	stopTTFTAlone   = 20
	stopErrorShare  = 0.01
	plateauTol      = 0.08
	plateauTTFT     = 5
	plateauDoubling = 2
)

// coarse ascends in powers of two, one run each, until the curve is seen to
// have ended. A stop must be reproduced, with the best level measured again in
// between: a window in which everything is slow is no overload.
func (t *tape) coarse() (stop, bool) {
	levels := coarseLevels(t.plan.MaxConcurrencyPerGPU)
	for i, n := range levels {
		got, ok := t.run(n, Coarse, "ascending in powers of two, to see where throughput stops rising")
		if !ok {
			return stop{}, false
		}
		if !got && len(t.view.valid) > 0 {
			return stop{stopUnmeasurable, n}, true
		}
		early, ok := t.stopsEarly(n)
		if !ok {
			return stop{}, false
		}
		if early {
			return stop{stopEarly, n}, true
		}
		if !t.flat(levels[:i+1]) {
			continue
		}
		if _, ok := t.run(n, Recheck, fmt.Sprintf("two doublings gained nothing and TTFT p50 rose %d-fold: is it so again?", plateauTTFT)); !ok {
			return stop{}, false
		}
		if t.flat(levels[:i+1]) {
			return stop{stopPlateau, n}, true
		}
	}
	return stop{}, true
}

// stopsEarly: n is past the end of the curve in 2 of 3 runs.
func (t *tape) stopsEarly(n int) (stops, ok bool) {
	if past, usable := t.past(n); past == 0 || usable > past {
		return false, true
	}
	if best := t.view.best(); best > 0 {
		if _, ok := t.run(best, Recheck, fmt.Sprintf("%d per GPU looks overloaded: is the best level still what it was?", n)); !ok {
			return false, false
		}
	}
	for {
		past, usable := t.past(n)
		if past >= 2 || usable >= 3 || usable-past >= 2 {
			return past >= 2, true
		}
		got, ok := t.run(n, Recheck, fmt.Sprintf("is %d per GPU overloaded again?", n))
		if !ok {
			return false, false
		}
		if !got {
			return true, true
		}
	}
}

// past counts the usable runs at n, and those of them that show overload.
func (t *tape) past(n int) (past, usable int) {
	best := t.view.best()
	for _, r := range t.read {
		if r.Step.ConcurrencyPerGPU != n || r.Step.Kind != loadgen.Steady || !r.Valid() && !overloaded(r) {
			continue
		}
		usable++
		if overloaded(r) || n > best && t.pastBest(r, best) {
			past++
		}
	}
	return past, usable
}

// overloaded: the run alone shows that the server cannot hold the level.
func overloaded(r Run) bool {
	for _, o := range []loadgen.Outcomes{r.Result.Measured, r.Result.All} {
		if float64(o.Bad()) > stopErrorShare*float64(o.Total()) {
			return true
		}
	}
	// A capped run that measured nothing: not even one wave fits into the time.
	return r.Result.Capped && r.Result.Window.Requests == 0
}

// pastBest compares a valid run above the best level with that level. A run
// that was cut off by its time limit is past the end too, but only if it
// gained nothing: at low levels of a slow engine every run is cut off.
func (t *tape) pastBest(r Run, best int) bool {
	w := r.Result.Window
	x, ttft := t.view.x(best), t.view.ttft99(best)
	slow := ttft > 0 && w.TTFTP99MS > stopTTFTRatio*ttft
	stuck := ttft > 0 && w.TTFTP99MS > stopTTFTAlone*ttft
	return w.OutputTokPerSec < stopLoss*x && slow || stuck || r.Result.Capped && w.OutputTokPerSec < x
}

// flat: after the last level that rose, two doublings stayed within the
// tolerance of the best, and requests wait several times as long.
func (t *tape) flat(ascending []int) bool {
	best, riser := 0.0, 0
	for i, n := range ascending {
		x := t.view.x(n)
		if x > (1+plateauTol)*best {
			riser = i
		}
		best = max(best, x)
	}
	tail := ascending[riser+1:]
	if len(tail) < plateauDoubling {
		return false
	}
	for _, n := range tail[len(tail)-plateauDoubling:] {
		if t.view.x(n) < (1-plateauTol)*best {
			return false
		}
	}
	rising := t.view.ttft50(ascending[riser])
	return rising > 0 && t.view.ttft50(ascending[len(ascending)-1]) >= plateauTTFT*rising
}
