package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
)

// byFlipping is the two-sided p value of differences over every way to choose
// their signs, with ranks by counting.
func byFlipping(d []float64) float64 {
	rank2 := func(i int) (r int) {
		for _, x := range d {
			switch {
			case math.Abs(x) < math.Abs(d[i]):
				r += 2
			case math.Abs(x) == math.Abs(d[i]):
				r++
			}
		}
		return r + 1
	}
	sum := func(positive func(int) bool) (s int) {
		for i := range d {
			if d[i] != 0 && positive(i) {
				s += rank2(i)
			}
		}
		return s
	}
	at := sum(func(i int) bool { return d[i] > 0 })
	lower, upper, ways := 0.0, 0.0, math.Exp2(float64(len(d)))
	for mask := range 1 << len(d) {
		s := sum(func(i int) bool { return mask>>i&1 == 1 })
		if s <= at {
			lower++
		}
		if s >= at {
			upper++
		}
	}
	return min(1, 2*min(lower, upper)/ways)
}

func TestSignedRankIsThatOfEveryFlip(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 80 {
		d := make([]float64, 1+rng.IntN(9))
		for i := range d {
			d[i] = float64(rng.IntN(9) - 4) // ties and zeros are common
		}
		if got, want := signedRank(d), byFlipping(d); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: p = %v, flipping gives %v", d, got, want)
		}
	}
}

// Tables by hand: of 2^n ways to choose signs one is extreme on each side, so
// that five pairs have no interval of 95 % and six have one.
func TestKnownPairs(t *testing.T) {
	for n := 1; n <= 8; n++ {
		var pairs []Pair
		for i := range n {
			pairs = append(pairs, Pair{100, 100 * (1.1 + float64(i)/100)})
		}
		s := Paired([][]Pair{pairs}, 0.95)
		if want := math.Exp2(float64(1 - n)); math.Abs(s.P-min(1, want)) > 1e-12 || s.HasInterval() != (n >= 6) || s.RunsA != n || s.RunsB != n {
			t.Errorf("%d pairs: %+v, want p = %v", n, s, want)
		}
	}
	// The median of the averages of two, by hand: 0, .5, 1, 2, 2.5, 4 of 0, 1, 4.
	s := Paired([][]Pair{{{1, 1}, {1, math.E}}, {{1, math.Exp(4)}}}, 0.95)
	if !near(s.Ratio, math.Exp(1.5)) || s.strata != 2 || s.fewest != 1 {
		t.Errorf("%+v", s)
	}
}

// drift is a campaign of pairs in an environment that drifts: a common factor a
// pair, and noise a run.
func drift(rng *rand.Rand, levels, runs int, ratio, common, sigma float64) (pairs [][]Pair, strata []Stratum) {
	for i := range levels {
		scale := 1000 * math.Pow(1.8, float64(i))
		var p []Pair
		var st Stratum
		for range runs {
			f := scale * math.Exp(common*rng.NormFloat64())
			a, b := f*math.Exp(sigma*rng.NormFloat64()), ratio*f*math.Exp(sigma*rng.NormFloat64())
			p, st.A, st.B = append(p, Pair{a, b}), append(st.A, a), append(st.B, b)
		}
		pairs, strata = append(pairs, p), append(strata, st)
	}
	return pairs, strata
}

func TestPairsSwapScaleAndLoseWhatIsAbsent(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 40 {
		pairs, _ := drift(rng, 4, 3, 0.95, 0.1, 0.03)
		s := Paired(pairs, 0.95)
		var swapped, scaled, holed [][]Pair
		for _, level := range pairs {
			var w, k []Pair
			for _, p := range level {
				f := math.Exp(3 * rng.NormFloat64())
				w, k = append(w, Pair{p.B, p.A}), append(k, Pair{f * p.A, f * p.B})
			}
			slices.Reverse(k)
			swapped, scaled = append(swapped, w), append(scaled, k)
			holed = append(holed, append(slices.Clone(level), Pair{0, 1}, Pair{1, math.Inf(1)}, Pair{math.NaN(), 1}))
		}
		w := Paired(swapped, 0.95)
		if !near(w.Ratio, 1/s.Ratio) || !near(w.Low, 1/s.High) || !near(w.High, 1/s.Low) || !near(w.P, s.P) {
			t.Errorf("swapped: %+v is not the inverse of %+v", w, s)
		}
		for _, g := range []Shift{Paired(scaled, 0.95), Paired(holed, 0.95)} {
			if !near(g.Ratio, s.Ratio) || !near(g.Low, s.Low) || !near(g.High, s.High) || !near(g.P, s.P) || g.RunsA != 12 || g.fewest != 3 {
				t.Errorf("%+v, want %+v", g, s)
			}
		}
	}
	if s := Paired([][]Pair{{{5, 5}, {7, 7}}}, 0.95); s.P != 1 || s.Ratio != 1 {
		t.Errorf("identical sides: %+v", s)
	}
	if s := Paired(nil, 0.95); s.P != 1 || s.Ratio != 0 || s.HasInterval() {
		t.Errorf("no pairs: %+v", s)
	}
}

