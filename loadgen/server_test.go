package loadgen

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// pipes is a listener whose connections are in memory, for virtual time.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	gone  chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), gone: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.gone:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.gone) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.gone:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// engine is a server with a fixed law: every request has its first token after
// ttft and one more each itl. It counts what a client must agree with.
type engine struct {
	ttft, itl time.Duration
	// special, when set, may answer request n (from 1) itself.
	special func(n int64, w http.ResponseWriter, r *http.Request) bool

	mu                      sync.Mutex
	requests, running, peak int64
	outputTokens, cancelled int64
	full                    time.Duration // time with peak streams running
	since                   time.Time
	starts, ends            []time.Time
	bodies                  []map[string]any
	conns                   int64
}

// begin and end keep the counts of running requests.
func (e *engine) begin(body []byte) int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.step(1)
	e.requests++
	e.starts = append(e.starts, time.Now())
	var m map[string]any
	if json.Unmarshal(body, &m) == nil {
		e.bodies = append(e.bodies, m)
	}
	return e.requests
}

func (e *engine) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.step(-1)
	e.ends = append(e.ends, time.Now())
}

func (e *engine) step(d int64) {
	now := time.Now()
	if e.running == e.peak && e.peak > 0 {
		e.full += now.Sub(e.since)
	}
	e.since = now
	if e.running += d; e.running > e.peak {
		e.peak, e.full = e.running, 0
	}
}

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	n := e.begin(body)
	defer e.end()
	if e.special != nil && e.special(n, w, r) {
		return
	}
	var q struct {
		Tokens int `json:"max_completion_tokens"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.generate(w, r, q.Tokens, time.Now())
}

// generate streams an answer on absolute deadlines.
func (e *engine) generate(w http.ResponseWriter, r *http.Request, tokens int, start time.Time) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	_ = out.Flush()
	for i := range tokens {
		select {
		case <-time.After(time.Until(start.Add(e.ttft + time.Duration(i)*e.itl))):
		case <-r.Context().Done():
			e.mu.Lock()
			e.cancelled++
			e.mu.Unlock()
			return
		}
		fmt.Fprint(w, chat("w"))
		_ = out.Flush()
	}
	e.mu.Lock()
	e.outputTokens += int64(tokens)
	e.mu.Unlock()
	fmt.Fprint(w, finish, usageOf(fmt.Sprint(tokens)), done)
}

// counts are the engine's totals at a moment.
func (e *engine) counts() (requests, outputTokens int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.requests, e.outputTokens
}

// sent are the bodies of the requests so far. Over a real socket only the lock
// orders them before the test: the race detector does not see through recvmsg.
func (e *engine) sent() []map[string]any {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.bodies)
}

// serve runs the engine in memory until the test ends and returns how to reach
// it. Inside a bubble everything it starts ends with stop.
func (e *engine) serve() (dial func(context.Context, string, string) (net.Conn, error), stop func()) {
	p := newPipes()
	s := &http.Server{Handler: e, ConnState: func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			e.mu.Lock()
			e.conns++
			e.mu.Unlock()
		}
	}}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.Serve(p) }()
	return p.Dial, func() { _ = s.Close(); <-ended }
}

// workload makes one of a spec, or fails the test.
func workload(t testing.TB, spec WorkloadSpec) *Workload {
	t.Helper()
	w, err := NewWorkload(spec, Preflight{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func tokens(n, stddev int) WorkloadSpec {
	return WorkloadSpec{Name: Synthetic, ISL: 8, OSL: n, OSLStddev: stddev, Seed: 1}
}

// most is the largest number of requests at once.
func (e *engine) most() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.peak
}
