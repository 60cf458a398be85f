package loadgen

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/loadgen/enginesim"
)

// passed is one request as the wire shows it, by no code of this package.
type passed struct {
	sent, first, last, end time.Time
	words                  int
	done, failed           bool
}

// wireTap notes when bytes pass a connection; words of the simulator begin
// with w.
type wireTap struct {
	net.Conn
	mu       sync.Mutex
	requests []passed
	rest     []byte
}

func (w *wireTap) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("POST ")) {
		w.mu.Lock()
		w.requests, w.rest = append(w.requests, passed{sent: time.Now()}), nil
		w.mu.Unlock()
	}
	return w.Conn.Write(b)
}

func (w *wireTap) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.mu.Lock()
	defer w.mu.Unlock()
	if n == 0 || len(w.requests) == 0 {
		return n, err
	}
	now, r := time.Now(), &w.requests[len(w.requests)-1]
	r.end = now
	w.rest = append(w.rest, b[:n]...)
	for {
		line, more, whole := bytes.Cut(w.rest, []byte("\n"))
		if !whole {
			return n, err
		}
		w.rest = more
		r.done = r.done || bytes.Contains(line, []byte("data: [DONE]"))
		r.failed = r.failed || bytes.Contains(line, []byte(`"error"`))
		if k := bytes.Count(line, []byte(" w1")); k > 0 {
			if r.words == 0 {
				r.first = now
			}
			r.last = now
			r.words += k
		}
	}
}

// TestGoodputOfSimulator: what is counted as good, and at which rates, is
// exactly what passed the wire in time, broken streams and slow ones among it.
func TestGoodputOfSimulator(t *testing.T) {
	for name, o := range map[string]Objective{
		"both": {TTFTMS: 130, ITLMS: 12}, "ttft": {TTFTMS: 130}, "itl": {ITLMS: 12},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := enginesim.ParseTarget("batch-cap?chunk=4")
				if err != nil {
					t.Fatal(err)
				}
				p.Truncated, p.InBand = .05, .05
				sim := enginesim.New(p)
				var taps []*wireTap
				var mu sync.Mutex
				r, err := Run(t.Context(), Config{
					BaseURL: "http://engine", Model: p.Model, Concurrency: 48, Kind: Gate, Objective: o,
					Workload: workload(t, tokens(24, 8)), Limits: Limits{MinRequests: 600, WarmUpRequests: -1},
					Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
						c, err := sim.Dial(ctx, network, addr)
						if err != nil {
							return nil, err
						}
						tap := &wireTap{Conn: c}
						mu.Lock()
						defer mu.Unlock()
						taps = append(taps, tap)
						return tap, nil
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := sim.Close(); err != nil {
					t.Error(err)
				}
				want, ok := truth(taps, o)
				if got := *r.Goodput; got != want {
					t.Errorf("goodput %+v\nthe wire     %+v", got, want)
				}
				if c := sim.Counters(); c.Completed != ok || want.Requests != 600 {
					t.Errorf("the wire shows %d of %d requests whole, the simulator %d", ok, want.Requests, c.Completed)
				}
				if want.Good < 60 || want.Good > ok-60 || want.Failed == 0 {
					t.Errorf("%d of %d are good: that tells too little", want.Good, ok)
				}
			})
		})
	}
}

// truth judges what passed the wire, and counts what ended well.
func truth(taps []*wireTap, o Objective) (g Goodput, ok int64) {
	var from, to time.Time
	tokens := 0
	g.Objective = o
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	for _, tap := range taps {
		for _, r := range tap.requests {
			g.Requests++
			if from.IsZero() || r.sent.Before(from) {
				from = r.sent
			}
			if r.end.After(to) {
				to = r.end
			}
			if !r.done || r.failed {
				g.Failed++
				continue
			}
			ok++
			slow := o.TTFTMS > 0 && ms(r.first.Sub(r.sent)) > o.TTFTMS
			stretched := o.ITLMS > 0 && r.words > 1 && ms(r.last.Sub(r.first)/time.Duration(r.words-1)) > o.ITLMS
			if slow {
				g.MissedTTFT++
			}
			if stretched {
				g.MissedITL++
			}
			if !slow && !stretched {
				g.Good++
				tokens += r.words
			}
		}
	}
	seconds := float64(to.Sub(from)) / 1e9
	g.Share = float64(g.Good) / float64(g.Requests)
	g.RequestsPerSec, g.OutputTokPerSec = float64(g.Good)/seconds, float64(tokens)/seconds
	return g, ok
}
