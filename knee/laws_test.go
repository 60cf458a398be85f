package knee_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
)

// drawRuns is a random sweep of a random family.
func drawRuns(t *rapid.T) []knee.Run {
	family := rapid.SampledFrom([]kneetest.Family{
		kneetest.Smooth, kneetest.LinearCap, kneetest.BatchCap, kneetest.Collapse, kneetest.Rising, kneetest.Flat,
		kneetest.TwoStage, kneetest.SoftCap, kneetest.USL, kneetest.Cliff, kneetest.LateCollapse, kneetest.Creep,
	}).Draw(t, "family")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	levels := rapid.SampledFrom([][]int{kneetest.Doubling(), kneetest.HalfOctave(), kneetest.Doubling()[3:], {4, 16, 64, 256}}).Draw(t, "levels")
	c := kneetest.New(family, rng)
	var stalls *kneetest.Stalls
	if rapid.Bool().Draw(t, "stalls") {
		stalls = kneetest.NewStalls(rng, 1.0/6)
	}
	return c.Sweep(rng, levels, rapid.IntRange(1, 4).Draw(t, "repeats"), 0.03, stalls)
}

var few = knee.Options{Bootstrap: 40}

// sameFit compares everything but the curve's closure, bit by bit.
func sameFit(a, b knee.Fit) string {
	return cmp.Diff(a, b, cmpopts.IgnoreUnexported(knee.Fit{}))
}

func TestLawEqualInputEqualFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := drawRuns(t)
		fit := knee.Find(runs, few)
		permuted := rapid.Permutation(runs).Draw(t, "permuted")
		before := append([]knee.Run(nil), permuted...)
		if d := sameFit(fit, knee.Find(permuted, few)); d != "" {
			t.Fatalf("the order of runs matters: %s", d)
		}
		if d := cmp.Diff(before, permuted); d != "" {
			t.Fatalf("the input was changed: %s", d)
		}
	})
}

// near allows for the rounding of logarithms, not for another candidate.
func near(a, b float64) bool { return a == b || math.Abs(a/b-1) < 1e-3 }

func TestLawScalingThroughput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := drawRuns(t)
		by := math.Pow(10, rapid.Float64Range(-4, 4).Draw(t, "exponent"))
		fit := knee.Find(runs, few)
		for i := range runs {
			runs[i].TokPerSecPerGPU *= by
		}
		scaled := knee.Find(runs, few)
		if scaled.Status != fit.Status || scaled.Model != fit.Model || !near(scaled.GridKnee, fit.GridKnee) ||
			!near(scaled.Knee, fit.Knee) || !near(scaled.KneeLow, fit.KneeLow) || !near(scaled.KneeHigh, fit.KneeHigh) {
			t.Fatalf("×%g: %s %s %g [%g, %g] became %s %s %g [%g, %g]", by, fit.Status, fit.Model, fit.Knee, fit.KneeLow, fit.KneeHigh,
				scaled.Status, scaled.Model, scaled.Knee, scaled.KneeLow, scaled.KneeHigh)
		}
		x, _ := fit.TokPerSecPerGPU(50)
		if y, _ := scaled.TokPerSecPerGPU(50); !near(y, x*by) {
			t.Fatalf("×%g: the fitted curve went from %g to %g", by, x, y)
		}
	})
}

// A knee of the grid half-way between two levels once had either of them as its
// nearest, by rounding, and the status with it.
func TestScalingConcurrencyHalfWay(t *testing.T) {
	rng := rand.New(rand.NewPCG(0xdd2, 0))
	curve := kneetest.New(kneetest.TwoStage, rng)
	runs := curve.Sweep(rng, kneetest.Doubling()[3:], 2, 0.03, kneetest.NewStalls(rng, 1.0/6))
	want := knee.Find(runs, few)
	for by := 2; by <= 1024; by *= 2 {
		for i := range runs {
			runs[i].ConcurrencyPerGPU *= 2
		}
		if got := knee.Find(runs, few); got.Status != want.Status {
			t.Errorf("×%d: %s became %s", by, want.Status, got.Status)
		}
	}
}

func TestLawScalingConcurrency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := drawRuns(t)
		by := rapid.IntRange(2, 64).Draw(t, "by")
		fit := knee.Find(runs, few)
		for i := range runs {
			runs[i].ConcurrencyPerGPU *= by
		}
		scaled, f := knee.Find(runs, few), float64(by)
		if scaled.Status != fit.Status || !near(scaled.GridKnee, f*fit.GridKnee) || !near(scaled.Knee, f*fit.Knee) ||
			!near(scaled.KneeLow, f*fit.KneeLow) || !near(scaled.KneeHigh, f*fit.KneeHigh) ||
			scaled.TiltLevel != by*fit.TiltLevel || scaled.LatencyEdge != by*fit.LatencyEdge {
			t.Fatalf("×%d: %s %g [%g, %g] became %s %g [%g, %g]", by, fit.Status, fit.Knee, fit.KneeLow, fit.KneeHigh,
				scaled.Status, scaled.Knee, scaled.KneeLow, scaled.KneeHigh)
		}
	})
}

