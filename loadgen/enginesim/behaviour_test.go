package enginesim

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Past a batch cap K the wait is what Little's law says: n streams at X(K).
func TestQueueWaitIsLittles(t *testing.T) {
	for _, name := range []string{"batch-cap", "kv-bound", "kneed"} {
		synctest.Test(t, func(t *testing.T) {
			p := quiet(t, name)
			slots := p.workerCap()
			n := slots * 3 / 2
			served(t, p, func(s *Sim, c *client) {
				// Rounds so many that how the first ones fill the queue moves the mean
				// by 0.4 %, and the order of events at one instant by 0.1 %.
				const rounds, tokens = 24, 32
				all := ttfts(c.hold(n, rounds, varied), rounds, 3)
				service := float64(tokens) * float64(slots) / p.Throughput(float64(slots))
				wait := float64(n-slots) / float64(slots) * service
				first := p.PrefillTokens * float64(slots) / p.Throughput(float64(slots))
				var mean float64
				for _, d := range all {
					mean += d.Seconds() / float64(len(all))
				}
				near(t, name+": mean TTFT", mean, wait+first, 0.02)
				if got := s.Counters().MaxRunning; got != int64(slots) {
					t.Errorf("%s: %d ran at once, want %d", name, got, slots)
				}
			})
		})
	}
}

// TTFT below the knee is modest and its p99 1.3 to 2 times its p50; past the
// edge it is more than ten times as long, a step of far more than 3.
func TestTTFTCollapsesPastTheEdge(t *testing.T) {
	p50 := map[int]float64{}
	for _, n := range []int{64, 128, 192, 256} {
		synctest.Test(t, func(t *testing.T) {
			p := quiet(t, "gb300")
			p.Chunk = 32
			served(t, p, func(_ *Sim, c *client) {
				const rounds = 6
				all := ttfts(c.hold(n, rounds, varied), rounds, 2)
				p50[n] = quantile(all, 0.5).Seconds()
				if r := quantile(all, 0.99).Seconds() / p50[n]; n < 210 && (r < 1.3 || r > 2) {
					t.Errorf("p99/p50 of TTFT at %d = %.2f", n, r)
				}
			})
		})
	}
	if p50[192] > 2*p50[64] || p50[192] > 0.2 {
		t.Errorf("TTFT below the edge is not modest: %v", p50)
	}
	if p50[256] < 10*p50[192] {
		t.Errorf("TTFT does not collapse: %v", p50)
	}
}

// Frontend saturation moves TTFT and the time between tokens.
func TestFrontendSlowsBothTTFTAndTokens(t *testing.T) {
	measure := func(n int) (ttft, itl float64) {
		synctest.Test(t, func(t *testing.T) {
			served(t, quiet(t, "frontend-bound"), func(_ *Sim, c *client) {
				const rounds, tokens = 5, 64
				replies := c.hold(n, rounds, fixed(tokens))
				ttft = quantile(ttfts(replies, rounds, 1), 0.5).Seconds()
				for _, r := range replies {
					itl += r.end.Sub(r.first).Seconds() / (tokens - 1) / float64(len(replies))
				}
			})
		})
		return ttft, itl
	}
	ttft, itl := measure(80)
	ttftPast, itlPast := measure(240)
	if ttftPast < 5*ttft || itlPast < 1.3*itl {
		t.Errorf("80 → 240 streams: TTFT %.3f → %.3f s, ITL %.4f → %.4f s", ttft, ttftPast, itl, itlPast)
	}
}

// Of each ten windows exactly the asked number stands still, the first always;
// nothing arrives in them and work goes on after.
func TestStallWindowsAreExact(t *testing.T) {
	for _, seed := range []uint64{1, 2, 77} {
		synctest.Test(t, func(t *testing.T) {
			p := target(t, fmt.Sprintf("kneed?stall=0.3&seed=%d&chunk=4", seed))
			served(t, p, func(_ *Sim, c *client) {
				time.Sleep(7 * time.Second) // the clock starts at the first request
				start := time.Now()
				// Some 9 ms a token and 36 ms a chunk: two turns of ten windows.
				replies := c.hold(2, 100, fixed(128))
				const turns = 2
				var tokens [turns * windowsPerTurn]int
				for _, r := range replies {
					for _, a := range r.chunks {
						since := a.at.Sub(start).Seconds()
						// A token due in the last instant of a window may be read in the next.
						if w := int((since - 1e-6) / stallWindowS); w < len(tokens) {
							tokens[w]++
						}
					}
				}
				last := replies[len(replies)-1].end.Sub(start).Seconds()
				if last < stallWindowS*turns*windowsPerTurn {
					t.Fatalf("the load ended after %.1f s", last)
				}
				for turn := range turns {
					ten := tokens[turn*windowsPerTurn:][:windowsPerTurn]
					still := 0
					for _, n := range ten {
						if n == 0 {
							still++
						}
					}
					if still != 3 || ten[0] != 0 {
						t.Errorf("seed %d: tokens by window %v", seed, ten)
					}
				}
			})
		})
	}
}

