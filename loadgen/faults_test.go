package loadgen

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRefusingServer: it is told at once, not hammered, and not retried in
// silence.
func TestRefusingServer(t *testing.T) {
	for status, want := range map[int]Outcome{503: Shed, 429: Shed, 529: Shed, 500: HTTPStatus} {
		e := &engine{special: func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", "3")
			http.Error(w, "full", status)
			return true
		}}
		inBubble(t, e, Config{Concurrency: 4, Kind: Steady, Limits: Limits{MinRequests: 1000}}, func(r Result, err error) {
			took := r.Ended.Sub(r.Started)
			if err != nil || r.Stopped != "errors" || r.All[want] != r.All.Total() || e.requests != r.All.Total() || e.requests < 20 || e.requests > 24 {
				t.Errorf("%d: %v after %v, the server saw %d, stopped %q, %v", status, r.All, took, e.requests, r.Stopped, err)
			}
			if took < 500*time.Millisecond || took > 5*time.Second {
				t.Errorf("%d: %d requests took %v", status, e.requests, took)
			}
			if len(r.Errors[want]) != 1 || !strings.Contains(r.Errors[want][0], "Retry-After 3: full") {
				t.Errorf("%d: errors %q", status, r.Errors)
			}
			if r.Window.OutputTokPerSec != 0 || r.TotalOutputTokens != 0 {
				t.Errorf("%d: tokens from a server that gave none: %+v", status, r.Window)
			}
		})
	}
}

