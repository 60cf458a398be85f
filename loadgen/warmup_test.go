package loadgen

import (
	"testing"
	"time"
)

// TestGateWarmUp: a gate run warms up with as many requests as it is asked to,
// and none of the measured part begins before the last of them has ended.
func TestGateWarmUp(t *testing.T) {
	const n, each = 4, 290 * time.Millisecond
	for _, c := range []struct {
		name     string
		requests int64
		duration time.Duration
		warm     int64
		from     time.Duration // start of the measured part
	}{
		{"as many as streams", 0, 0, n, each},
		{"none", -1, 0, 0, 0},
		{"fewer than streams", 3, 0, 3, each},
		{"more than streams", 2*n + 1, 0, 2*n + 1, 3 * each},
		{"by time", 1 << 40, 2*each + time.Millisecond, 3 * n, 3 * each},
		{"by what comes first", n, time.Hour, n, each},
	} {
		e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
		cfg := Config{Concurrency: n, Kind: Gate, Limits: Limits{MinRequests: 3 * n, WarmUpRequests: c.requests, WarmUpDuration: c.duration}}
		inBubble(t, e, cfg, func(r Result, err error) {
			if err != nil || e.requests != 3*n+c.warm || r.Measured[OK] != 3*n || e.peak != n {
				t.Fatalf("%s: the server saw %d requests, %d at once; %v, %v", c.name, e.requests, e.peak, r.Measured, err)
			}
			for i, s := range e.starts {
				if at := s.Sub(r.Started); (at >= c.from) != (int64(i) >= c.warm) {
					t.Errorf("%s: request %d of %d began after %v, the measured part at %v", c.name, i, e.requests, at, c.from)
				}
			}
		})
	}
}

// TestGateRamp: the warm-up and the measured part each start their streams one
// after the other.
func TestGateRamp(t *testing.T) {
	const n, ms = 4, time.Millisecond
	e := &engine{ttft: 1000 * ms}
	cfg := Config{Concurrency: n, Kind: Gate, Limits: Limits{MinRequests: n, GateRamp: 400 * ms}}
	inBubble(t, e, cfg, func(r Result, err error) {
		// The stream that ends the warm-up goes on at once.
		want := []time.Duration{0, 100 * ms, 200 * ms, 300 * ms, 1300 * ms, 1300 * ms, 1400 * ms, 1500 * ms}
		for i, s := range e.starts {
			if err != nil || len(e.starts) != len(want) || s.Sub(r.Started) != want[i] {
				t.Fatalf("request %d of %d began after %v, want %v; %v", i, len(e.starts), s.Sub(r.Started), want[i], err)
			}
		}
	})
}
