package aiperf

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// naive describes values in the plainest way: numpy's definition of a
// percentile, and two passes for the deviation.
func naive(values []float64) stats {
	v := slices.Clone(values)
	slices.Sort(v)
	n := len(v)
	s := stats{count: int64(n), min: v[0], max: v[n-1]}
	for _, x := range v {
		s.sum += x
	}
	squares := 0.
	for _, x := range v {
		squares += (x - s.sum/float64(n)) * (x - s.sum/float64(n))
	}
	s.std = math.Sqrt(squares / float64(n))
	for i, percent := range []float64{1, 5, 10, 25, 50, 75, 90, 95, 99} {
		h := float64(n-1) * percent / 100
		low, high := v[int(math.Floor(h))], v[int(math.Ceil(h))]
		s.p[i] = low + (h-math.Floor(h))*(high-low)
	}
	return s
}

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*math.Max(math.Abs(a), math.Abs(b))
}

// within compares two descriptions; percentiles have a tolerance of their own.
func within(a, b stats, exact, percentile float64) bool {
	for i := range a.p {
		if !near(a.p[i], b.p[i], percentile) {
			return false
		}
	}
	return a.count == b.count && near(a.sum, b.sum, exact) && a.min == b.min && a.max == b.max &&
		(near(a.std, b.std, 1e-6) || math.Abs(a.std-b.std) < 1e-9*math.Abs(a.max))
}

// shapes are samples of the kinds that a run has, and worse ones.
func shapes(r *rand.Rand, n int) map[string][]float64 {
	out := map[string][]float64{}
	for i := range n {
		for name, v := range map[string]float64{
			"equal": 128, "uniform": r.Float64(), "heavy": math.Exp(6 * r.NormFloat64()), "two": float64(1 + 999*(i%2)),
			"far from zero": 1e9 + r.Float64(), "zeros": math.Max(0, r.NormFloat64()), "signed": r.NormFloat64(), "ascending": float64(i),
		} {
			out[name] = append(out[name], v)
		}
	}
	return out
}

func TestDescribe(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 4, 10, 99, 100, 101, 1000, 4097} {
		for name, values := range shapes(r, n) {
			want := naive(values)
			if got := describe(slices.Clone(values)); !within(got, want, 1e-12, 1e-9) {
				t.Errorf("%d %s: %+v, want %+v", n, name, got, want)
			}
		}
	}
	if got := describe(nil); got.count != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}

// TestDescribeCapture: AIPerf's own numbers come out of the values that it had.
func TestDescribeCapture(t *testing.T) {
	real := decode(t, read(t, "profile_export_aiperf.json"))
	// Its shortest metric with a spread: 4 warm-up requests, of which the values
	// follow from min, max and the percentiles that fall on a third.
	warm := real["warmup_metrics"].(map[string]any)
	f := func(name string) float64 { return stat(t, warm, "time_to_first_token", name) }
	low, high := f("min"), f("max")
	// p25 is at 0.75 of the way from the first to the second of four.
	second := low + (f("p25")-low)/.75
	third := 2*f("p50") - second
	got := describe([]float64{high, second, low, third})
	for i, name := range []string{"p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99"} {
		if !near(got.p[i], f(name), 1e-9) {
			t.Errorf("%s = %v, AIPerf's %v", name, got.p[i], f(name))
		}
	}
	if !near(got.std, f("std"), 1e-9) || !near(got.avg(), f("avg"), 1e-9) || !near(got.sum, f("sum"), 1e-9) || got.count != 4 {
		t.Errorf("%+v, AIPerf's std %v avg %v", got, f("std"), f("avg"))
	}
}

// TestGaps: what is kept of the gaps describes them as well as all of them
// would, percentiles to 0.1 %.
func TestGaps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, scale := range []time.Duration{1, 100, time.Microsecond, time.Millisecond, 20 * time.Millisecond, time.Minute} {
		for _, n := range []int{1, 2, 100, 5000} {
			g := newGaps()
			var all []float64
			at, chunks := time.Duration(0), []time.Duration{0}
			for range n {
				d := time.Duration(float64(scale) * math.Exp(r.NormFloat64()))
				if r.IntN(4) == 0 {
					d = 0 // chunks that came in one read
				}
				all = append(all, milliseconds(d))
				at += d
				chunks = append(chunks, at)
			}
			half := len(chunks) / 2
			g.add(chunks[:half+1])
			g.add(chunks[half:])
			if got, want := g.stats(), naive(all); !within(got, want, 1e-9, 1e-3) {
				t.Errorf("%d gaps of about %v: %+v, want %+v", n, scale, got, want)
			}
		}
	}
	if got := newGaps().stats(); got.count != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}

// TestBuckets: every value is within half a bucket of its bucket's middle, the
// buckets ascend, and the largest time has one.
func TestBuckets(t *testing.T) {
	last, n := -1, len(newGaps().buckets)
	for v := time.Duration(0); v < 1<<topBits; v += 1 + v/777 {
		b := bucket(v)
		if b < last || b >= n {
			t.Fatalf("%d: bucket %d after %d", v, b, last)
		}
		if m := middle(b) * 1e6; math.Abs(m-float64(v)) > .5+float64(v)/subBuckets/2 {
			t.Fatalf("%d: the middle of its bucket is %v", v, m)
		}
		last = b
	}
	if b := bucket(math.MaxInt64); b != n-1 {
		t.Errorf("the longest time is in bucket %d of %d", b, n)
	}
}
