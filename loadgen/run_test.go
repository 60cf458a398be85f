package loadgen

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// inBubble runs cfg against e in virtual time. The bubble itself proves that
// no goroutine or timer is left behind.
func inBubble(t *testing.T, e *engine, cfg Config, check func(r Result, err error)) {
	t.Helper()
	inBubbleWith(t, e, cfg, nil, check)
}

// inBubbleWith is inBubble with another way to dial.
func inBubbleWith(t *testing.T, e *engine, cfg Config, other dialFunc, check func(r Result, err error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		dial, stop := e.serve()
		if other != nil {
			dial = other
		}
		cfg.BaseURL, cfg.Model, cfg.Dial = "http://engine", "m", dial
		if cfg.Workload == nil {
			cfg.Workload = workload(t, tokens(20, 0))
		}
		r, err := Run(t.Context(), cfg)
		stop()
		check(r, err)
	})
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance*want }

// TestSteadyLaw: a server with a closed form gives exactly that form.
func TestSteadyLaw(t *testing.T) {
	for _, n := range []int{1, 2, 8, 64} {
		if n > 8 && testing.Short() {
			continue
		}
		e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
		cfg := Config{Concurrency: n, Kind: Steady, FirstRequest: 1000,
			Limits: Limits{MinRequests: int64(10 * n), MinDuration: 29 * time.Second, MaxDuration: time.Minute, Ramp: 290 * time.Millisecond}}
		inBubble(t, e, cfg, func(r Result, err error) {
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range []Estimate{r.Window, r.WholeRun} {
				if w.TTFTMeanMS != 100 || w.TTFTP50MS != 100 || w.TTFTP99MS != 100 || w.ITLP99MS != 10 || w.ITLMeanMS != 10 || w.E2EP50MS != 290 || w.E2EP99MS != 290 {
					t.Errorf("N=%d: latencies %+v, want TTFT 100, ITL 10, E2E 290", n, w)
				}
				if !near(w.GapP50MS, 10, .001) || !near(w.GapP99MS, 10, .001) {
					t.Errorf("N=%d: gaps %g, %g, want 10", n, w.GapP50MS, w.GapP99MS)
				}
			}
			law := float64(n) * 20 / .29
			if !near(r.Window.OutputTokPerSec, law, .005) || !near(r.Window.RequestsPerSec, law/20, .005) {
				t.Errorf("N=%d: %g tok/s, %g requests/s, want %g and a twentieth", n, r.Window.OutputTokPerSec, r.Window.RequestsPerSec, law)
			}
			if !near(r.WholeRun.OutputTokPerSec, law, .02) {
				t.Errorf("N=%d: whole run %g tok/s, want about %g", n, r.WholeRun.OutputTokPerSec, law)
			}
			if e.peak != int64(n) || e.requests != r.All.Total() || r.NextRequest != 1000+uint64(e.requests) {
				t.Errorf("N=%d: the server saw %d at once and %d in all, the client sent %d and continues at %d", n, e.peak, e.requests, r.All.Total(), r.NextRequest)
			}
			if r.TotalOutputTokens != e.outputTokens || e.cancelled != 0 || r.All.Bad() != 0 {
				t.Errorf("N=%d: %d tokens, the server generated %d and saw %d cancelled; %v", n, r.TotalOutputTokens, e.outputTokens, e.cancelled, r.All)
			}
			if e.conns != int64(n) || r.Health.Dials != int64(n) {
				t.Errorf("N=%d: %d connections, %d dials", n, e.conns, r.Health.Dials)
			}
			// All streams busy but for the ramp at the start and the drain.
			if run := r.Ended.Sub(r.Started); e.full < run-600*time.Millisecond {
				t.Errorf("N=%d: %v of %v with all streams busy", n, e.full, run)
			}
			if !r.Health.LittleMeasured || r.Health.LittleResidual > .001 {
				t.Errorf("N=%d: Little's law is off by %g", n, r.Health.LittleResidual)
			}
			if got := r.Measured[OK]; got < int64(10*n) || r.All[OK]-got < int64(2*n) || r.Window.Requests != got {
				t.Errorf("N=%d: measured %v of %v", n, r.Measured, r.All)
			}
			if len(r.Series) != 29 || !near(r.SeriesSeconds, 1, .02) || r.Capped || r.Stopped != "" {
				t.Errorf("N=%d: %d windows of %g s, capped %v, stopped %q", n, len(r.Series), r.SeriesSeconds, r.Capped, r.Stopped)
			}
			if r.Health.QuickACK || r.Health.KernelTime || r.Health.CPUShare != 0 || r.OutputTokensPerRequest != 20 || r.RequestedOutputTokens != 20 {
				t.Errorf("N=%d: %+v", n, r.Health)
			}
			// One stream is silent for TTFT between its requests.
			if n == 1 && r.LongestSilenceMS != 100 {
				t.Errorf("the longest silence is %g ms, want 100", r.LongestSilenceMS)
			}
		})
	}
}

