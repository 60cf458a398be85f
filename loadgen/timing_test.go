package loadgen

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/loadgen/internal/stream"
)

// reasoned is an answer that thinks before it speaks: headers after 5 ms, three
// chunks of reasoning from 100 ms on, three of text from 400 ms on.
func reasoned(_ int64, w http.ResponseWriter, _ *http.Request) bool {
	const ms = time.Millisecond
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	time.Sleep(5 * ms)
	_ = out.Flush()
	for i, wait := range []time.Duration{95 * ms, 20 * ms, 20 * ms, 260 * ms, 30 * ms, 30 * ms} {
		time.Sleep(wait)
		if i < 3 {
			fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"},"finish_reason":null}]}`+"\n\n")
		} else {
			fmt.Fprint(w, chat("w"))
		}
		_ = out.Flush()
	}
	time.Sleep(7 * ms)
	fmt.Fprint(w, finish, `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":12,"prompt_tokens_details":{"cached_tokens":2},"completion_tokens_details":{"reasoning_tokens":6}}}`+"\n\n", done)
	return true
}

// TestTimesLaw: every time of a request is the server's own, and each is told
// under its own name.
func TestTimesLaw(t *testing.T) {
	e := &engine{special: reasoned}
	var one Request
	cfg := Config{Concurrency: 2, Kind: Gate, Limits: Limits{MinRequests: 40}, OnRequest: func(r Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		one = r
	}}
	inBubble(t, e, cfg, func(r Result, err error) {
		if err != nil || r.All.Bad() != 0 {
			t.Fatal(r.All, err)
		}
		for _, w := range []Estimate{r.Window, r.WholeRun} {
			for name, v := range map[string][2]float64{
				"TTFT": {w.TTFTP50MS, 100}, "TTFO": {w.TTFOP50MS, 400}, "TTFO mean": {w.TTFOMeanMS, 400}, "TTFO p99": {w.TTFOP99MS, 400},
				"TTST": {w.TTSTP50MS, 20}, "TTST mean": {w.TTSTMeanMS, 20}, "TTST p99": {w.TTSTP99MS, 20},
				"E2E": {w.E2EP50MS, 460}, "ITL": {w.ITLMeanMS, 360e6 / 11 / 1e6},
			} {
				if !near(v[0], v[1], 1e-7) {
					t.Errorf("%s is %g ms, want %g", name, v[0], v[1])
				}
			}
			if !near(w.GapP50MS, 30, .001) || !near(w.GapP99MS, 260, .001) {
				t.Errorf("gaps %g and %g ms, want 30 and 260", w.GapP50MS, w.GapP99MS)
			}
		}
		h := r.Health
		if h.HeadersMeanMS != 5 || h.HeadersP99MS != 5 || h.ConnectMaxMS != 0 || h.TLSMaxMS != 0 || h.PoolWaitMaxMS != 0 || h.LateStartP99MS != 0 || h.SlowConnects != 0 {
			t.Errorf("health %+v", h)
		}
		if r.CachedTokensTold != 40 || r.CachedTokensPerRequest != 2 {
			t.Errorf("%g cached tokens by %d", r.CachedTokensPerRequest, r.CachedTokensTold)
		}
		if one.FirstVisible-one.FirstToken != 300*time.Millisecond || one.ReasoningTokens != 6 || !one.ReasoningTold || one.CachedTokens != 2 || !one.CachedTold || one.FinishReason != "length" || one.End-one.LastToken != 7*time.Millisecond {
			t.Errorf("%+v", one)
		}
	})
}

