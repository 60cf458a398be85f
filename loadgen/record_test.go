package loadgen

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestOnRequest: each request is told once, as it ends, with exactly the times
// that the server kept.
func TestOnRequest(t *testing.T) {
	const n, ms = 4, time.Millisecond
	for _, kind := range []RunKind{Steady, Gate} {
		e := &engine{ttft: 100 * ms, itl: 10 * ms}
		var told []Request
		cfg := Config{Concurrency: n, Kind: kind, FirstRequest: 700, Limits: Limits{MinRequests: 10 * n, Ramp: 290 * ms}, Workload: workload(t, tokens(3, 0))}
		cfg.OnRequest = func(r Request) {
			// Each stream calls from a goroutine of its own.
			e.mu.Lock()
			defer e.mu.Unlock()
			r.Chunks = slices.Clone(r.Chunks)
			told = append(told, r)
		}
		inBubble(t, e, cfg, func(r Result, err error) {
			if err != nil || int64(len(told)) != r.All.Total() {
				t.Fatalf("%s: %d told of %v, %v", kind, len(told), r.All, err)
			}
			numbers := map[uint64]bool{}
			streams := map[int]bool{}
			warm, top, dialled := int64(0), int64(0), 0
			for _, q := range told {
				if numbers[q.Number] || q.Number < 700 || q.Number >= r.NextRequest || q.Outcome != OK || q.Error != "" {
					t.Errorf("%s: %+v", kind, q)
				}
				numbers[q.Number], streams[q.Stream] = true, true
				for name, at := range map[string]struct{ got, want time.Duration }{
					"sent": {q.Sent - q.Asked, 0}, "headers": {q.Headers - q.Sent, 0},
					"first": {q.FirstToken - q.Sent, 100 * ms}, "second": {q.SecondToken - q.FirstToken, 10 * ms},
					"last": {q.LastToken - q.Sent, 120 * ms}, "end": {q.End - q.LastToken, 0},
				} {
					if at.got != at.want {
						t.Errorf("%s: request %d: %s after %v, want %v", kind, q.Number, name, at.got, at.want)
					}
				}
				if len(q.Chunks) != 3 || q.Chunks[0] != q.FirstToken || q.Chunks[1] != q.SecondToken || q.Chunks[2] != q.LastToken || q.OutputTokens != 3 || q.AskedTokens != 3 || q.PromptTokens != 3 {
					t.Errorf("%s: %+v", kind, q)
				}
				if q.NewConnection {
					dialled++
				}
				if q.WarmUp {
					warm++
				}
				if q.TopUp {
					top++
				}
			}
			if len(streams) != n || dialled != n || warm+top+r.Measured.Total() != r.All.Total() || warm < n || (kind == Steady) != (top > 0) {
				t.Errorf("%s: %d streams, %d dialled, %d warm-ups, %d top-ups of %v", kind, len(streams), dialled, warm, top, r.All)
			}
		})
	}
}

// TestOnRequestOfFailures: a failure is told with its reason and the times that
// there were.
func TestOnRequestOfFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine{special: func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
			time.Sleep(time.Second)
			http.Error(w, "full", http.StatusServiceUnavailable)
			return true
		}}
		dial, stop := e.serve()
		var told []Request
		r, err := Run(t.Context(), Config{BaseURL: "http://engine", Model: "m", Concurrency: 1, Kind: Gate, Dial: dial,
			Workload: workload(t, tokens(3, 0)), OnRequest: func(r Request) { told = append(told, r) }})
		stop()
		if err != nil || int64(len(told)) != r.All[Shed] || len(told) == 0 {
			t.Fatalf("%d told of %v, %v", len(told), r.All, err)
		}
		for _, q := range told {
			if q.Outcome != Shed || q.Error == "" || q.Headers-q.Sent != time.Second || q.FirstToken != 0 || q.End < q.Headers || len(q.Chunks) != 0 {
				t.Errorf("%+v", q)
			}
		}
	})
}
