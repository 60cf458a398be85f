package loadgen

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// saying writes text to the client until it is gone: one piece an interval.
func saying(w http.ResponseWriter, r *http.Request, every time.Duration, pieces func(i int) string) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.Flush()
	for i := 0; ; i++ {
		piece := pieces(i)
		if piece == "" {
			return
		}
		if _, err := w.Write([]byte(piece)); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-time.After(every):
		case <-r.Context().Done():
			return
		}
	}
}

// bytewise gives one byte of a text a piece.
func bytewise(text string) func(int) string {
	return func(i int) string { return text[min(i, len(text)):min(i+1, len(text))] }
}

// hostile is a way of a server to be of no use, and what becomes of its
// requests.
type hostile struct {
	serve func(w http.ResponseWriter, r *http.Request)
	want  Outcome
	text  string
	// lingers says that the server does not notice at once that its answer is
	// over: the next request may then overlap with it there.
	lingers bool
}

func hostiles() map[string]hostile {
	silence := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	say := func(every time.Duration, pieces func(int) string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) { saying(w, r, every, pieces) }
	}
	status := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", code) }
	}
	forever := func(text string) func(int) string { return func(int) string { return text } }
	then := func(first string, rest string) func(int) string {
		return func(i int) string {
			if i == 0 {
				return first
			}
			return rest
		}
	}
	answer := chat("a") + finish + usageOf("1") + done
	return map[string]hostile{
		"never answers":                {silence, Timeout, "first-token timeout", false},
		"head, then silence":           {say(time.Hour, forever(": ping\n\n")), Timeout, "first-token timeout", false},
		"comments for ever":            {say(time.Second, forever(": ping\n\n")), Timeout, "first-token timeout", false},
		"role chunks for ever":         {say(time.Second, forever("data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n")), Timeout, "first-token timeout", false},
		"one token, then silence":      {say(time.Hour, forever(chat("a"))), Timeout, "idle timeout", false},
		"one token, then comments":     {say(time.Second, then(chat("a"), ": ping\n\n")), Timeout, "request timeout", false},
		"tokens for ever":              {say(100*time.Millisecond, forever(chat("a"))), Timeout, "request timeout", false},
		"byte by byte":                 {say(time.Millisecond, bytewise(answer)), OK, "", false},
		"byte by byte, slower":         {say(time.Second, bytewise(answer)), Timeout, "first-token timeout", false},
		"one line for ever":            {say(time.Second, forever("data: "+strings.Repeat("x", 1<<20))), Timeout, "first-token timeout", false},
		"one line, fast":               {say(time.Millisecond, forever(strings.Repeat("x", 1<<20))), Protocol, "16 MiB", false},
		"more after the end, for ever": {say(100*time.Millisecond, then(answer, chat("a"))), OK, "", true},
		"a large head": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Large", strings.Repeat("x", maxHead))
		}, Connect, "header", false},
		"429":  {status(429), Shed, "busy", false},
		"503":  {status(503), Shed, "busy", false},
		"529":  {status(529), Shed, "busy", false},
		"500":  {status(500), HTTPStatus, "busy", false},
		"dies": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, Connect, "before an answer", false},
		"stumbles": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.Repeat("x", 10<<20)) // no stream, and much of it
		}, Protocol, "text/plain", false},
		"dies in the answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, chat("a"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, Truncated, "broke inside", false},
		"an error status that never ends": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			saying(w, r, 100*time.Millisecond, forever("x"))
		}, HTTPStatus, "status 500", false},
	}
}

// bounded limits make a hopeless run a short one.
var hopeless = Limits{
	MinRequests: 8, MaxDuration: 30 * time.Second, DrainTimeout: 10 * time.Second,
	RequestTimeout: 20 * time.Second, FirstTokenTimeout: 5 * time.Second, IdleTimeout: 3 * time.Second,
}

// TestHostileServers: whatever a server does, a run ends in bounded time with
// the right classes, and leaves nothing behind: the bubble waits for every
// goroutine.
func TestHostileServers(t *testing.T) {
	for name, h := range hostiles() {
		for _, kind := range []RunKind{Steady, Gate} {
			if kind == Gate && testing.Short() {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s", name, kind), func(t *testing.T) {
				e := &engine{special: func(_ int64, w http.ResponseWriter, r *http.Request) bool { h.serve(w, r); return true }}
				cfg := Config{Concurrency: 3, Kind: kind, Limits: hopeless, Workload: workload(t, tokens(1, 0))}
				inBubble(t, e, cfg, func(r Result, err error) {
					e.inClass(t, r, err, h)
					if took := r.Ended.Sub(r.Started); took > 2*hopeless.MaxDuration+2*hopeless.DrainTimeout {
						t.Errorf("the run took %v", took)
					}
				})
			})
		}
	}
}

