package kneetest

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTruthAgainstFormulas(t *testing.T) {
	for _, c := range []struct {
		name string
		x    func(float64) float64
		e    float64
		want float64
	}{
		{"hyperbola", hyperbola(100, 20), 0.2, 80},
		{"hyperbola, e 0.5", hyperbola(100, 20), 0.5, 20},
		{"cap", capped(hyperbola(100, 80), 60, 0), 0.2, 60},
		{"collapse", capped(hyperbola(100, 250), 150, -2), 0.2, 150},
		{"creep below e", capped(hyperbola(100, 250), 150, 0.1), 0.2, 150},
		{"flat", func(float64) float64 { return 1 }, 0.2, 1},
		{"log rise", func(n float64) float64 { return math.Log1p(n) }, 0.5, 3.92155},
	} {
		if got := (Curve{X: c.x}).Knee(c.e); math.Abs(got/c.want-1) > 1e-4 {
			t.Errorf("%s: %.6g, want %.6g", c.name, got, c.want)
		}
	}
}

// Every family draws a positive, finite curve, the kneed ones with the knee
// where it was drawn.
func TestFamilies(t *testing.T) {
	families := []Family{Smooth, LinearCap, BatchCap, Collapse, Rising, Flat, TwoStage, SoftCap, Exponential, USL, Sigmoid, Network, Cliff, LateCollapse, Creep, LogRise, Stairs, SecondWind}
	for _, f := range append(families, Mechanisms()...) {
		rng := rand.New(rand.NewPCG(3, 3))
		for range 5 {
			c := New(f, rng)
			for _, n := range HalfOctave() {
				if x := c.X(float64(n)); !(x > 0) || math.IsInf(x, 1) {
					t.Fatalf("%s: %g at %d", f, x, n)
				}
			}
			k := c.Knee(0.2)
			switch f {
			case Rising:
				if k <= 512 {
					t.Errorf("%s has a knee at %g", f, k)
				}
			case Flat:
				if k > 1.001 {
					t.Errorf("%s has a knee at %g", f, k)
				}
			case Smooth, SoftCap, Exponential, LinearCap, BatchCap, Collapse, TwoStage, Cliff, LateCollapse, Creep, SecondWind:
				if k < 23.9 || k > 200.1 || c.Edge > 0 && math.Abs(k/c.Edge-1) > 1e-3 {
					t.Errorf("%s: knee %g, edge %g", f, k, c.Edge)
				}
			case ChunkedPrefill, Tokenizer, Hashing, Speculation:
				if k < 23.5 || k > 205 {
					t.Errorf("%s: knee %g", f, k)
				}
			}
		}
	}
}

func TestGB300PassesThePublicPoints(t *testing.T) {
	for _, edge := range []float64{150, 210, 240} {
		c := GB300(edge)
		if a, b := c.X(128), c.X(256); math.Abs(a-21197) > 1 || math.Abs(b-5192) > 1 {
			t.Errorf("edge %g: %g at 128 and %g at 256", edge, a, b)
		}
	}
}

func TestStallsHaveTheirShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	s := NewStalls(rng, 1.0/3)
	c := New(BatchCap, rng)
	runs := 0
	for range 400 {
		runs += len(c.Sweep(rng, Doubling(), 1, 0.03, s))
	}
	if got := float64(s.Count) / float64(runs); math.Abs(got-1.0/3) > 0.05 {
		t.Errorf("%.3f of the runs stalled, want a third", got)
	}
}
