package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
)

// MaxPairs bounds the pairs of a comparison: their distribution is enumerated
// as well.
const MaxPairs = 400

// Pair holds the values of two runs that were made back to back, both greater
// than 0.
type Pair struct{ A, B float64 }

// Paired compares pairs at a confidence such as 0.95, one slice a level: the
// estimate is the Hodges–Lehmann one of the differences of logarithms, its
// interval and p value those of the exact signed-rank distribution (Wilcoxon,
// Biometrics Bull. 1, 1945), conditional on ties, with differences of zero kept
// in the ranking (Pratt, J. Am. Stat. Assoc. 54, 1959). What a pair has in
// common, its level and the moment in which it was made, cancels. Pairs beyond
// MaxPairs are left out.
func Paired(levels [][]Pair, confidence float64) Shift {
	s := Shift{P: 1, paired: true}
	var d []float64
	for _, pairs := range levels {
		before := len(d)
		for _, p := range pairs {
			if a, b := logs([]float64{p.A}), logs([]float64{p.B}); len(a)+len(b) == 2 && len(d) < MaxPairs {
				d = append(d, b[0]-a[0])
			}
		}
		if n := len(d) - before; n > 0 {
			if s.strata++; s.strata == 1 || n < s.fewest {
				s.fewest = n
			}
		}
	}
	n := len(d)
	if n == 0 {
		return s
	}
	s.RunsA, s.RunsB = n, n
	var averages []float64
	for i, x := range d {
		for _, y := range d[i:] {
			averages = append(averages, x/2+y/2)
		}
	}
	slices.Sort(averages)
	s.Ratio = math.Exp(sweep.Median(averages))
	s.P = signedRank(d)
	if s.SpreadDF = n - 1; n > 1 {
		// The difference of two runs varies by √2 of what one does.
		s.Spread = math.Sqrt(squares(d) / float64(n-1) / 2)
	}
	plain := []float64{1}
	for i := range n {
		plain = flip(plain, 2*(i+1))
	}
	if k, conf := depth(plain, confidence); k > 0 {
		s.Low, s.High, s.Confidence = math.Exp(averages[k-1]), math.Exp(averages[len(averages)-k]), conf
	}
	return s
}

// signedRank is the exact two-sided p value of differences whose signs are
// each as likely as the other.
func signedRank(d []float64) float64 {
	sizes := make([]float64, len(d))
	for i, x := range d {
		sizes[i] = math.Abs(x)
	}
	at, dist := 0, []float64{1}
	for i, r := range ranks2(sizes) {
		switch cmp.Compare(d[i], 0) {
		case 1:
			at += r
			dist = flip(dist, r)
		case -1:
			dist = flip(dist, r)
		}
	}
	lower, upper := tails(dist, at)
	return min(1, 2*min(lower, upper))
}

// flip is the distribution of a sum to which r is added or not.
func flip(dist []float64, r int) []float64 {
	out := make([]float64, len(dist)+r)
	for i, p := range dist {
		out[i] += p / 2
		out[i+r] += p / 2
	}
	return out
}

// pair judges all levels together by their pairs. Levels on their own are not
// judged so: fewer than six pairs have no interval of 95 %, and four runs a side
// do.
func (r *Report) pair(ra, rb map[int][]knee.Run, goodA, goodB map[int][]sweep.GoodRun, confidence float64) error {
	var xs, ts, gs [][]Pair
	count := 0
	for _, n := range slices.Sorted(maps.Keys(ra)) {
		a, b := ra[n], rb[n]
		if len(a) != len(b) {
			return fmt.Errorf("%s of A and %d of B at %d per GPU are no pairs", plural.Of(len(a), "run"), len(b), n)
		}
		var x, t []Pair
		for i := range a {
			x = append(x, Pair{a[i].TokPerSecPerGPU, b[i].TokPerSecPerGPU})
			t = append(t, Pair{a[i].TTFTP99MS, b[i].TTFTP99MS})
		}
		xs, ts, count = append(xs, x), append(ts, t), count+len(a)
		gs = append(gs, goodPairs(goodA[n], goodB[n]))
	}
	if count > MaxPairs {
		return fmt.Errorf("more than %d pairs: the exact test is not for so many", MaxPairs)
	}
	r.Throughput, r.TTFT = Change{Shift: Paired(xs, confidence)}, Change{Shift: Paired(ts, confidence)}
	if r.Goodput != nil {
		r.Goodput = &Change{Shift: Paired(gs, confidence)}
	}
	r.Paired = true
	return nil
}
