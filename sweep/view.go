package sweep

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
)

// view is what some runs say of each level; only steady runs bear on
// a level, and those of a pulse on none.
type view struct {
	valid   map[int][]loadgen.Estimate
	invalid map[int][]Run
}

func newView() *view {
	return &view{valid: map[int][]loadgen.Estimate{}, invalid: map[int][]Run{}}
}

func viewOf(runs []Run) *view {
	v := newView()
	for _, r := range runs {
		v.add(r)
	}
	return v
}

func (v *view) add(r Run) {
	n := r.Step.ConcurrencyPerGPU
	switch {
	case r.Step.Kind != loadgen.Steady || r.Step.Purpose == Pulse:
	case r.Valid():
		v.valid[n] = append(v.valid[n], r.Result.Window)
	default:
		v.invalid[n] = append(v.invalid[n], r)
	}
}

// levels are the levels with a valid run, ascending.
func (v *view) levels() []int { return slices.Sorted(maps.Keys(v.valid)) }

func (v *view) has(n int) bool { return len(v.valid[n]) > 0 }

// unmeasurable: the level was tried and never gave a valid run.
func (v *view) unmeasurable(n int) bool { return !v.has(n) && len(v.invalid[n]) > 0 }

func (v *view) collect(n int, metric func(loadgen.Estimate) float64) []float64 {
	var out []float64
	for _, e := range v.valid[n] {
		if x := metric(e); x > 0 {
			out = append(out, x)
		}
	}
	return out
}

func (v *view) xs(n int) []float64 { return v.collect(n, rate) }

// x, ttft50 and ttft99 are medians over the valid runs of a level, 0 of none.
func (v *view) x(n int) float64 { return Median(v.xs(n)) }

func (v *view) ttft50(n int) float64 { return Median(v.waits(n)) }

// waits are the TTFT p50 of the valid runs of a level.
func (v *view) waits(n int) []float64 {
	return v.collect(n, func(e loadgen.Estimate) float64 { return e.TTFTP50MS })
}

func (v *view) ttft99(n int) float64 {
	return Median(v.collect(n, func(e loadgen.Estimate) float64 { return e.TTFTP99MS }))
}

func rate(e loadgen.Estimate) float64 { return e.OutputTokPerSec }

// best is the level with the largest median throughput, 0 if there is none;
// the lower one of equals, so that a flat curve does not creep upwards.
func (v *view) best() int {
	best := 0
	for _, n := range v.levels() {
		if best == 0 || v.x(n) > v.x(best) {
			best = n
		}
	}
	return best
}

// split reports whether the throughput of a level fell into two clusters or
// lies in a valley of the curve: what O-2 calls flagged.
func (v *view) split(n int, fit knee.Fit) bool {
	for _, l := range fit.Levels {
		if l.ConcurrencyPerGPU == n && l.Split() {
			return true
		}
	}
	xs := v.xs(n)
	return knee.MaxGap(xs) > knee.GapThreshold(len(xs), fit.Noise, fit.NoiseDF)
}

// medianSE is how much more a median scatters than a mean.
const medianSE = 1.25

// medianTolerance is the part of ln X by which the medians of two levels may
// differ by noise alone: two standard errors (§18.2, O-2).
func (v *view) medianTolerance(a, b int, noise float64) float64 {
	const errors, noiseFloor = 2, 0.015
	return errors * medianSE * max(noise, noiseFloor) *
		math.Sqrt(1/float64(len(v.valid[a]))+1/float64(len(v.valid[b])))
}

// length is the time a run took.
func length(r Run) time.Duration { return max(r.Result.Ended.Sub(r.Result.Started), 0) }