// TestGateProtocol: N warm-ups, a synchronised start, exactly the number of
// requests asked for, whole-run estimators.
func TestGateProtocol(t *testing.T) {
	const n, waves = 16, 8
	e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
	cfg := Config{Concurrency: n, Kind: Gate, Limits: Limits{MinRequests: n * waves, Ramp: time.Hour, MinDuration: time.Hour}}
	inBubble(t, e, cfg, func(r Result, err error) {
		if err != nil {
			t.Fatal(err)
		}
		if e.requests != n*(waves+1) || r.Measured[OK] != n*waves || r.All[OK] != n*(waves+1) || e.peak != n {
			t.Errorf("the server saw %d requests, %d at once; measured %v of %v", e.requests, e.peak, r.Measured, r.All)
		}
		for i, s := range e.starts {
			first := e.starts[0]
			if want := first.Add(time.Duration(i/n) * 290 * time.Millisecond); !s.Equal(want) {
				t.Fatalf("request %d began at %v, want %v after the first", i, s.Sub(first), want.Sub(first))
			}
		}
		law := n * 20 / .29
		if !near(r.WholeRun.OutputTokPerSec, law, 1e-9) || !near(r.WholeRun.Seconds, waves*.29, 1e-9) || r.WholeRun.OutputTokens != n*waves*20 {
			t.Errorf("whole run %+v, want exactly %g tok/s", r.WholeRun, law)
		}
		if r.WholeRun.TTFTP99MS != 100 || r.Window.TTFTP99MS != 100 || r.Window.Requests >= r.WholeRun.Requests || r.Window.Requests == 0 {
			t.Errorf("whole run %+v, window %+v", r.WholeRun, r.Window)
		}
		if !near(r.Window.OutputTokPerSec, law, .01) || r.Health.LittleResidual > 1e-9 || !r.Health.LittleMeasured {
			t.Errorf("window %+v, residual %g", r.Window, r.Health.LittleResidual)
		}
		if r.TotalOutputTokens != e.outputTokens || e.cancelled != 0 {
			t.Errorf("%d tokens, the server generated %d and saw %d cancelled", r.TotalOutputTokens, e.outputTokens, e.cancelled)
		}
	})
}

// TestGateWithFewRequests: fewer requests than streams is no special case.
func TestGateWithFewRequests(t *testing.T) {
	e := &engine{ttft: 10 * time.Millisecond}
	inBubble(t, e, Config{Concurrency: 8, Kind: Gate, Limits: Limits{MinRequests: 3}}, func(r Result, err error) {
		if err != nil || e.requests != 11 || r.Measured[OK] != 3 || r.Health.LittleMeasured || !(r.Window.OutputTokPerSec > 0) {
			t.Errorf("%d requests, %+v, %v", e.requests, r, err)
		}
	})
}

