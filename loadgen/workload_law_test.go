package loadgen

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// anySpec draws a synthetic workload of short prompts.
func anySpec(t *rapid.T) WorkloadSpec {
	s := WorkloadSpec{
		Name: Synthetic, ISL: rapid.IntRange(1, 60).Draw(t, "isl"), OSL: rapid.IntRange(1, 60).Draw(t, "osl"),
		Seed: rapid.Uint64().Draw(t, "seed"), Pool: rapid.IntRange(0, 40).Draw(t, "pool"),
	}
	s.ISLStddev = rapid.IntRange(0, int(widest(s.ISL))).Draw(t, "isl stddev")
	s.OSLStddev = rapid.IntRange(0, int(widest(s.OSL))).Draw(t, "osl stddev")
	return s
}

// runOf makes the bodies of a run that starts at first.
func runOf(t interface{ Fatal(...any) }, spec WorkloadSpec, first uint64) *bodies {
	w, err := NewWorkload(spec, Preflight{WordsPerToken: 1, OverheadTokens: 7})
	if err != nil {
		t.Fatal(err)
	}
	return w.bodies(&Config{Model: "m", FirstRequest: first})
}

// TestBodiesAreAFunctionOfTheRun: the same spec, first request and number give
// the same bytes, from whichever generator and in whichever order.
func TestBodiesAreAFunctionOfTheRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec, first := anySpec(t), rapid.Uint64Range(0, 1<<40).Draw(t, "first")
		spec.ReusePrompts = rapid.Bool().Draw(t, "reuse")
		spec.SharedPrefix = rapid.Float64Range(0, 1).Draw(t, "shared")
		a, b := runOf(t, spec, first), runOf(t, spec, first)
		numbers := rapid.SliceOfN(rapid.Uint64Range(first, first+100), 1, 20).Draw(t, "numbers")
		for _, i := range numbers {
			_ = a.body(i)
		}
		for _, i := range numbers {
			x, y := a.body(i), b.body(i)
			if string(x.body) != string(y.body) || x.in != y.in || x.out != y.out {
				t.Fatalf("request %d of %d: %s %d/%d and %s %d/%d", i, first, x.body, x.in, x.out, y.body, y.in, y.out)
			}
		}
	})
}

// TestRunsNeverShareAPrompt, whatever the pool and however far each run came;
// with reuse a run sends what the one before it sent.
func TestRunsNeverShareAPrompt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := anySpec(t)
		spec.ISL = max(spec.ISL, 12) // one word of 1048 is no prompt of its own
		spec.ISLStddev = 0
		owner, first := map[string]int{}, uint64(0)
		for run := range 4 {
			b := runOf(t, spec, first)
			sent := rapid.Uint64Range(1, 60).Draw(t, "sent")
			for i := first; i < first+sent; i++ {
				body := string(b.body(i).body)
				if spec.OSLStddev > 0 {
					body = body[:strings.LastIndex(body, `"max_`)]
				}
				if by, seen := owner[body]; seen && by != run {
					t.Fatalf("run %d repeats a prompt of run %d: %s", run, by, body)
				}
				owner[body] = run
			}
			first += sent
		}
		spec.ReusePrompts = true
		a, b := runOf(t, spec, 0), runOf(t, spec, first)
		for k := range uint64(20) {
			if x, y := a.body(k), b.body(first+k); string(x.body) != string(y.body) {
				t.Fatalf("request %d differs between two runs that reuse prompts", k)
			}
		}
	})
}

// TestPoolHoldsSoManyPrompts: a run has as many prompts as its pool, and
// request i + pool is request i again.
func TestPoolHoldsSoManyPrompts(t *testing.T) {
	for _, reuse := range []bool{false, true} {
		spec := WorkloadSpec{Name: Synthetic, ISL: 16, OSL: 4, Pool: 30, Seed: 5, ReusePrompts: reuse}
		b, seen := runOf(t, spec, 1000), map[string]bool{}
		for i := range uint64(100) {
			body := string(b.body(1000 + i).body)
			if body != string(b.body(1000+i%30).body) {
				t.Fatalf("request %d is not request %d", i, i%30)
			}
			seen[body] = true
		}
		if len(seen) != 30 {
			t.Errorf("reuse %v: %d prompts of a pool of 30", reuse, len(seen))
		}
	}
}

