package calibrate

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The reference rows were computed independently with scipy.
func TestFloorLimitsReference(t *testing.T) {
	rows := []struct {
		deps                                 [][]float64
		sw, sb, f, n, k, l, portable, regres float64
	}{
		{[][]float64{{100, 103, 98, 101, 99, 104, 97, 102}}, 0.02438, 0.03000, 8.8283, 1.5339, 3.6472, 87.2609, 85.4, 95.4},
		{[][]float64{{100, 103, 98, 101, 99}, {96, 99, 95}}, 0.01993, 0.02877, 9.1880, 2.6241, 3.3129, 87.6293, 84.1, 94},
		{[][]float64{{100, 103}, {95, 98}, {104, 101}}, 0.02120, 0.02957, 8.9985, 3.6134, 3.1905, 89.1466, 85.4, 95.4},
		{[][]float64{{100, 100}, {100, 100}, {100, 100}}, 0.01500, 0.02449, 8.8537, 3.4737, 3.2184, 91.1703, 85, 95},
		{[][]float64{{100, 110}, {90, 99}, {105, 95}}, 0.06854, 0.02727, 3.9753, 5.2785, 4.2028, 73.0674, 81.1, 81.1},
		{[][]float64{{100, 103, 98}, {94, 92, 97}, {106, 103, 108}}, 0.02520, 0.04007, 10.1035, 3.6988, 3.0997, 86.3381, 85, 95},
		{[][]float64{{100, 102}, {90, 91}, {110, 113}}, 0.01500, 0.06475, 6.6232, 3.0784, 3.5386, 79.5409, 85.8, 88.3},
		{[][]float64{{21197, 21500, 20900, 21050, 21310}, {20600, 20800, 20500}}, 0.01500, 0.02791, 7.7654, 2.3933, 3.4948, 18717.8600, 17800, 19900},
		{[][]float64{{15879, 14797, 13592, 15274, 14585, 14298}}, 0.05371, 0.03000, 7.6730, 2.7410, 3.4403, 11911.9849, 12400, 13200},
		{[][]float64{{18500, 18450, 18163, 18110}}, 0.01500, 0.03000, 5.7692, 1.1765, 4.2766, 15858.8910, 15500, 17300},
		{[][]float64{{100, 103}, {95, 98}, {104, 101}, {99, 97}, {102, 100}}, 0.01872, 0.02622, 12.8805, 6.0160, 2.7981, 91.2568, 85, 95},
		{[][]float64{{50, 53, 47, 51, 49}, {46, 50, 52}}, 0.05142, 0.02683, 8.9194, 4.7210, 3.1029, 41.4423, 42.5, 46},
		{[][]float64{{9249, 9354}, {9010, 9105}, {9480, 9390}}, 0.01500, 0.02656, 8.6727, 3.4125, 3.2416, 8390.9995, 7900, 8830},
	}
	for _, r := range rows {
		t.Run(fmt.Sprint(r.deps), func(t *testing.T) {
			l, err := FloorLimits(r.deps)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "s_w", l.SW, r.sw, 6e-6)
			near(t, "s_b", l.SB, r.sb, 6e-6)
			near(t, "f", l.F, r.f, 1e-4)
			near(t, "N'", l.NPrime, r.n, 1e-4)
			near(t, "k", l.K, r.k, 1e-4)
			near(t, "L", l.L, r.l, 1e-5*r.l)
			if l.Portable != r.portable || l.Regression != r.regres {
				t.Errorf("floors %v, %v; want %v, %v", l.Portable, l.Regression, r.portable, r.regres)
			}
		})
	}
}