// TestBatchedChunks: several tokens a chunk change neither throughput nor ITL.
func TestBatchedChunks(t *testing.T) {
	e := &engine{special: func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 10 {
			time.Sleep([]time.Duration{100 * time.Millisecond, 40 * time.Millisecond}[min(i, 1)])
			fmt.Fprint(w, chat("two tokens"))
			_ = http.NewResponseController(w).Flush()
		}
		fmt.Fprint(w, usageOf("20"), done)
		return true
	}}
	inBubble(t, e, Config{Concurrency: 4, Kind: Steady, Limits: Limits{MinDuration: 30 * time.Second, Ramp: 460 * time.Millisecond}}, func(r Result, err error) {
		if err != nil || !near(r.Window.ITLP50MS, 360./19, 1e-6) || !near(r.Window.GapP50MS, 40, .001) || !near(r.Window.OutputTokPerSec, 4*20/.46, .005) {
			t.Errorf("%+v, %v", r.Window, err)
		}
	})
}

// TestConnectionsAreReused even by a server whose last bytes come late, and
// replaced where the server closes them.
func TestConnectionsAreReused(t *testing.T) {
	late := func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, chat("a"), usage2, done)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(time.Millisecond) // the terminal chunk
		return true
	}
	closing := func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Connection", "close")
		return false
	}
	for name, c := range map[string]struct {
		special func(int64, http.ResponseWriter, *http.Request) bool
		each    bool
	}{"late end": {late, false}, "closing": {closing, true}} {
		e := &engine{ttft: time.Millisecond, special: c.special}
		inBubble(t, e, Config{Concurrency: 4, Kind: Gate, Limits: Limits{MinRequests: 100}}, func(r Result, err error) {
			want := int64(4)
			if c.each {
				want = e.requests
			}
			if err != nil || r.Measured[OK] != 100 || e.conns != want || r.Health.Dials != want {
				t.Errorf("%s: %v, %d connections, want %d, %v", name, r.Measured, e.conns, want, err)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
	var seen []Progress
	cfg := Config{Concurrency: 4, Kind: Steady, Limits: Limits{MinDuration: 10 * time.Second}, Progress: func(p Progress) { seen = append(seen, p) }}
	inBubble(t, e, cfg, func(r Result, err error) {
		if err != nil || len(seen) < 10 || len(seen) > 12 {
			t.Fatalf("%d calls, %v", len(seen), err)
		}
		for i, p := range seen {
			if p.Elapsed != time.Duration(i+1)*time.Second || p.InFlight > 4 || p.MeasuredFraction < 0 || p.MeasuredFraction > 1 || i > 0 && p.MeasuredFraction < seen[i-1].MeasuredFraction {
				t.Errorf("call %d: %+v", i, p)
			}
		}
	})
}

func TestRunRefuses(t *testing.T) {
	good := Config{BaseURL: "http://engine", Model: "m", Concurrency: 1, Kind: Steady, Workload: workload(t, tokens(4, 0))}
	for name, edit := range map[string]func(*Config){
		"url":      func(c *Config) { c.BaseURL = "engine:80" },
		"userinfo": func(c *Config) { c.BaseURL = "http://alice:s3cret@engine" },
		"streams":  func(c *Config) { c.Concurrency = 0 },
		"kind":     func(c *Config) { c.Kind = "" },
		"model":    func(c *Config) { c.Model = "" },
		"workload": func(c *Config) { c.Workload = nil },
		"files":    func(c *Config) { c.Concurrency = 1 << 30 },
	} {
		cfg := good
		edit(&cfg)
		_, err := Run(t.Context(), cfg)
		var bad *BadInputError
		if err == nil || errors.As(err, &bad) == (name == "files") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestResultHasNoSecret: the key is nowhere in what a run returns.
func TestResultHasNoSecret(t *testing.T) {
	const canary = "sk-canary-5a17"
	e := &engine{special: func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, "bad key in "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		return true
	}}
	inBubble(t, e, Config{Concurrency: 2, Kind: Steady, APIKey: canary}, func(r Result, err error) {
		out, jsonErr := json.Marshal(r)
		if err != nil || jsonErr != nil || strings.Contains(string(out), "canary") || !strings.Contains(string(out), "[redacted]") {
			t.Errorf("%s, %v, %v", out, err, jsonErr)
		}
	})
}
