package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

var options = Options{Confidence: 0.95, Throughput: 0.03, TTFT: 0.10}

// side is a curve that saturates at 64, with some runs a level.
func side(seed uint64, runs int, speed, sigma float64) Side {
	rng := rand.New(rand.NewPCG(seed, 1))
	var s Side
	for _, n := range []int{8, 16, 32, 64, 128, 256} {
		for range runs {
			s.Runs = append(s.Runs, knee.Run{
				ConcurrencyPerGPU: n,
				TokPerSecPerGPU:   speed * 100 * math.Min(float64(n), 64) * math.Exp(sigma*rng.NormFloat64()),
				TTFTP99MS:         50 * math.Max(1, float64(n)/64) * math.Exp(sigma*rng.NormFloat64()),
			})
		}
	}
	s.Point = sweep.OperatingPoint{ConcurrencyPerGPU: 32}
	return s
}

func curves(t *testing.T, a, b Side) Report {
	t.Helper()
	r, err := Curves(a, b, options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVerdicts(t *testing.T) {
	for _, tt := range []struct {
		name         string
		runs         int
		speed, sigma float64
		want         Verdict
	}{
		{"a tenth slower", 2, 0.9, 0.01, Worse},
		{"a tenth faster", 2, 1.1, 0.01, Better},
		{"equal and quiet", 3, 1, 0.01, Same},
		{"a change too small to matter", 4, 0.99, 0.002, Same},
		{"equal and loud", 2, 1, 0.15, CannotTell},
		{"one run a level", 1, 1, 0.05, CannotTell},
	} {
		r := curves(t, side(1, tt.runs, 1, tt.sigma), side(2, tt.runs, tt.speed, tt.sigma))
		if r.Throughput.Verdict != tt.want {
			t.Errorf("%s: %s, want %s (%+v)", tt.name, r.Throughput.Verdict, tt.want, r.Throughput)
		}
		if (r.Throughput.More > 0) != (tt.want == CannotTell) {
			t.Errorf("%s: %d more runs", tt.name, r.Throughput.More)
		}
		if r.Point == nil || r.Point.ConcurrencyPerGPU != 32 || len(r.Levels) != 6 {
			t.Errorf("%s: point %+v, %d levels", tt.name, r.Point, len(r.Levels))
		}
	}
}

func TestKneeRatioHoldsItsInterval(t *testing.T) {
	a, b := side(1, 3, 1, 0.01), side(2, 3, 1, 0.01)
	a.Fit, b.Fit = knee.Find(a.Runs, knee.Options{}), knee.Find(b.Runs, knee.Options{})
	r := curves(t, a, b)
	if !(r.KneeLow <= r.KneeRatio && r.KneeRatio <= r.KneeHigh && r.KneeLow <= 1 && r.KneeHigh >= 1) {
		t.Errorf("knee ratio %v, %v to %v", r.KneeRatio, r.KneeLow, r.KneeHigh)
	}
}

// With as many runs as it asks for, a change of the size that matters is seen
// about as often as promised.
func TestMoreRunsAreEnough(t *testing.T) {
	const sigma = 0.06
	more, known := moreRuns(Shift{Spread: sigma, SpreadDF: 12, fewest: 2, strata: 6}, 0.95, 0.03)
	if !known || more < 2 {
		t.Fatalf("asked for %d more runs, spread known: %v", more, known)
	}
	seen, trials := 0, 60
	for i := range uint64(trials) {
		a, b := side(10+2*i, 2+more, 1, sigma), side(11+2*i, 2+more, 0.97, sigma)
		if s := curves(t, a, b).Throughput; s.HasInterval() && s.P <= 0.05 {
			seen++
		}
	}
	if seen < trials*6/10 {
		t.Errorf("%d more runs saw the change in %d of %d, 80 %% were promised", more, seen, trials)
	}
}

func TestLevelsOfOneSideOnly(t *testing.T) {
	a, b := side(1, 2, 1, 0.01), side(2, 2, 1, 0.01)
	a.Runs = a.Runs[2:]
	b.Runs = b.Runs[:len(b.Runs)-2]
	r := curves(t, a, b)
	if !slices.Equal(r.OnlyA, []int{256}) || !slices.Equal(r.OnlyB, []int{8}) || len(r.Levels) != 4 {
		t.Errorf("only A %v, only B %v, %d levels", r.OnlyA, r.OnlyB, len(r.Levels))
	}
	if r := curves(t, Side{}, b); r.Throughput.Verdict != Absent || r.TTFT.Verdict != Absent || len(r.Warnings) == 0 {
		t.Errorf("nothing in common: %+v", r)
	}
	if _, err := Curves(side(1, MaxRuns+1, 1, 0), b, options); err == nil {
		t.Error("too many runs are compared")
	}
}

func TestHolm(t *testing.T) {
	got := holm([]float64{0.04, 0.01, 0.03, 0.5})
	for i, want := range []float64{0.09, 0.04, 0.09, 0.5} {
		if !near(got[i], want) {
			t.Errorf("p %d: %v, want %v", i, got[i], want)
		}
	}
}

func TestDifferences(t *testing.T) {
	a := sweep.Fingerprint{Target: "http://a", Model: "m", GPUs: 8, Labels: map[string]string{"image": "1"}}
	b := a
	b.Target, b.Labels = "http://b", map[string]string{"image": "2"}
	if fields, blocked := Differences(a, b, nil); len(fields) != 2 || len(blocked) != 0 {
		t.Errorf("an image bump: %q, blocked %q", fields, blocked)
	}
	b.GPUs, b.Workload = 4, loadgen.WorkloadSpec{OSL: 7}
	if _, blocked := Differences(a, b, nil); !slices.Equal(blocked, []string{"gpus", "workload"}) {
		t.Errorf("blocked %q", blocked)
	}
	if _, blocked := Differences(a, b, []string{"gpus"}); !slices.Equal(blocked, []string{"workload"}) {
		t.Errorf("across gpus: blocked %q", blocked)
	}
}