func TestKFactorReference(t *testing.T) {
	for _, r := range [][3]float64{
		{4, 1, 5.0766}, {4, 1.78, 4.6433}, {7, 8, 3.1873}, {10, 2, 3.3959}, {12.5, 3.3, 3.0220}, {20, 1.5, 3.2646},
		{30, 6, 2.5180}, {4.94, 8, 3.6657}, {2, 3, 7.6559}, {2.5, 3.5, 6.0316}, {6, 1.1, 4.2790}, {100, 4, 2.5239},
	} {
		near(t, fmt.Sprint("k", r[:2]), kFactor(r[0], r[1]), r[2], 1e-4)
	}
	for _, r := range [][2]float64{{0, 1}, {1, 0}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		if k := kFactor(r[0], r[1]); !math.IsNaN(k) {
			t.Errorf("kFactor(%v) = %v, want NaN", r, k)
		}
	}
}

func TestFalseAlarm(t *testing.T) {
	l, err := FloorLimits([][]float64{{15879, 14797, 13592, 15274, 14585, 14298}})
	if err != nil {
		t.Fatal(err)
	}
	// Φ((ln(.9·13200) − m)/(s·√(1 + 1/N'))), by hand with m = 9.59628,
	// s = .061519, N' = 2.7410.
	want := phi((math.Log(0.9*13200) - l.LogMean) / (l.S * math.Sqrt(1+1/l.NPrime)))
	near(t, "regression", l.FalseAlarmRegression, want, 1e-12)
	if !(l.FalseAlarmPortable < l.FalseAlarmRegression && l.FalseAlarmPortable > 0) {
		t.Errorf("a lower floor must fail fewer healthy runs: %g, %g", l.FalseAlarmPortable, l.FalseAlarmRegression)
	}
	if p := l.FailProbability(0.9*13200, 0.5); p < 0.999 {
		t.Errorf("half the throughput is caught with %g", p)
	}
}

func phi(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

func TestBetweenBasis(t *testing.T) {
	for n, want := range map[int]string{1: "assumed", 2: "assumed", 3: "shrunk", 5: "shrunk", 6: "measured"} {
		if got := betweenBasis(n); got != want {
			t.Errorf("%d deployments: %s, want %s", n, got, want)
		}
	}
}

func TestFloorLimitsRefuses(t *testing.T) {
	for name, deps := range map[string][][]float64{
		"nothing":         nil,
		"empty":           {{}},
		"one run":         {{100}},
		"no replication":  {{100}, {101}, {99}},
		"zero":            {{100, 0, 100}},
		"negative":        {{100, -1}},
		"NaN":             {{100, math.NaN()}},
		"infinite":        {{100, math.Inf(1)}},
		"hopeless spread": {{1e-300, 1e300}},
	} {
		if l, err := FloorLimits(deps); err == nil || l != (Limits{}) {
			t.Errorf("%s: %+v, %v; want an error and nothing else", name, l, err)
		}
	}
}

// Scaling every throughput scales the limit and the unrounded floors, and the
// rounded ones stay within their last digit below.
func TestFloorsScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.IntRange(1, 4).Draw(t, "deployments")
		c := math.Exp(rapid.Float64Range(-6, 6).Draw(t, "ln scale"))
		var x, y [][]float64
		for range a {
			runs := rapid.SliceOfN(rapid.Float64Range(80, 120), 2, 6).Draw(t, "runs")
			scaled := make([]float64, len(runs))
			for i, v := range runs {
				scaled[i] = c * v
			}
			x, y = append(x, runs), append(y, scaled)
		}
		l, err := FloorLimits(x)
		m, err2 := FloorLimits(y)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for _, p := range [][2]float64{{l.L, m.L}, {l.RawPortable, m.RawPortable}, {l.RawRegression, m.RawRegression}, {l.Median, m.Median}} {
			if math.Abs(p[1]/(c*p[0])-1) > 1e-6 {
				t.Fatalf("scale %g: %g became %g", c, p[0], p[1])
			}
		}
		for _, p := range [][2]float64{{m.Portable, m.RawPortable}, {m.Regression, m.RawRegression}} {
			if p[0] > p[1]*(1+1e-11) || p[0] < p[1]*0.99 {
				t.Fatalf("%g rounds down to %g", p[1], p[0])
			}
		}
	})
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.6f, want %.6f ± %g", what, got, want, tol)
	}
}