// A run that repeats the only one of its level tells nothing new about where
// the level lies.
func TestLawDuplicateRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		runs := kneetest.New(kneetest.BatchCap, rng).Sweep(rng, kneetest.HalfOctave(), 1, 0.03, nil)
		fit := knee.Find(runs, few)
		twin := rapid.IntRange(0, len(runs)-1).Draw(t, "twin")
		more := knee.Find(append(runs, runs[twin]), few)
		for i, l := range more.Levels {
			want := fit.Levels[i]
			if i == twin {
				want.Runs, want.Kept = 2, 2
			}
			if d := cmp.Diff(want, l); d != "" {
				t.Fatal(d)
			}
		}
		if more.TiltLevel != fit.TiltLevel || more.LatencyEdge != fit.LatencyEdge {
			t.Fatalf("tilt %d edge %d became %d, %d", fit.TiltLevel, fit.LatencyEdge, more.TiltLevel, more.LatencyEdge)
		}
	})
}

// A level far above the knee says nothing about where the knee is: on curves
// without noise it stays where it was, within two spacings of the candidates,
// which begin and end with the levels. (The status may become knee_ambiguous,
// where another model wins by a hair.)
func TestLawLevelFarAboveTheKnee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		family := rapid.SampledFrom([]kneetest.Family{kneetest.Smooth, kneetest.LinearCap, kneetest.BatchCap, kneetest.Collapse, kneetest.SoftCap}).Draw(t, "family")
		c := kneetest.New(family, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
		fit := knee.Find(exact(c.X, kneetest.HalfOctave(), 2), few)
		far := rapid.IntRange(1024, 8192).Draw(t, "far")
		more := knee.Find(append(exact(c.X, kneetest.HalfOctave(), 2), exact(c.X, []int{far}, 2)...), few)
		if !(math.Abs(math.Log2(more.Knee/fit.Knee)) <= 2.0/8) {
			t.Fatalf("with %d per GPU: %s %s %g became %s %s %g", far, fit.Status, fit.Model, fit.Knee, more.Status, more.Model, more.Knee)
		}
		if more.TiltLevel != fit.TiltLevel {
			t.Fatalf("with %d per GPU: tilted argmax %d became %d", far, fit.TiltLevel, more.TiltLevel)
		}
	})
}

// Equal input gives bit-equal results however many goroutines fit at once, on
// however many processors.
func TestLawProcessorsDoNotMatter(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(11, 11))
	runs := kneetest.New(kneetest.TwoStage, rng).Sweep(rng, kneetest.HalfOctave(), 3, 0.05, nil)
	opt := few
	opt.Explain = true
	want := knee.Find(runs, opt)
	for _, procs := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(procs)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if d := sameFit(want, knee.Find(runs, opt)); d != "" {
					t.Errorf("on %d processors: %s", procs, d)
				}
			})
		}
		wg.Wait()
	}
}

func TestLawFitIsCoherent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opt := few
		opt.EStar = rapid.Float64Range(0.05, 0.5).Draw(t, "e")
		if err := incoherent(knee.Find(drawRuns(t), opt)); err != nil {
			t.Fatal(err)
		}
	})
}

// incoherent says which promise of Fit is broken, whatever the input was.
func incoherent(f knee.Fit) error {
	if _, err := json.Marshal(f); err != nil {
		return fmt.Errorf("a number that JSON cannot hold: %w", err)
	}
	hasValue := f.Status == knee.Knee || f.Status == knee.Ambiguous || f.Status == knee.LatencyLimited
	known := hasValue || f.Status == knee.NotSaturated || f.Status == knee.SaturatedAtMin || f.Status == knee.Insufficient
	flagged := false
	for i, l := range f.Levels {
		flagged = flagged || len(l.Flags) > 0
		if l.Kept < 1 || l.Kept > l.Runs || i > 0 && l.ConcurrencyPerGPU <= f.Levels[i-1].ConcurrencyPerGPU {
			return fmt.Errorf("level %+v", l)
		}
	}
	switch {
	case !known:
		return fmt.Errorf("status %q", f.Status)
	case hasValue != (f.Knee > 0), hasValue != (f.GridKnee > 0):
		return fmt.Errorf("%s with knee %g, on the grid %g", f.Status, f.Knee, f.GridKnee)
	case !(f.KneeLow <= f.Knee && f.Knee <= f.KneeHigh):
		return fmt.Errorf("knee %g outside [%g, %g]", f.Knee, f.KneeLow, f.KneeHigh)
	case flagged != (len(f.Flags) == 1):
		return fmt.Errorf("flags %v over levels %+v", f.Flags, f.Levels)
	case !hasValue:
		return nil
	}
	first, last := float64(f.Levels[0].ConcurrencyPerGPU), float64(f.Levels[len(f.Levels)-1].ConcurrencyPerGPU)
	if f.KneeLow < first || f.KneeHigh > last {
		return fmt.Errorf("interval [%g, %g] outside the levels %g..%g", f.KneeLow, f.KneeHigh, first, last)
	}
	if x, ok := f.TokPerSecPerGPU(f.Knee); !ok || !(x > 0) {
		return fmt.Errorf("no throughput at the knee %g", f.Knee)
	}
	return nil
}