// inClass demands one outcome of all requests but those that the drain cut.
func (e *engine) inClass(t *testing.T, r Result, err error, h hostile) {
	t.Helper()
	if n := r.All.Total(); err != nil || n < 3 || r.All[h.want] == 0 || r.All[h.want]+r.Health.DrainTimedOut < n || n < e.requests {
		t.Errorf("%v, %v, %v, %d cut by the drain; the server saw %d", err, r.All, r.Errors, r.Health.DrainTimedOut, e.requests)
	}
	if texts := r.Errors[h.want]; h.text != "" && (len(texts) == 0 || !strings.Contains(texts[0], h.text)) {
		t.Errorf("%s: %q, want %q", h.want, texts, h.text)
	}
	if e.peak > 3 && !h.lingers {
		t.Errorf("%d requests at once", e.peak)
	}
}

// TestCommentsAreNoToken: A01. Comments put off the idle deadline, not that of
// the first token.
func TestCommentsAreNoToken(t *testing.T) {
	slow := func(pings int) *engine {
		return &engine{special: func(_ int64, w http.ResponseWriter, r *http.Request) bool {
			saying(w, r, time.Second, func(i int) string {
				switch {
				case i == 0:
					return chat("a")
				case i <= pings:
					return ": ping\n\n"
				case i == pings+1:
					return finish + usageOf("1") + done
				}
				return ""
			})
			return true
		}}
	}
	cfg := Config{Concurrency: 1, Kind: Gate, Limits: hopeless, Workload: workload(t, tokens(1, 0))}
	cfg.Limits.MinRequests = 1
	inBubble(t, slow(6), cfg, func(r Result, err error) {
		if err != nil || r.All[OK] != 2 {
			t.Errorf("six comments inside an answer: %v, %v, %v", err, r.All, r.Errors)
		}
	})
	e := &engine{special: func(_ int64, w http.ResponseWriter, r *http.Request) bool {
		saying(w, r, time.Second, func(i int) string {
			if i < 4 {
				return ": ping\n\n"
			}
			return []string{chat("a") + finish + usageOf("1") + done, ""}[min(i-4, 1)]
		})
		return true
	}}
	inBubble(t, e, cfg, func(r Result, err error) {
		if err != nil || r.All[OK] != 2 || r.WholeRun.TTFTP50MS != 4000 {
			t.Errorf("four comments before the token: %v, %v, TTFT %g ms", err, r.All, r.WholeRun.TTFTP50MS)
		}
	})
}

// TestBlackHole: a dial that nobody answers is bounded too.
func TestBlackHole(t *testing.T) {
	e := &engine{}
	cfg := Config{Concurrency: 3, Kind: Steady, Limits: Limits{MinRequests: 8, MaxDuration: 30 * time.Second}}
	inBubbleWith(t, e, cfg, func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }, func(r Result, err error) {
		if err != nil || r.All[Connect] == 0 || r.All[Connect] != r.All.Total() || e.requests != 0 {
			t.Errorf("%v, %v, %v", err, r.All, r.Errors)
		}
		if took := r.Ended.Sub(r.Started); took > 2*time.Minute {
			t.Errorf("the run took %v", took)
		}
	})
}

// TestExactConcurrency: with answers of many lengths a run has N requests at
// the server at every moment of its steady part, and never more at any.
func TestExactConcurrency(t *testing.T) {
	for _, n := range []int{1, 2, 3, 64} {
		e := &engine{ttft: 50 * time.Millisecond, itl: 10 * time.Millisecond}
		ramp := 300 * time.Millisecond
		cfg := Config{Concurrency: n, Kind: Steady, Workload: workload(t, tokens(20, 9)), Limits: Limits{MinRequests: int64(20 * n), Ramp: ramp}}
		inBubble(t, e, cfg, func(r Result, err error) {
			if err != nil || r.All.Bad() > 0 || e.peak != int64(n) {
				t.Fatalf("N=%d: %v, %v, %d at once", n, err, r.All, e.peak)
			}
			// From the last stream's first send to the first one that is not
			// followed by another: all that lies before the drain.
			from, steady := e.starts[0].Add(ramp*time.Duration(n-1)/time.Duration(n)), time.Duration(r.Window.Seconds*1e9)
			last := e.starts[len(e.starts)-1]
			if e.full < last.Sub(from) || steady <= 0 {
				t.Errorf("N=%d: %v of %v with exactly N (the window has %v)", n, e.full, last.Sub(from), steady)
			}
		})
	}
}
