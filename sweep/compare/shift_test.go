package compare

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/sweep"
)

// byEnumeration is the two-sided p value of one stratum over every way to call
// n of the values B, counting pairs instead of ranks.
func byEnumeration(a, b []float64) float64 {
	all := append(slices.Clone(a), b...)
	pairs := func(isB func(i int) bool) (u2 int) {
		for i, y := range all {
			for j, x := range all {
				if !isB(i) || isB(j) {
					continue
				}
				switch {
				case y > x:
					u2 += 2
				case y == x:
					u2++
				}
			}
		}
		return u2
	}
	got := pairs(func(i int) bool { return i >= len(a) })
	ways, lower, upper := 0.0, 0.0, 0.0
	for mask := range uint(1) << len(all) {
		if bits.OnesCount(mask) != len(b) {
			continue
		}
		u := pairs(func(i int) bool { return mask>>i&1 == 1 })
		ways++
		if u <= got {
			lower++
		}
		if u >= got {
			upper++
		}
	}
	return min(1, 2*min(lower, upper)/ways)
}

func TestPValueIsThatOfEveryPermutation(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		a, b := make([]float64, 1+rng.IntN(5)), make([]float64, 1+rng.IntN(5))
		for _, v := range [][]float64{a, b} {
			for i := range v {
				v[i] = float64(1 + rng.IntN(6)) // ties are common
			}
		}
		got, want := Between([]Stratum{{a, b}}, 0.95).P, byEnumeration(a, b)
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("A %v, B %v: p = %v, enumeration gives %v", a, b, got, want)
		}
	}
}

// Tables by hand: of the 70 ways to choose 4 of 8 one is extreme on each side,
// of the 20 ways to choose 3 of 6 as well (knee.md §11: 3 against 5 has 56).
func TestKnownTables(t *testing.T) {
	lowTo := func(from, n int) (v []float64) {
		for i := range n {
			v = append(v, float64(from+i))
		}
		return v
	}
	for _, tt := range []struct {
		m, n int
		p    float64
		has  bool
	}{{2, 2, 2. / 6, false}, {3, 3, 2. / 20, false}, {4, 4, 2. / 70, true}, {3, 5, 2. / 56, true}, {3, 10, 2. / 286, true}, {5, 5, 2. / 252, true}} {
		s := Between([]Stratum{{lowTo(1, tt.m), lowTo(100, tt.n)}}, 0.95)
		if math.Abs(s.P-tt.p) > 1e-12 || s.HasInterval() != tt.has {
			t.Errorf("%d against %d: p = %v (want %v), interval %v", tt.m, tt.n, s.P, tt.p, s.HasInterval())
		}
		if s.HasInterval() && s.Confidence < 0.95 {
			t.Errorf("%d against %d: confidence %v", tt.m, tt.n, s.Confidence)
		}
	}
	// 2 against 2 prove nothing at one level and much over six.
	var six []Stratum
	for i := range 6 {
		f := math.Pow(2, float64(i))
		six = append(six, Stratum{[]float64{100 * f, 101 * f}, []float64{110 * f, 112 * f}})
	}
	s := Between(six, 0.95)
	if want := 2 * math.Pow(6, -6); math.Abs(s.P-want) > 1e-12 || !s.HasInterval() || s.Low <= 1 {
		t.Errorf("six levels of 2 against 2: %+v, want p = %v", s, want)
	}
}

func draw(rng *rand.Rand, n int, scale, sigma float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = scale * math.Exp(sigma*rng.NormFloat64())
	}
	return v
}

