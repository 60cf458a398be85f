package knee_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
)

// exact measures a curve without noise.
func exact(x func(n float64) float64, levels []int, repeats int) []knee.Run {
	var runs []knee.Run
	for _, n := range levels {
		for range repeats {
			runs = append(runs, knee.Run{ConcurrencyPerGPU: n, TokPerSecPerGPU: x(float64(n))})
		}
	}
	return runs
}

// TestStatusAgainstClosedForm gives every status a curve that has it by
// construction, with the knee that follows from its formula.
func TestStatusAgainstClosedForm(t *testing.T) {
	hyper := func(h float64) func(float64) float64 {
		return func(n float64) float64 { return 100 * n * h / (n + h) }
	}
	corner := func(k, after float64, f func(float64) float64) func(float64) float64 {
		return func(n float64) float64 { return f(min(n, k)) * math.Pow(max(n, k)/k, after) }
	}
	linear := func(n float64) float64 { return 100 * n }
	for _, c := range []struct {
		name   string
		x      func(float64) float64
		levels []int
		e      float64
		status knee.Status
		knee   float64
	}{
		{"hyperbola", hyper(20), kneetest.Doubling(), 0, knee.Knee, 80},
		{"hyperbola, e* 0.1", hyper(20), kneetest.Doubling(), 0.1, knee.Knee, 180},
		{"hyperbola, e* 0.5", hyper(20), kneetest.Doubling(), 0.5, knee.Knee, 20},
		{"linear, cap", corner(100, 0, linear), kneetest.Doubling(), 0, knee.Knee, 100},
		{"hyperbola, cap", corner(60, 0, hyper(80)), kneetest.HalfOctave(), 0, knee.Knee, 60},
		{"linear, collapse", corner(90, -2, linear), kneetest.HalfOctave(), 0, knee.Knee, 90},
		{"hyperbola, collapse", corner(150, -1.5, hyper(250)), kneetest.HalfOctave(), 0, knee.Knee, 150},
		{"two stages", corner(120, -0.3, corner(20, 0.45, linear)), kneetest.HalfOctave(), 0, knee.Knee, 120},
		{"smooth corner", func(n float64) float64 { return 100 * n / math.Pow(1+math.Pow(n/50, 3), 1.0/3) }, kneetest.Doubling(), 0, knee.Knee, 50 * math.Pow(4, 1.0/3)},
		{"linear throughout", linear, kneetest.Doubling(), 0, knee.NotSaturated, 0},
		{"knee past the last level", hyper(400), kneetest.Doubling(), 0, knee.NotSaturated, 0},
		{"flat", func(float64) float64 { return 5000 }, kneetest.Doubling(), 0, knee.SaturatedAtMin, 0},
		{"falling", func(n float64) float64 { return 5000 / n }, kneetest.Doubling(), 0, knee.SaturatedAtMin, 0},
		{"three levels", hyper(20), []int{1, 8, 64}, 0, knee.Insufficient, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			fit := knee.Find(exact(c.x, c.levels, 2), knee.Options{EStar: c.e})
			if fit.Status != c.status {
				t.Fatalf("%s (%s), want %s", fit.Status, fit.Model, c.status)
			}
			if c.knee == 0 {
				if fit.Knee != 0 || fit.KneeLow != 0 || fit.KneeHigh != 0 || fit.HasKnee() {
					t.Errorf("a knee of %g [%g, %g] where there is none", fit.Knee, fit.KneeLow, fit.KneeHigh)
				}
				return
			}
			if off := math.Log2(fit.Knee / c.knee); math.Abs(off) > 0.1 {
				t.Errorf("knee %.4g (%s %v), want %.4g", fit.Knee, fit.Model, fit.Params, c.knee)
			}
			if !(fit.KneeLow <= c.knee && c.knee <= fit.KneeHigh) {
				t.Errorf("interval [%.4g, %.4g] misses %.4g", fit.KneeLow, fit.KneeHigh, c.knee)
			}
			mid := float64(c.levels[len(c.levels)/2])
			if x, ok := fit.TokPerSecPerGPU(mid); !ok || math.Abs(x/c.x(mid)-1) > 0.02 {
				t.Errorf("fitted %.5g at %g, measured %.5g", x, mid, c.x(mid))
			}
		})
	}
}

// withTTFT adds the queueing of a hidden admission limit to a curve.
func withTTFT(runs []knee.Run, limit float64) []knee.Run {
	for i := range runs {
		n := float64(runs[i].ConcurrencyPerGPU)
		runs[i].TTFTP99MS = 200 + 4000*max(n/limit-1, 0)
		runs[i].TTFTP50MS = runs[i].TTFTP99MS / 2
	}
	return runs
}