// TestSomeFailures: failures of every kind are counted once, pollute no
// latency, and tokens of failed requests are in the totals only.
func TestSomeFailures(t *testing.T) {
	e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
	e.special = func(n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "text/event-stream")
		switch n % 10 {
		case 3:
			fmt.Fprint(w, chat("a"), usageOf("5"), "event: error\n: gone\n\n", done)
			e.mu.Lock()
			e.outputTokens += 5
			e.mu.Unlock()
		case 5:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 7:
			fmt.Fprint(w, chat("a"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		default:
			return false
		}
		return true
	}
	cfg := Config{Concurrency: 8, Kind: Steady, Limits: Limits{MinRequests: 400, Ramp: 290 * time.Millisecond}}
	inBubble(t, e, cfg, func(r Result, err error) {
		if err != nil || r.Stopped != "" || r.All.Total() != e.requests {
			t.Fatalf("%v, stopped %q, %v; the server saw %d", r.All, r.Stopped, err, e.requests)
		}
		tenth := e.requests / 10
		for _, o := range []Outcome{InBand, Shed, Truncated} {
			if r.All[o] < tenth-1 || r.All[o] > tenth+1 {
				t.Errorf("%s: %d of %d", o, r.All[o], e.requests)
			}
		}
		if r.TotalOutputTokens != e.outputTokens {
			t.Errorf("%d tokens, the server generated %d", r.TotalOutputTokens, e.outputTokens)
		}
		if r.Window.TTFTP50MS != 100 || r.Window.TTFTMaxMS != 100 || r.Window.Requests != r.Measured[OK] || r.OutputTokensPerRequest != 20 {
			t.Errorf("failures are in the latencies: %+v", r.Window)
		}
		if r.WholeRun.OutputTokens != float64(20*r.Measured[OK]) {
			t.Errorf("failures are in the tokens: %+v", r.WholeRun)
		}
	})
}

// TestCapped: MaxDuration ends a run that would never reach its requests, and
// a warm-up that would never end.
func TestCapped(t *testing.T) {
	for _, kind := range []RunKind{Steady, Gate} {
		e := &engine{ttft: 5 * time.Second}
		cfg := Config{Concurrency: 2, Kind: kind, Limits: Limits{MinRequests: 1000, MaxDuration: 30 * time.Second}, Workload: workload(t, tokens(1, 0))}
		inBubble(t, e, cfg, func(r Result, err error) {
			if err != nil || !r.Capped || r.Stopped != "" || r.Measured[OK] < 10 || r.Measured[OK] > 14 || e.cancelled != 0 || r.All.Bad() != 0 {
				t.Errorf("%s: %v of %v, capped %v, %d cancelled, %v", kind, r.Measured, r.All, r.Capped, e.cancelled, err)
			}
		})
	}
	e := &engine{ttft: time.Minute}
	cfg := Config{Concurrency: 2, Kind: Steady, Limits: Limits{MaxDuration: 30 * time.Second}, Workload: workload(t, tokens(1, 0))}
	inBubble(t, e, cfg, func(r Result, err error) {
		if err != nil || len(r.Warnings) == 0 || r.Ended.Sub(r.Started) > 4*time.Minute {
			t.Errorf("a slow warm-up: %+v, %v", r, err)
		}
	})
}

// TestDrainIsBounded: a request that never ends does not hold the run.
func TestDrainIsBounded(t *testing.T) {
	for _, kind := range []RunKind{Steady, Gate} {
		e := &engine{ttft: 500 * time.Millisecond}
		e.special = func(n int64, _ http.ResponseWriter, r *http.Request) bool {
			if n == 20 {
				<-r.Context().Done()
			}
			return n == 20
		}
		cfg := Config{Concurrency: 4, Kind: kind, Limits: Limits{MinRequests: 30, DrainTimeout: 10 * time.Second}}
		inBubble(t, e, cfg, func(r Result, err error) {
			took := r.Ended.Sub(r.Started)
			if err != nil || r.Health.DrainTimedOut != 1 || r.All[Timeout] != 1 || took > 30*time.Second {
				t.Errorf("%s: %v, %d drained out, %v, %v", kind, r.All, r.Health.DrainTimedOut, took, err)
			}
		})
	}
}

// TestSilence: a server that stands still is left, drained and reported.
func TestSilence(t *testing.T) {
	e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
	e.special = func(_ int64, _ http.ResponseWriter, r *http.Request) bool {
		e.mu.Lock()
		began := e.starts[0]
		e.mu.Unlock()
		if time.Since(began) > 3*time.Second {
			select {
			case <-time.After(time.Until(began.Add(20 * time.Second))):
			case <-r.Context().Done():
			}
		}
		return false
	}
	cfg := Config{Concurrency: 4, Kind: Steady, Limits: Limits{MinDuration: time.Minute, Ramp: 200 * time.Millisecond, StopOnSilence: 5 * time.Second}}
	inBubble(t, e, cfg, func(r Result, err error) {
		if err != nil || r.Stopped != "silence" || r.All.Bad() != 0 || e.cancelled != 0 || r.TotalOutputTokens != e.outputTokens {
			t.Errorf("stopped %q, %v, %d cancelled, %v", r.Stopped, r.All, e.cancelled, err)
		}
		if r.LongestSilenceMS < 5000 || r.LongestSilenceMS > 5200 {
			t.Errorf("silence of %g ms until the end of the measured part", r.LongestSilenceMS)
		}
	})
}

// TestCancel: the caller's end is the run's end, at once, with what there is.
func TestCancel(t *testing.T) {
	for _, kind := range []RunKind{Steady, Gate} {
		synctest.Test(t, func(t *testing.T) {
			e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
			dial, stop := e.serve()
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(2*time.Second, cancel)
			cfg := Config{BaseURL: "http://engine", Model: "m", Dial: dial, Concurrency: 4, Kind: kind, Workload: workload(t, tokens(20, 0)), Limits: Limits{MinRequests: 1000, MinDuration: time.Hour}}
			r, err := Run(ctx, cfg)
			stop()
			if !errors.Is(err, context.Canceled) || r.Stopped != "cancelled" || r.All[Cancelled] != 4 || r.All[OK] < 20 || r.Window.TTFTP50MS != 100 && kind == Steady {
				t.Errorf("%s: %v, stopped %q, %v", kind, r.All, r.Stopped, err)
			}
			if took := r.Ended.Sub(r.Started); took != 2*time.Second {
				t.Errorf("%s: ended after %v", kind, took)
			}
		})
	}
}

// TestDeadServer: nothing listens, or it dies on the way.
func TestDeadServer(t *testing.T) {
	e := &engine{ttft: 10 * time.Millisecond}
	synctest.Test(t, func(t *testing.T) {
		dial, stop := e.serve()
		stop()
		r, err := Run(t.Context(), Config{BaseURL: "http://engine", Model: "m", Dial: dial, Concurrency: 2, Kind: Gate, Workload: workload(t, tokens(4, 0)), Limits: Limits{MinRequests: 100}})
		if err != nil || r.Stopped != "errors" || r.All[Connect] != r.All.Total() || r.Window.Seconds != 0 && r.Window.OutputTokPerSec != 0 {
			t.Errorf("%v, stopped %q, %v", r.All, r.Stopped, err)
		}
	})
}