// drawn are strata of 3 against 4 runs at levels of very different throughput.
func drawn(rng *rand.Rand, ratio, sigma float64) (out []Stratum) {
	for i := range 4 {
		scale := 1000 * math.Pow(1.8, float64(i))
		out = append(out, Stratum{draw(rng, 3, scale, sigma), draw(rng, 4, scale*ratio, sigma)})
	}
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

func TestSwappingInvertsAndScaleDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		st := drawn(rng, 0.95, 0.03)
		s := Between(st, 0.95)
		var swapped, scaled, shuffled []Stratum
		for _, x := range st {
			swapped = append(swapped, Stratum{x.B, x.A})
			k := math.Exp(3 * rng.NormFloat64())
			scaled = append(scaled, Stratum{times(x.A, k), times(x.B, k)})
			b := slices.Clone(x.B)
			rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
			shuffled = append(shuffled, Stratum{x.A, b})
		}
		w := Between(swapped, 0.95)
		if !near(w.Ratio, 1/s.Ratio) || !near(w.Low, 1/s.High) || !near(w.High, 1/s.Low) || !near(w.P, s.P) {
			t.Errorf("swapped: %+v is not the inverse of %+v", w, s)
		}
		for _, g := range []Shift{Between(scaled, 0.95), Between(shuffled, 0.95)} {
			if !near(g.Ratio, s.Ratio) || !near(g.Low, s.Low) || !near(g.High, s.High) || !near(g.P, s.P) {
				t.Errorf("scaled or shuffled: %+v, want %+v", g, s)
			}
		}
	}
}

func times(v []float64, k float64) (out []float64) {
	for _, x := range v {
		out = append(out, k*x)
	}
	return out
}

func TestIdenticalInput(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var st []Stratum
	for range 5 {
		v := draw(rng, 4, 100, 0.02)
		st = append(st, Stratum{v, v})
	}
	if s := Between(st, 0.95); s.P != 1 || s.Ratio != 1 || s.Low > 1 || s.High < 1 {
		t.Errorf("identical sides: %+v", s)
	}
	if s := Between([]Stratum{{[]float64{5, 5, 5, 5}, []float64{5, 5, 5, 5}}}, 0.95); s.P != 1 || s.Ratio != 1 {
		t.Errorf("all values equal: %+v", s)
	}
	if s := Between([]Stratum{{nil, []float64{1}}, {[]float64{math.Inf(1), -1}, []float64{1}}}, 0.95); s.P != 1 || s.Ratio != 0 || s.HasInterval() {
		t.Errorf("nothing to compare: %+v", s)
	}
}

// The interval covers the true ratio at least as often as it says, and is not
// so wide that it always does: three standard errors around.
func TestCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	trials, hit, conf := coverageTrials, 0, 0.0
	for range trials {
		s := Between(drawn(rng, 0.9, 0.05), 0.95)
		conf = s.Confidence
		if s.Low <= 0.9 && 0.9 <= s.High {
			hit++
		}
	}
	se := math.Sqrt(conf * (1 - conf) / float64(trials))
	got := float64(hit) / float64(trials)
	t.Logf("coverage %.4f of %d, stated %.4f", got, trials, conf)
	if conf < 0.95 || conf > 0.97 || math.Abs(got-conf) > 3*se {
		t.Errorf("coverage %.4f, stated %.4f ± %.4f", got, conf, se)
	}
}

// Hodges–Lehmann is the median of the differences, which the median ratio of
// medians is not.
func TestEstimateIsTheMedianDifference(t *testing.T) {
	a, b := []float64{1, 2, 4}, []float64{3, 8}
	var d []float64
	for _, y := range b {
		for _, x := range a {
			d = append(d, math.Log(y/x))
		}
	}
	if got, want := Between([]Stratum{{a, b}}, 0.95).Ratio, math.Exp(sweep.Median(d)); !near(got, want) {
		t.Errorf("ratio %v, want %v", got, want)
	}
}

// TestAbsurdValues: what no clock measures must not make a ratio that is no
// number.
func TestAbsurdValues(t *testing.T) {
	absurd := []float64{5e-324, 1e-300, 1e300, math.MaxFloat64, math.Inf(1), math.NaN(), -1, 0}
	for _, s := range []Shift{
		Between([]Stratum{{A: absurd, B: []float64{1, 2, 3}}}, 0.95),
		Between([]Stratum{{A: absurd, B: absurd}}, 0.95),
		Paired([][]Pair{{{5e-324, 1e300}, {1, 1e300}}}, 0.95),
	} {
		if s.Ratio != 0 || s.RunsA+s.RunsB != 0 {
			t.Errorf("%+v of absurd values", s)
		}
	}
	s := Between([]Stratum{{A: []float64{leastValue, leastValue}, B: []float64{mostValue, mostValue}}}, 0.5)
	for _, v := range []float64{s.Ratio, s.Low, s.High} {
		if !(v > 0) || math.IsInf(v, 0) {
			t.Errorf("%v of the extreme values: %+v", v, s)
		}
	}
}