// TestSharedPrefix: every two prompts begin with the fraction asked for and
// differ in the word after it.
func TestSharedPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := WorkloadSpec{Name: Synthetic, ISL: rapid.IntRange(20, 200).Draw(t, "isl"), OSL: 1, Seed: rapid.Uint64().Draw(t, "seed")}
		spec.SharedPrefix = rapid.Float64Range(0, 1).Draw(t, "shared")
		w, err := NewWorkload(spec, Preflight{})
		if err != nil {
			t.Fatal(err)
		}
		want := int(math.Round(spec.SharedPrefix * float64(spec.ISL)))
		a, b := strings.Fields(text(w, 1)), strings.Fields(text(w, 2))
		if len(a) != spec.ISL || len(b) != spec.ISL {
			t.Fatalf("%d and %d words, want %d", len(a), len(b), spec.ISL)
		}
		same := 0
		for same < len(a) && a[same] == b[same] {
			same++
		}
		// Two random words are the same now and then, three in a row never.
		if same < want || same > want+2 && want < spec.ISL {
			t.Fatalf("%d of %d words are shared, want %d", same, spec.ISL, want)
		}
	})
}

// TestLengthsHaveTheirMoments: mean and deviation are those asked for, up to
// the widest; values stay within 1 and 2 × mean − 1.
func TestLengthsHaveTheirMoments(t *testing.T) {
	const n = 20000
	for _, c := range []struct{ mean, stddev int }{
		{128, 0}, {128, 1}, {128, 10}, {128, 40}, {128, 63}, {1000, 499}, {5, 2}, {2, 0}, {550, 200}, {1, 0},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			l := newLengths(c.mean, c.stddev)
			var sum, squares float64
			for i := range uint64(n) {
				v := float64(l.draw(11, i, drawISL))
				if v < 1 || v > float64(2*c.mean-1) {
					t.Fatalf("length %g", v)
				}
				sum, squares = sum+v, squares+v*v
			}
			mean, sd := sum/n, math.Sqrt(max(0, squares/n-sum*sum/n/n))
			// Rounding adds a twelfth to the variance; a mean of n draws is off by
			// sd/√n, their deviation by at most sd/√(2n): four of each.
			want := float64(c.stddev)
			if c.stddev > 0 {
				want = math.Sqrt(want*want + 1./12)
			}
			if math.Abs(mean-float64(c.mean)) > 4*want/math.Sqrt(n) || math.Abs(sd-want) > 4*want/math.Sqrt(2*n)+.02 {
				t.Errorf("%.3f ± %.3f, want %d ± %.3f", mean, sd, c.mean, want)
			}
		})
	}
}

// TestHugePoolCostsNothing: the size of a workload does not depend on its pool.
func TestHugePoolCostsNothing(t *testing.T) {
	spec := WorkloadSpec{Name: Synthetic, ISL: 1024, OSL: 1, Pool: maxPool, Seed: 1}
	allocs := testing.AllocsPerRun(10, func() {
		if _, err := NewWorkload(spec, Preflight{}); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 2 {
		t.Errorf("%.0f allocations for a workload of a pool of %d", allocs, spec.Pool)
	}
}

// BenchmarkBody is what making a request of 128 and of 8192 tokens costs.
func BenchmarkBody(b *testing.B) {
	for _, isl := range []int{128, 8192} {
		b.Run(fmt.Sprint(isl), func(b *testing.B) {
			bodies := runOf(b, WorkloadSpec{Name: Synthetic, ISL: isl, OSL: 128, Seed: 1}, 0)
			b.ReportAllocs()
			for i := range uint64(b.N) {
				_ = bodies.body(i)
			}
		})
	}
}

// TestServerSeesNoPromptTwice over a whole campaign in memory:
// preflight, warm-ups, levels and repeats (vllm-project/vllm#54227: a fixed
// seed made a sweep a benchmark of the prefix cache).
func TestServerSeesNoPromptTwice(t *testing.T) {
	spec := WorkloadSpec{Name: Synthetic, ISL: 32, OSL: 4, Seed: 1}
	seen, first := map[string]int{}, uint64(0)
	note := func(e *engine) {
		for _, b := range e.bodies {
			seen[prompt(b)]++
		}
	}
	h := &host{engine: engine{ttft: time.Millisecond, itl: time.Millisecond}, perWord: 1.5, overhead: 7}
	var pre Preflight
	preflight(t, h, "", spec, func(p Preflight, err error) {
		if err != nil {
			t.Fatal(err)
		}
		pre = p
		note(&h.engine)
	})
	w, err := NewWorkload(spec, pre)
	if err != nil {
		t.Fatal(err)
	}
	total := len(h.bodies)
	for _, level := range []int{1, 2, 4, 4, 8} {
		e := &engine{ttft: time.Millisecond, itl: time.Millisecond}
		cfg := Config{Concurrency: level, Kind: Gate, FirstRequest: first, Workload: w, Limits: Limits{MinRequests: 50}}
		inBubble(t, e, cfg, func(r Result, err error) {
			if err != nil || r.NextRequest != first+uint64(len(e.bodies)) {
				t.Fatalf("%v, next request %d after %d from %d", err, r.NextRequest, len(e.bodies), first)
			}
			first = r.NextRequest
			note(e)
			total += len(e.bodies)
		})
	}
	if len(seen) != total {
		t.Errorf("%d prompts in %d requests", len(seen), total)
	}
}
