package loadgen

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen/internal/stream"
)

func TestRanks(t *testing.T) {
	for _, c := range []struct {
		q    float64
		n    int
		want int
	}{
		{.5, 1, 1}, {.5, 2, 1}, {.5, 3, 2}, {.99, 100, 99}, {.99, 101, 100}, {.99, 1000, 990}, {.99, 1001, 991},
		{.99, 20, 20}, {.95, 1000, 950}, {1, 7, 7}, {.9, 10, 9}, {.99, 160, 159},
	} {
		if got := rank(c.q, c.n); got != c.want {
			t.Errorf("rank(%g, %d) = %d, want %d", c.q, c.n, got, c.want)
		}
	}
}

// TestPooledPercentile: 990 samples of 10 ms and 10 of a second have their p99
// at 10 ms; averaging or taking the largest of parts would say otherwise.
func TestPooledPercentile(t *testing.T) {
	var s []sample
	for i := range 1000 {
		d := int64(10e6)
		if i < 10 {
			d = 1e9
		}
		s = append(s, sample{outcome: OK, phase: measured, marks: marks{sent: 1, first: 1 + d, last: 1 + d, end: 1 + d}, tokens: stream.Tokens{Completion: 1}})
	}
	e := estimate(s, newShard(), (*sample).ok)
	if e.TTFTP99MS != 10 || e.TTFTMaxMS != 1000 || e.TTFTP50MS != 10 || e.TTFTP99LowMS != 10 || e.TTFTP99HighMS != 1000 || e.ITLP50MS != 0 {
		t.Errorf("%+v", e)
	}
}

// TestBinomialRanks against the table of the method's description.
func TestBinomialRanks(t *testing.T) {
	for _, c := range []struct{ n, low, high int }{
		{0, 0, 0}, {300, 293, 0}, {1000, 983, 997}, {4096, 4042, 4068}, {16384, 16195, 16246},
	} {
		low, high := binomialRanks(.99, c.n)
		if low != c.low || high != c.high {
			t.Errorf("n = %d: ranks %d..%d, want %d..%d", c.n, low, high, c.low, c.high)
		}
	}
}

// TestBinomialCoverage: the interval holds the true p99 in about 95 % of
// samples drawn with a fixed seed, never in less than its promise allows.
func TestBinomialCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, trials = 1000, 2000
	low, high := binomialRanks(.99, n)
	covered := 0
	for range trials {
		below := 0 // uniform samples under their true p99
		for range n {
			if r.Float64() < .99 {
				below++
			}
		}
		if below >= low && below < high {
			covered++
		}
	}
	// Three standard errors of a proportion of .95 are .015.
	if p := float64(covered) / trials; p < .935 || p > .985 {
		t.Errorf("covered %.3f of %d", p, trials)
	}
}

// randomShard is a shard with tokens in random places, each under its own bin.
func randomShard(r *rand.Rand, requests int) (*shard, float64) {
	s := newShard()
	total := 0.0
	for range requests {
		m := sample{outcome: OK, phase: measured, tokens: stream.Tokens{Completion: r.Int64N(100) + 1}}
		e := &exchange{}
		at := r.Int64N(5e9)
		for range r.IntN(20) {
			at += r.Int64N(50e6)
			e.script.times = append(e.script.times, at)
			e.lags = append(e.lags, r.Int64N(1e6))
		}
		m.end = at
		s.add(e, &m)
		total += float64(m.tokens.Completion)
	}
	return s, total
}

// TestWindowsConserveTokens: any partition of the run holds all tokens.
func TestWindowsConserveTokens(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		s, total := randomShard(r, 20)
		end := int64(len(s.bins)) * binWidth
		sum, from := 0.0, int64(0)
		for from < end {
			to := min(end, from+1+r.Int64N(700e6))
			sum += tokensIn(s.bins, span{from, to})
			from = to
		}
		if math.Abs(sum-total) > 1e-6*total {
			t.Fatalf("%g tokens in the parts of %g", sum, total)
		}
		parts, seconds := series(s.bins, span{0, end})
		sum = 0
		for _, p := range parts {
			sum += p
		}
		if math.Abs(sum-total) > 1e-6*total || len(parts) != 20 || math.Abs(seconds*20-float64(end)/1e9) > 1e-9 {
			t.Fatalf("series of %d × %g s holds %g of %g", len(parts), seconds, sum, total)
		}
	}
}

// TestSeriesLength: clamp(seconds, 20, 180).
func TestSeriesLength(t *testing.T) {
	for seconds, want := range map[int64]int{0: 0, 1: 20, 19: 20, 30: 30, 180: 180, 600: 180} {
		if got, _ := series(nil, span{5, 5 + seconds*1e9}); len(got) != want {
			t.Errorf("%d s: %d windows, want %d", seconds, len(got), want)
		}
	}
}