// TestSlowDial: a dial is in no latency, is told, and is told as slow from
// 0.9 s on; every request needs one, so the streams start late.
func TestSlowDial(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration
		slow  bool
	}{{899 * time.Millisecond, false}, {900 * time.Millisecond, true}} {
		e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond, special: func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Connection", "close")
			return false
		}}
		synctest.Test(t, func(t *testing.T) {
			dial, stop := e.serve()
			ms := float64(c.takes) / 1e6
			r, err := Run(t.Context(), Config{BaseURL: "http://engine", Model: "m", Concurrency: 4, Kind: Gate, Workload: workload(t, tokens(20, 0)), Limits: Limits{MinRequests: 80},
				Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
					time.Sleep(c.takes)
					return dial(ctx, network, addr)
				}})
			stop()
			h := r.Health
			if err != nil || r.All[OK] != 84 || h.Dials != 84 || (h.SlowConnects == 84) != c.slow || (h.SlowConnects == 0) == c.slow {
				t.Fatalf("%v, %v, %d dials, %d slow", r.All, err, h.Dials, h.SlowConnects)
			}
			if h.ConnectMeanMS != ms || h.ConnectMaxMS != ms || h.PoolWaitMaxMS != 0 || h.LateStartP99MS != ms || r.WholeRun.TTFTMaxMS != 100 || r.WholeRun.E2EP99MS != 290 {
				t.Errorf("connect %g and %g ms, wait %g, late start %g, TTFT %g; want %g, %g, 0, %g, 100", h.ConnectMeanMS, h.ConnectMaxMS, h.PoolWaitMaxMS, h.LateStartP99MS, r.WholeRun.TTFTMaxMS, ms, ms, ms)
			}
			// Each stream is busy for 290 ms of every dial and answer.
			busy := 4 * 290 / (290 + ms)
			if !near(h.DeliveredConcurrency, busy, .05) || h.DeliveredConcurrencyLow > h.DeliveredConcurrency || !near(h.LittleResidual, 1-busy/4, .05) {
				t.Errorf("%g in flight, lowest %g, want %g", h.DeliveredConcurrency, h.DeliveredConcurrencyLow, busy)
			}
		})
	}
}

// lateConn is a connection whose first write takes a while, as a handshake
// over a slow network would.
type lateConn struct {
	net.Conn
	once sync.Once
}

func (c *lateConn) Write(b []byte) (int, error) {
	c.once.Do(func() { time.Sleep(70 * time.Millisecond) })
	return c.Conn.Write(b)
}

// TestSplitOfTLS: connect and handshake are told apart, exactly, and are in no
// latency. Times are virtual; the handshake is real.
func TestSplitOfTLS(t *testing.T) {
	certs := httptest.NewUnstartedServer(nil)
	certs.StartTLS()
	trusted := certs.Client().Transport.(*http.Transport).TLSClientConfig
	pair := certs.TLS.Certificates
	certs.Close()
	synctest.Test(t, func(t *testing.T) {
		e := &engine{ttft: 100 * time.Millisecond, itl: 10 * time.Millisecond}
		p := newPipes()
		s := &http.Server{Handler: e, TLSConfig: &tls.Config{Certificates: pair}}
		ended := make(chan struct{})
		go func() { defer close(ended); _ = s.ServeTLS(p, "", "") }()
		run, stats := &clock{start: time.Now()}, &netStats{}
		transport := &http.Transport{TLSClientConfig: trusted.Clone(), DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, from, end, err := stats.dialTimed(run, func() (net.Conn, error) {
				time.Sleep(40 * time.Millisecond)
				return p.Dial(ctx, network, addr)
			})
			return &stampConn{Conn: &lateConn{Conn: c}, clock: run, stats: stats, dialFrom: from, dialEnd: end}, err
		}}
		cfg := Config{Limits: Limits{}.withDefaults(1)}
		client, err := newClient(&cfg, "https://example.com", run)
		if err != nil {
			t.Fatal(err)
		}
		x := newExchange(t.Context(), client, transport)
		body := []byte(`{"max_completion_tokens":3}`)
		first, second := x.do(body), x.do(body)
		transport.CloseIdleConnections()
		_ = s.Close()
		<-ended
		const ms = int64(time.Millisecond)
		if first.outcome != OK || !first.dialled || first.connect != 40*ms || first.tls != 70*ms || first.wait != 0 || first.sent-first.wanted != 110*ms || first.ttft() != 100*ms {
			t.Errorf("the first: %+v", first)
		}
		if second.outcome != OK || second.dialled || second.connect != 0 || second.tls != 0 || second.wait != 0 || second.sent != second.wanted || second.ttft() != 100*ms {
			t.Errorf("the second: %+v", second)
		}
	})
}

// TestSteppedClock: a step of the wall clock moves no duration; what cannot be
// is not believed, and no later time precedes an earlier one.
func TestSteppedClock(t *testing.T) {
	for _, step := range []time.Duration{-2 * time.Hour, -2 * time.Second, 2 * time.Second, 2 * time.Hour} {
		stats := &netStats{}
		conn := &stampConn{clock: &clock{start: time.Now()}, stats: stats}
		e := &exchange{client: &client{clock: conn.clock}, conn: conn}
		last := int64(0)
		for i := range 10 {
			before := conn.clock.now()
			wall := time.Now()
			if i == 5 {
				wall = wall.Add(-step) // stamped by the kernel before the step
			}
			conn.stamp(wall.UnixNano())
			e.arrived()
			if after := conn.clock.now(); e.at < last || e.at > after || i == 5 && step != 2*time.Second && e.at < before {
				t.Errorf("step %v, read %d: arrived at %d, read between %d and %d, the last at %d", step, i, e.at, before, after, last)
			}
			last = e.at
		}
	}
}