func TestLatencyLimited(t *testing.T) {
	rising := exact(func(n float64) float64 { return 100 * n }, kneetest.Doubling(), 2)
	fit := knee.Find(withTTFT(rising, 70), knee.Options{})
	want := math.Sqrt(64 * 128)
	if fit.Status != knee.LatencyLimited || fit.LatencyEdge != 64 || math.Abs(fit.Knee-want) > 1e-9 {
		t.Errorf("%s edge %d knee %g, want latency_limited 64 %g", fit.Status, fit.LatencyEdge, fit.Knee, want)
	}
	if !fit.HasKnee() || fit.KneeLow > 64 || fit.KneeHigh < 128 {
		t.Errorf("interval [%g, %g] does not span the step", fit.KneeLow, fit.KneeHigh)
	}
	// One bad level that the next one does not sustain is no edge.
	for i := range rising {
		rising[i].TTFTP99MS = 200
		if rising[i].ConcurrencyPerGPU == 128 {
			rising[i].TTFTP99MS = 9000
		}
	}
	if fit := knee.Find(rising, knee.Options{}); fit.LatencyEdge != 0 || fit.Status != knee.NotSaturated {
		t.Errorf("a single bad level gives edge %d and %s", fit.LatencyEdge, fit.Status)
	}
}

// A step of less than ×3 is jitter however steep (§18.2), and still widens the
// interval.
func TestSmallStepIsNoEdge(t *testing.T) {
	for _, c := range []struct {
		step float64
		edge int
	}{{2.9, 0}, {3.1, 96}} {
		runs := exact(func(n float64) float64 { return 100 * min(n, 100) }, kneetest.HalfOctave(), 2)
		for i := range runs {
			runs[i].TTFTP99MS = 200
			if runs[i].ConcurrencyPerGPU > 96 {
				runs[i].TTFTP99MS = 200 * c.step
			}
		}
		if fit := knee.Find(runs, knee.Options{}); fit.LatencyEdge != c.edge {
			t.Errorf("a step of ×%g gives edge %d, want %d", c.step, fit.LatencyEdge, c.edge)
		}
	}
}

func TestAmbiguous(t *testing.T) {
	// No closed form has two collapses: the level stands in, and the fit asks
	// for more levels around it.
	runs := exact(func(n float64) float64 {
		x := map[float64]float64{1: 100, 2: 120, 4: 520, 8: 560, 16: 2600, 32: 900, 64: 2500, 128: 1000, 256: 900, 512: 100}
		return x[n]
	}, kneetest.Doubling(), 3)
	fit := knee.Find(runs, knee.Options{})
	if fit.Status != knee.Ambiguous || fit.Knee != 16 || fit.TiltLevel != 16 || fit.HasKnee() {
		t.Fatalf("%s %g tilt %d, want knee_ambiguous at 16", fit.Status, fit.Knee, fit.TiltLevel)
	}
	if len(fit.Refine) == 0 || fit.Refine[0] < 8 || fit.Refine[0] > 64 {
		t.Errorf("refine %v does not look around the level", fit.Refine)
	}
}

func TestValleyIsDroppedAndUnstable(t *testing.T) {
	x := func(n float64) float64 { return 100 * min(n, 100) }
	healthy := knee.Find(exact(x, kneetest.HalfOctave(), 2), knee.Options{})
	fit := knee.Find(exact(func(n float64) float64 {
		if n == 48 {
			return x(n) * 0.5
		}
		return x(n)
	}, kneetest.HalfOctave(), 2), knee.Options{})
	if len(fit.Flags) != 1 || fit.Flags[0] != "unstable" || len(healthy.Flags) != 0 {
		t.Errorf("flags %v with a stalled level, %v without", fit.Flags, healthy.Flags)
	}
	i := slices.IndexFunc(fit.Levels, func(l knee.Level) bool { return l.ConcurrencyPerGPU == 48 })
	if !fit.Levels[i].Split() || fit.Status != knee.Knee || math.Abs(math.Log2(fit.Knee/100)) > 0.1 {
		t.Errorf("level %+v, %s %g", fit.Levels[i], fit.Status, fit.Knee)
	}
}