// TestMergeEqualsOne: recording in several shards and merging is recording in
// one.
func TestMergeEqualsOne(t *testing.T) {
	record := func(r *rand.Rand, shards []*shard) *shard {
		for i := range 200 {
			m := sample{outcome: OK, phase: phase(r.IntN(3)), tokens: stream.Tokens{Completion: r.Int64N(50)}, marks: marks{end: r.Int64N(1e9)}}
			if r.IntN(5) == 0 {
				m.outcome = InBand
			}
			e := &exchange{eventReads: 3}
			e.script.events, e.script.malformed = 4, 1
			at := r.Int64N(1e9)
			for range r.IntN(9) {
				at += r.Int64N(4e12) // past the histogram's range at times
				at %= 2e10
				e.script.times = append(e.script.times, max(at, m.end))
				e.lags = append(e.lags, r.Int64N(5e9))
			}
			shards[i%len(shards)].add(e, &m)
		}
		for _, s := range shards[1:] {
			shards[0].merge(s)
		}
		return shards[0]
	}
	one := record(rand.New(rand.NewPCG(5, 6)), []*shard{newShard()})
	many := record(rand.New(rand.NewPCG(5, 6)), []*shard{newShard(), newShard(), newShard()})
	if !one.gaps.Equals(many.gaps) || !one.lags.Equals(many.lags) || one.events != many.events || one.reads != many.reads ||
		one.maxLag != many.maxLag || one.clamped != many.clamped || one.odd != many.odd || one.kernel != many.kernel || len(one.bins) != len(many.bins) {
		t.Errorf("merged shards differ from one shard")
	}
	for i := range one.bins {
		a, b := one.bins[i], many.bins[i]
		if math.Abs(a.tokens-b.tokens) > 1e-9 || a.first != b.first || a.last != b.last {
			t.Fatalf("bin %d: %+v and %+v", i, a, b)
		}
	}
}

// TestNothingIsDropped: a value outside of the histograms' range is counted at
// its end and said to be.
func TestNothingIsDropped(t *testing.T) {
	s := newShard()
	for _, v := range []int64{0, 1, int64(45 * 60e9), int64(3 * 3600e9)} {
		s.record(s.gaps, v)
	}
	if s.gaps.TotalCount() != 4 || s.clamped != 1 || len(oddities(nil, s)) != 1 {
		t.Errorf("%d recorded, %d clamped", s.gaps.TotalCount(), s.clamped)
	}
}

func TestLongestSilence(t *testing.T) {
	const ms = int64(1e6)
	for _, c := range []struct {
		name     string
		at       []int64 // ms, as are all below
		from, to int64
		want     int64
	}{
		{"none", nil, 0, 100, 100},
		{"inside", []int64{20, 30, 330, 340}, 0, 400, 300},
		{"at the start", []int64{300, 310}, 0, 400, 300},
		{"at the end", []int64{20, 30}, 0, 400, 370},
		{"before the span counts to its edge", []int64{20, 380}, 100, 400, 280},
		{"after the span does not count", []int64{150, 500}, 100, 400, 250},
		{"edges inside a bin", []int64{102, 108, 398}, 105, 400, 290},
	} {
		s := newShard()
		for _, at := range c.at {
			s.spread([]int64{at * ms}, &sample{outcome: InBand})
		}
		if got := longestSilence(s.bins, span{c.from * ms, c.to * ms}); got != c.want*ms {
			t.Errorf("%s: %d ms, want %d", c.name, got/ms, c.want)
		}
	}
}

// TestSpread: tokens go where chunks arrived, failures bring none but break
// the silence.
func TestSpread(t *testing.T) {
	s := newShard()
	s.spread([]int64{5e6, 15e6, 16e6, 95e6}, &sample{outcome: OK, tokens: stream.Tokens{Completion: 40}})
	s.spread([]int64{25e6}, &sample{outcome: InBand, tokens: stream.Tokens{Completion: 40}})
	s.spread(nil, &sample{outcome: OK, tokens: stream.Tokens{Completion: 3}, marks: marks{end: 35e6}})
	s.spread(nil, &sample{outcome: Timeout, marks: marks{end: 55e6}})
	for i, want := range []float64{10, 20, 0, 3, 0, 0, 0, 0, 0, 10} {
		if s.bins[i].tokens != want {
			t.Errorf("bin %d: %g tokens, want %g", i, s.bins[i].tokens, want)
		}
	}
	if s.bins[2].first != 25e6 || s.bins[3].first != 0 {
		t.Errorf("arrivals %+v", s.bins)
	}
}

// TestOddities: bursts and invisible answers are said.
func TestOddities(t *testing.T) {
	burst := sample{outcome: OK, tokens: stream.Tokens{Completion: 250}, marks: marks{first: 1699e6, last: 1700e6}}
	fine := sample{outcome: OK, tokens: stream.Tokens{Completion: 250}, marks: marks{first: 100e6, last: 1700e6}}
	blind := sample{outcome: OK, tokens: stream.Tokens{Completion: 2}}
	for name, c := range map[string]struct {
		in   []sample
		want int
	}{
		"fine": {[]sample{fine, fine}, 0}, "a burst among others": {[]sample{burst, fine}, 0},
		"bursts": {[]sample{burst, burst, fine}, 1}, "blind": {[]sample{fine, blind}, 1},
	} {
		if got := oddities(c.in, newShard()); len(got) != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if e := estimate([]sample{fine, blind}, newShard(), (*sample).ok); e.Requests != 2 || e.TTFTP50MS != 100 {
		t.Errorf("%+v", e)
	}
}