// TestLowestInFlight: a stretch in which half of the streams are idle shows in
// the lowest part and hardly in the mean.
func TestLowestInFlight(t *testing.T) {
	const sec = int64(1e9)
	var all []sample
	for i := range int64(100) {
		all = append(all, sample{marks: marks{sent: i * sec, end: (i + 1) * sec}})
		if i != 40 {
			all = append(all, sample{marks: marks{sent: i * sec, end: (i + 1) * sec}})
		}
	}
	over := span{0, 100 * sec}
	if mean, low := meanInFlight(all, over), lowestInFlight(all, over); mean != 1.99 || low != 1 {
		t.Errorf("mean %g, lowest %g, want 1.99 and 1", mean, low)
	}
	if got := lowestInFlight(nil, span{5, 6}); got != 0 {
		t.Errorf("%g of nothing", got)
	}
	// Any cut conserves the time in flight.
	odd := span{3*sec + 7, 71*sec + 11}
	sum := int64(0)
	for _, p := range odd.cut() {
		for i := range all {
			sum += p.overlap(&all[i])
		}
	}
	if got := float64(sum) / float64(odd.length()); !near(got, meanInFlight(all, odd), 1e-12) {
		t.Errorf("the parts hold %g in flight of %g", got, meanInFlight(all, odd))
	}
}

// TestHealthOfNothing: what was not measured is absent, not zero and not NaN.
func TestHealthOfNothing(t *testing.T) {
	h := health(nil, nil, newShard())
	new(meter).fill(&h)
	if h != (Health{}) {
		t.Errorf("%+v", h)
	}
	told := estimate([]sample{{outcome: OK, tokens: stream.Tokens{Completion: 1}, marks: marks{sent: 1, first: 2, visible: 2, last: 2, end: 3}}}, newShard(), (*sample).ok)
	if told.TTSTP50MS != 0 || told.ITLP50MS != 0 || told.TTFOP50MS != told.TTFTP50MS {
		t.Errorf("one token: %+v", told)
	}
}

// TestEnvironment: each fact about the connections and the machine is told
// once, and a quiet one not at all.
func TestEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		set   func(c *campaign)
		quick bool
		words string
	}{
		"quiet":          {func(c *campaign) { c.net.armed.Store(4) }, true, ""},
		"no quick ack":   {func(c *campaign) { c.net.armed.Store(3) }, false, "TCP_QUICKACK"},
		"a refused dial": {func(c *campaign) { c.net.armed.Store(4); c.net.dials.Store(9) }, true, ""},
		"in memory": {func(c *campaign) {
			c.cfg.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, nil }
		}, false, ""},
		"over a Unix socket": {func(c *campaign) { c.cfg.Network.UnixSocket = "/s" }, false, ""},
		"slow connects":      {func(c *campaign) { c.net.armed.Store(4); c.net.slow.Store(2) }, true, "2 of 4 connects"},
		"a stepped clock":    {func(c *campaign) { c.net.armed.Store(4); c.net.steps.Store(2) }, true, "stepped"},
		"a busy host": {func(c *campaign) {
			c.net.armed.Store(4)
			c.meter.after.runQueue = 201 * time.Millisecond
		}, true, "waited for a CPU for 20 %"},
		"a host just quiet": {func(c *campaign) {
			c.net.armed.Store(4)
			c.meter.after.runQueue = 200 * time.Millisecond
		}, true, ""},
	} {
		m := &campaign{net: &netStats{}, meter: meter{started: true, ended: true, until: 1e9}}
		m.net.dials.Store(4)
		m.net.made.Store(4)
		c.set(m)
		var r Result
		r.Health, r.Warnings = m.environment()
		said := strings.Join(r.Warnings, "\n")
		if r.Health.QuickACK != c.quick || !strings.Contains(said, c.words) || (said == "") != (c.words == "") || len(r.Warnings) > 1 {
			t.Errorf("%s: quick %v, %q", name, r.Health.QuickACK, said)
		}
	}
}