// F5: levels deep inside a collapse leave the fit.
func TestDeepCollapseIsTrimmed(t *testing.T) {
	runs := exact(func(n float64) float64 {
		if n > 100 {
			return 10000 * math.Pow(n/100, -1) / (1 + math.Pow(n/300, 4))
		}
		return 100 * n
	}, kneetest.HalfOctave(), 2)
	fit := knee.Find(runs, knee.Options{})
	if fit.Status != knee.Knee || math.Abs(math.Log2(fit.Knee/100)) > 0.25 {
		t.Errorf("%s %g", fit.Status, fit.Knee)
	}
	if !strings.Contains(strings.Join(fit.Warnings, "\n"), "deep inside a collapse") || len(fit.Levels) != 18 {
		t.Errorf("warnings %q for %d levels", fit.Warnings, len(fit.Levels))
	}
}

func TestTTFTSplit(t *testing.T) {
	runs := withTTFT(exact(func(n float64) float64 { return 100 * min(n, 50) }, kneetest.Doubling(), 3), 1e9)
	runs[1].TTFTP99MS *= 3.2
	fit := knee.Find(runs, knee.Options{})
	if l := fit.Levels[0]; !slices.Equal(l.Flags, []string{"ttft_split"}) || l.Split() || len(fit.Flags) != 1 {
		t.Errorf("level %+v, flags %v", l, fit.Flags)
	}
}

func TestRefinementSuggestions(t *testing.T) {
	cap100 := func(n float64) float64 { return 100 * min(n, 100) }
	for _, c := range []struct {
		name  string
		runs  []knee.Run
		first float64
	}{
		{"between the last good and the first bad level", exact(cap100, kneetest.Doubling(), 2), math.Sqrt(64 * 128)},
		{"above", exact(func(n float64) float64 { return n }, kneetest.Doubling(), 2), 1024},
		{"below", exact(func(float64) float64 { return 1 }, []int{16, 32, 64, 128}, 2), 8},
		{"more levels", exact(cap100, []int{16, 32}, 1), 64},
	} {
		if got := knee.Find(c.runs, knee.Options{}).Refine; len(got) == 0 || math.Abs(got[0]-c.first) > 1e-9 {
			t.Errorf("%s: %v, want %g first", c.name, got, c.first)
		}
	}
	if got := knee.Find(exact(cap100, kneetest.HalfOctave(), 2), knee.Options{}).Refine; len(got) != 0 {
		t.Errorf("a half-octave ladder needs no refinement, got %v", got)
	}
}

// Refinement corrects the spacing of the candidate grid: on exact curves the
// refined knee is on average closer to the truth than the grid's.
func TestRefinedIsCloserThanGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var refined, grid float64
	for _, f := range []kneetest.Family{kneetest.Smooth, kneetest.LinearCap, kneetest.BatchCap, kneetest.Collapse, kneetest.SoftCap} {
		for range 8 {
			c := kneetest.New(f, rng)
			fit := knee.Find(exact(c.X, kneetest.HalfOctave(), 2), knee.Options{Bootstrap: 1})
			truth := c.Knee(0.2)
			refined += math.Abs(math.Log2(fit.Knee / truth))
			grid += math.Abs(math.Log2(fit.GridKnee / truth))
		}
	}
	t.Logf("mean error in octaves: refined %.4f, grid %.4f", refined/40, grid/40)
	if refined > grid/2 {
		t.Errorf("mean error %.4f octaves refined, %.4f on the grid", refined/40, grid/40)
	}
}

// Where no model may speak, noise may put the tilted argmax of a staircase past
// the jump that is its knee: the interval must reach back as far as the noise,
// and to the level before the jump.
func TestIntervalOfAStaircase(t *testing.T) {
	const jump = 50.0
	x := func(n float64) float64 {
		switch {
		case n < 4:
			return 100
		case n < 14:
			return 400
		case n < jump:
			return 1600
		}
		return 6400
	}
	var runs []knee.Run
	for _, n := range kneetest.HalfOctave() {
		level := map[int]float64{64: 0.96, 96: 1.06}[n]
		if level == 0 {
			level = 1
		}
		for _, noise := range []float64{0.95, 1.05} {
			runs = append(runs, knee.Run{ConcurrencyPerGPU: n, TokPerSecPerGPU: level * noise * x(float64(n))})
		}
	}
	fit := knee.Find(runs, knee.Options{})
	if fit.Status != knee.Ambiguous || fit.TiltLevel != 96 {
		t.Fatalf("%s, tilted argmax %d, want knee_ambiguous past the jump, at 96", fit.Status, fit.TiltLevel)
	}
	if fit.KneeLow > jump || fit.KneeHigh < 128 {
		t.Errorf("interval %g to %g, want 48 to 128 within it", fit.KneeLow, fit.KneeHigh)
	}
}