// The interval of pairs covers the true ratio as often as it says, however the
// environment drifts, and there it is the narrower one.
func TestPairedCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, common := range []float64{0, 0.1} {
		trials, hit, conf, narrower := coverageTrials, 0, 0.0, 0
		for range trials {
			pairs, strata := drift(rng, 6, 2, 0.9, common, 0.03)
			s, u := Paired(pairs, 0.95), Between(strata, 0.95)
			conf = s.Confidence
			if s.Low <= 0.9 && 0.9 <= s.High {
				hit++
			}
			if s.High/s.Low < u.High/u.Low {
				narrower++
			}
		}
		se := math.Sqrt(conf * (1 - conf) / float64(trials))
		got := float64(hit) / float64(trials)
		t.Logf("common drift %v: coverage %.4f of %d, stated %.4f; narrower than without pairs in %d", common, got, trials, conf, narrower)
		if conf < 0.95 || conf > 0.97 || math.Abs(got-conf) > 3*se {
			t.Errorf("common drift %v: coverage %.4f, stated %.4f ± %.4f", common, got, conf, se)
		}
		if narrower < trials/2 || common > 0 && narrower < trials*9/10 {
			t.Errorf("common drift %v: narrower in %d of %d", common, narrower, trials)
		}
	}
}

func TestPairedCurves(t *testing.T) {
	o := options
	o.Paired = true
	a, b := side(1, 2, 1, 0.01), side(2, 2, 0.9, 0.01)
	r, err := Curves(a, b, o)
	if err != nil || !r.Paired || r.Throughput.Verdict != Worse || r.Throughput.RunsA != 12 || r.TTFT.Verdict != Same || len(r.Levels) != 6 {
		t.Errorf("%+v, %v", r, err)
	}
	// One pair a level suffices: the spread is that of all pairs.
	a, b = side(1, 1, 1, 0.1), side(2, 1, 1, 0.1)
	if r, err = Curves(a, b, o); err != nil || r.Throughput.Verdict != CannotTell || !r.Throughput.SpreadKnown || r.Throughput.More == 0 {
		t.Errorf("%+v, %v", r.Throughput, err)
	}
	b.Runs = b.Runs[1:]
	if _, err := Curves(a, b, o); err == nil {
		t.Error("a level with no partner is compared")
	}
	var many Side
	for n := 1; len(many.Runs) <= MaxPairs; n++ {
		for range 20 {
			many.Runs = append(many.Runs, knee.Run{ConcurrencyPerGPU: n, TokPerSecPerGPU: 1})
		}
	}
	if _, err := Curves(many, many, o); err == nil {
		t.Error("too many pairs are compared")
	}
}

// With as many pairs as it asks for, a change of the size that matters is seen
// about as often as promised.
func TestMorePairsAreEnough(t *testing.T) {
	const sigma = 0.06
	rng := rand.New(rand.NewPCG(17, 18))
	more, known := moreRuns(Shift{Spread: sigma, SpreadDF: 11, fewest: 2, strata: 6, paired: true}, 0.95, 0.03)
	if !known || more < 2 {
		t.Fatalf("asked for %d more pairs, spread known: %v", more, known)
	}
	seen, trials := 0, 200
	for range trials {
		pairs, _ := drift(rng, 6, 2+more, 0.97, 0.2, sigma)
		if Paired(pairs, 0.95).P <= 0.05 {
			seen++
		}
	}
	t.Logf("%d more pairs a level saw the change in %d of %d", more, seen, trials)
	if seen < trials*7/10 {
		t.Errorf("%d more pairs a level saw the change in %d of %d, 80 %% were promised", more, seen, trials)
	}
	if n, known := moreRuns(Shift{fewest: 1, strata: 1, paired: true}, 0.95, 0.03); known || n != 5 {
		t.Errorf("one pair: %d more, spread known: %v; six pairs have an interval", n, known)
	}
}
