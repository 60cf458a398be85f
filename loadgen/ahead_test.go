package loadgen

import (
	"slices"
	"testing"
	"time"
)

// TestGateRequestsMadeAhead: streams that wait for the common start know their
// requests by then. With more streams than measured requests some have none:
// as many are sent as were asked for, each number once, and none is lost.
func TestGateRequestsMadeAhead(t *testing.T) {
	for _, c := range []struct {
		streams           int
		requests, warmUps int64
	}{{16, 5, 16}, {16, 16, 16}, {16, 40, 7}, {16, 40, -1}, {1, 3, 1}, {16, 1, 35}} {
		e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
		var numbers []uint64
		all := make(chan uint64, 1000)
		cfg := Config{
			Concurrency: c.streams, Kind: Gate, FirstRequest: 1000, OnRequest: func(r Request) { all <- r.Number },
			Limits: Limits{MinRequests: c.requests, WarmUpRequests: c.warmUps},
		}
		inBubble(t, e, cfg, func(r Result, err error) {
			if err != nil {
				t.Fatal(err)
			}
			for range len(all) {
				numbers = append(numbers, <-all)
			}
			slices.Sort(numbers)
			total := c.requests + max(0, c.warmUps)
			if r.Measured[OK] != c.requests || r.All[OK] != total || e.requests != total || r.NextRequest != 1000+uint64(total) {
				t.Errorf("%+v: %v measured of %v, the server saw %d, it goes on at %d", c, r.Measured, r.All, e.requests, r.NextRequest)
			}
			if len(slices.Compact(slices.Clone(numbers))) != int(total) || numbers[0] != 1000 || numbers[total-1] != 999+uint64(total) {
				t.Errorf("%+v: the numbers %d", c, numbers)
			}
		})
	}
}