func TestStallOrderIsSeeded(t *testing.T) {
	order := func(seed uint64) (list []uint64) {
		s := stalls{seed: seed, count: 3}
		for w := range uint64(100) {
			if s.still(w) {
				list = append(list, w)
			}
		}
		return list
	}
	if len(order(5)) != 30 || !slices.Equal(order(5), order(5)) || slices.Equal(order(5), order(6)) {
		t.Errorf("orders: %v, %v", order(5), order(6))
	}
	for count := range windowsPerTurn {
		s, n := stalls{seed: 9, count: count}, 0
		for w := range uint64(windowsPerTurn) {
			if still, _ := s.at(float64(w) * stallWindowS); still {
				n++
			}
		}
		if n != count {
			t.Errorf("%d of ten asked, %d stand still", count, n)
		}
	}
}

// Two engines with the same seed do the same, to the last digit; another seed
// does something else, and noise is drawn once a run.
func TestRunsAreDeterministic(t *testing.T) {
	run := func(s string) (times []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			served(t, target(t, s), func(_ *Sim, c *client) {
				for range 4 {
					start := time.Now()
					c.hold(16, 8, fixed(512))
					times = append(times, time.Since(start))
				}
			})
		})
		return times
	}
	one := run("kneed?chunk=128&noise=0.05")
	if two := run("kneed?chunk=128&noise=0.05"); !slices.Equal(one, two) {
		t.Errorf("same seed: %v, %v", one, two)
	}
	if other := run("kneed?chunk=128&noise=0.05&seed=2"); slices.Equal(one, other) {
		t.Errorf("another seed: the same %v", one)
	}
	if still := run("kneed?chunk=128&noise=0"); still[0] != still[1] {
		t.Errorf("without noise runs differ: %v", still)
	}
	if one[0] == one[1] {
		t.Errorf("with noise runs are equal: %v", one)
	}
}

// The noise of runs has the asked spread.
func TestNoiseHasItsSpread(t *testing.T) {
	const sigma, draws = 0.05, 4000
	var sum, squares float64
	for i := range uint64(draws) {
		z := sigma * normal(3, forLevel, i)
		sum += z
		squares += z * z
	}
	mean := sum / draws
	if sd := math.Sqrt(squares/draws - mean*mean); math.Abs(sd/sigma-1) > 0.05 || math.Abs(mean) > 0.004 {
		t.Errorf("mean %.4f, standard deviation %.4f", mean, sd)
	}
}

func TestSheddingRefusesPastTheQueueBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := quiet(t, "shedding")
		served(t, p, func(s *Sim, c *client) {
			const n = 60
			replies := c.hold(n, 1, fixed(32))
			statuses := map[int]int{}
			for _, r := range replies {
				statuses[r.status]++
			}
			if want := map[int]int{200: p.Slots + p.QueueLimit, statusOverloaded: n - p.Slots - p.QueueLimit}; statuses[200] != want[200] || statuses[529] != want[529] {
				t.Errorf("statuses %v, want %v", statuses, want)
			}
			got := s.Counters()
			if got.Shed != int64(statuses[529]) || got.Requests != n || got.Completed != int64(statuses[200]) {
				t.Errorf("counters %+v", got)
			}
		})
	})
}

func TestBrokenStreamsBreakAsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served(t, target(t, "kneed?truncated=0.2&inband=0.1&noise=0"), func(s *Sim, c *client) {
			const n, rounds, tokens = 20, 20, 24
			cut, inBand, whole, words := 0, 0, 0, 0
			for _, r := range c.hold(n, rounds, fixed(tokens)) {
				words += r.words
				switch {
				case r.usage == tokens && r.words == tokens && r.failed == "":
					whole++
				case r.failed == "Service temporarily unavailable" && r.usage < 0:
					inBand++
				case r.failed == "unexpected EOF" && r.usage < 0:
					cut++
				default:
					t.Fatalf("reply %+v", r)
				}
			}
			got := s.Counters()
			if got.Truncated != int64(cut) || got.InBand != int64(inBand) || got.Completed != int64(whole) || got.OutputTokens != int64(words) {
				t.Errorf("saw %d cut, %d in band, %d whole, %d tokens; counters %+v", cut, inBand, whole, words, got)
			}
			const all = n * rounds
			if cut < all/10 || cut > all*3/10 || inBand < all/30 || inBand > all/5 {
				t.Errorf("%d cut and %d in band of %d", cut, inBand, all)
			}
		})
	})
}
