package knee_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
)

// The reference values of knee.md §18.5.
func TestGapThreshold(t *testing.T) {
	for _, c := range []struct {
		r    int
		s    float64
		df   int
		want float64
	}{
		{2, .01, 12, .1625}, {2, .03, 12, .2000}, {2, .05, 12, .3333}, {2, .08, 12, .4308},
		{3, .03, 20, .1625}, {3, .05, 20, .2580}, {4, .05, 10, .2730}, {5, .05, 15, .2343},
		{6, .05, 15, .2217}, {7, .05, 15, .2153}, {8, .05, 15, .2090}, {12, .06, 30, .2244},
		{3, .08, 24, .3567}, {5, .10, 3, .1625},
		{1, .10, 30, .1625}, {0, 0, 0, .1625}, {3, math.NaN(), 20, .1625}, {3, math.Inf(1), 20, .3567},
	} {
		if got := knee.GapThreshold(c.r, c.s, c.df); math.Abs(got-c.want) > 5e-5 {
			t.Errorf("T(%d, %g, %d) = %.5f, want %.4f", c.r, c.s, c.df, got, c.want)
		}
	}
}

// The iterated cleaning of §18.5, with s compared above the noise floor that
// the reference applies to it.
func TestCleaning(t *testing.T) {
	for _, c := range []struct {
		levels [][]float64
		s      float64
		df     int
		cuts   []int
	}{
		{[][]float64{{100, 103}, {195, 188}, {350, 362}, {580, 401}, {760, 745, 770, 752, 741}, {800, 815}}, .01871, 8, []int{0, 0, 0, 1, 0, 0}},
		{[][]float64{{100, 112}, {195, 180}, {350, 385}, {580, 520}, {760, 700, 815, 745, 790}, {800, 870}}, .06427, 9, []int{0, 0, 0, 0, 0, 0}},
		{[][]float64{{100, 68}, {195, 190}, {120, 350}, {390, 392}, {760, 517, 745, 748, 130}, {800, 540}}, .01500, 4, []int{1, 0, 1, 0, 2, 1}},
		{[][]float64{{100, 103, 61}, {195, 188, 191}, {350, 362, 355}}, .01834, 5, []int{1, 0, 0}},
	} {
		logs := make([][]float64, len(c.levels))
		for i, l := range c.levels {
			for _, x := range l {
				logs[i] = append(logs[i], math.Log(x))
			}
			slices.Sort(logs[i])
		}
		cuts, s, df := knee.CleanCuts(logs)
		if math.Abs(max(s, 0.015)-c.s) > 5e-6 || df != c.df || !slices.Equal(cuts, c.cuts) {
			t.Errorf("%v: s %.5f df %d cuts %v, want %.5f %d %v", c.levels, s, df, cuts, c.s, c.df, c.cuts)
		}
	}
}

func TestMaxGap(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{
		{nil, 0},
		{[]float64{5}, 0},
		{[]float64{4, 1, 2}, math.Ln2},
		{[]float64{100, 0, -3, math.NaN(), math.Inf(1), 50}, math.Ln2},
		{[]float64{7, 7, 7}, 0},
		// Two stalled runs that differ more from each other than from the
		// healthy one: the gap is theirs, the cut is not (F4).
		{[]float64{100, 70, 20}, math.Log(3.5)},
	} {
		if got := knee.MaxGap(c.v); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("MaxGap(%v) = %g, want %g", c.v, got, c.want)
		}
	}
}

// The windows of public record (knee.md §18.2): healthy EKS runs with max/min
// 1.168 pass C1 because no gap is above 15 %, stalled ones fail.
func TestGapRuleOnPublicWindows(t *testing.T) {
	healthy := []float64{15879, 14797, 13592, 15274, 14585, 14298}
	if g := knee.MaxGap(healthy); g > knee.GapThreshold(len(healthy), 0.05, 15) {
		t.Errorf("the healthy window has a gap of %.3f", g)
	}
	stalled := append([]float64{10400}, healthy...)
	if g := knee.MaxGap(stalled); g < knee.GapThreshold(len(stalled), 0.05, 15) {
		t.Errorf("a window with a stall at 0.7 has a gap of only %.3f", g)
	}
}

// A level is cut at its highest gap above the threshold, not at its largest.
func TestCutsAtHighestGap(t *testing.T) {
	var runs []knee.Run
	for _, n := range []int{1, 2, 4, 8, 16} {
		for _, x := range []float64{0.99, 1, 1.01} {
			runs = append(runs, knee.Run{ConcurrencyPerGPU: n, TokPerSecPerGPU: 100 * float64(n) * x})
		}
	}
	for _, x := range []float64{0.65, 0.2} {
		runs = append(runs, knee.Run{ConcurrencyPerGPU: 4, TokPerSecPerGPU: 400 * x})
	}
	l := knee.Find(runs, knee.Options{}).Levels[2]
	if l.Runs != 5 || l.Kept != 3 || !l.Split() || math.Abs(l.TokPerSecPerGPU-400) > 1e-9 {
		t.Errorf("level %+v, want 3 of 5 kept around 400 and split", l)
	}
}

// The acceptance counts split levels by cleaning alone: Find must say the same,
// with and without stalls.
func TestSplitsAreThoseOfFind(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	var seen [2]int
	for i := range 60 {
		var stalls *kneetest.Stalls
		if i%2 == 0 {
			stalls = kneetest.NewStalls(rng, 0.1)
		}
		runs := kneetest.New(kneetest.BatchCap, rng).Sweep(rng, kneetest.HalfOctave()[4:], 2, 0.05, stalls)
		found := slices.ContainsFunc(knee.Find(runs, onlyKnee).Levels, knee.Level.Split)
		if got := knee.Splits(runs); got != found {
			t.Fatalf("sweep %d: cleaning %v, Find %v", i, got, found)
		}
		if found {
			seen[1]++
		} else {
			seen[0]++
		}
	}
	if seen[0] == 0 || seen[1] == 0 {
		t.Errorf("%d without and %d with a split: nothing is compared", seen[0], seen[1])
	}
}
