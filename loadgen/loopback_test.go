package loadgen

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"
)

// kernelTimes says whether this system stamps what arrives, and waits until it
// does: the first socket that asks for it has the kernel turn that on a moment
// later (net_enable_timestamp in net/core/dev.c), and one that is open keeps it on.
func kernelTimes(t *testing.T) bool {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return false
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	plain, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := newConn(plain, &clock{start: time.Now()}, &netStats{})
	t.Cleanup(func() { _, _ = c.Close(), peer.Close() })
	for late := time.Now().Add(time.Minute); time.Now().Before(late); {
		if _, err := peer.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if stamped(c).lag.Load() != noLag {
			return true
		}
	}
	t.Fatal("the kernel stamps nothing")
	return false
}

// TestLoopback is the law test over real sockets: counts are exact there too,
// and the kernel's services are said to be in use. Times are not judged.
func TestLoopback(t *testing.T) {
	e := &engine{ttft: 20 * time.Millisecond, itl: time.Millisecond}
	s := httptest.NewServer(e)
	defer s.Close()
	linux := kernelTimes(t)
	for _, kind := range []RunKind{Steady, Gate} {
		before, tokensBefore := e.counts()
		r, err := Run(t.Context(), Config{BaseURL: s.URL + "/v1", Model: "m", Concurrency: 8, Kind: kind, Workload: workload(t, tokens(8, 3)), Limits: Limits{MinRequests: 64}})
		if err != nil {
			t.Fatal(err)
		}
		seen, generated := e.counts()
		if r.All.Bad() != 0 || r.All.Total() != seen-before || r.TotalOutputTokens != generated-tokensBefore {
			t.Errorf("%s: %v and %d tokens, the server saw %d and generated %d", kind, r.All, r.TotalOutputTokens, seen-before, generated-tokensBefore)
		}
		if peak := e.most(); peak != 8 || r.Health.Dials != 8 {
			t.Errorf("%s: %d at once over %d connections", kind, peak, r.Health.Dials)
		}
		if w := r.Health.RunQueueShare > 0; w != (runtime.GOOS == "linux") {
			t.Errorf("%s: run-queue share %g", kind, r.Health.RunQueueShare)
		}
		if r.Health.QuickACK != linux || r.Health.KernelTime != linux || (r.Health.LagMaxMS > 0) != linux || r.Health.CPUShare <= 0 {
			t.Errorf("%s: health %+v", kind, r.Health)
		}
		if w := r.Window; w.TTFTP50MS < 20 || w.E2EP50MS < w.TTFTP50MS || w.TTFTP99MS < w.TTFTP50MS {
			t.Errorf("%s: %+v", kind, w)
		}
	}
}

// TestKernelConn reads through the kernel's message and meets its end, its
// deadline and its close as a plain connection does.
func TestKernelConn(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	served := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			served <- c
		}
	}()
	plain, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	run := &clock{start: time.Now()}
	c := newConn(plain, run, &netStats{})
	peer := <-served
	defer peer.Close()

	if err := c.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 4)); err == nil || !err.(net.Error).Timeout() {
		t.Errorf("a read after its deadline: %v", err)
	}
	_ = c.SetReadDeadline(time.Time{})
	if n, err := c.Read(nil); n != 0 || err != nil {
		t.Errorf("an empty read: %d, %v", n, err)
	}
	if _, err := c.Write([]byte("ping")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(peer, got); err != nil || string(got) != "ping" {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := peer.Write([]byte("pong!")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "pong" {
		t.Fatalf("%q, %v", got, err)
	}
	s := stamped(c)
	if s == nil || s.reads.Load() == 0 || s.at.Load() <= 0 || s.at.Load() > run.now() {
		t.Errorf("stamps %+v", s)
	}
	_ = peer.Close()
	if rest, err := io.ReadAll(c); err != nil || string(rest) != "!" {
		t.Errorf("the end: %q, %v", rest, err)
	}
	_ = c.Close()
	if _, err := c.Read(got); err == nil {
		t.Error("a read after Close succeeds")
	}
}

// TestStamp: a kernel time that cannot be is not used.
func TestStamp(t *testing.T) {
	for _, c := range []struct {
		name  string
		ago   time.Duration
		use   bool
		steps int64
	}{
		{"fresh", time.Millisecond, true, 0},
		{"clock noise", -100 * time.Microsecond, true, 0},
		{"from the future", -time.Second, false, 1},
		{"far past", time.Hour, false, 1},
	} {
		s := &stampConn{clock: &clock{start: time.Now()}, stats: &netStats{}}
		s.stamp(time.Now().Add(-c.ago).UnixNano())
		if (s.lag.Load() != noLag) != c.use || s.stats.steps.Load() != c.steps || c.use && s.lag.Load() < 0 {
			t.Errorf("%s: lag %d, %d steps", c.name, s.lag.Load(), s.stats.steps.Load())
		}
	}
	s := &stampConn{clock: &clock{start: time.Now()}, stats: &netStats{}}
	if s.stamp(0); s.lag.Load() != noLag || s.stats.steps.Load() != 0 {
		t.Error("a read without a kernel time has a lag")
	}
}

// TestArrivalsGoForward: a kernel time before what is already known is not
// believed.
func TestArrivalsGoForward(t *testing.T) {
	e := &exchange{client: &client{clock: &clock{start: time.Now()}}, conn: &stampConn{}}
	read := func(user, lag int64) int64 {
		e.conn.at.Store(user)
		e.conn.lag.Store(lag)
		e.conn.reads.Add(1)
		e.arrived()
		return e.at
	}
	e.at = 100
	for i, c := range []struct{ user, lag, want int64 }{
		{150, 20, 130}, {160, 50, 160}, {170, noLag, 170}, {180, 5, 175}, {150, noLag, 175},
	} {
		if got := read(c.user, c.lag); got != c.want {
			t.Errorf("read %d: arrived at %d, want %d", i, got, c.want)
		}
	}
	if e.arrived(); e.at != 175 || len(e.lags) != 2 {
		t.Errorf("bytes from a buffer moved the time to %d, lags %v", e.at, e.lags)
	}
}

// BenchmarkLoopback is the whole path over real sockets with an unpaced
// server in the same process: a lower bound of what this machine can take.
func BenchmarkLoopback(b *testing.B) {
	const chunks = 128
	line := chat("w")
	e := &engine{special: func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/event-stream")
		out := http.NewResponseController(w)
		for range chunks {
			_, _ = io.WriteString(w, line)
			_ = out.Flush()
		}
		fmt.Fprint(w, usageOf(fmt.Sprint(chunks)), done)
		return true
	}}
	s := httptest.NewServer(e)
	defer s.Close()
	w := workload(b, tokens(chunks, 0))
	b.ReportAllocs()
	for b.Loop() {
		cpu := processCPU()
		r, err := Run(b.Context(), Config{BaseURL: s.URL, Model: "m", Concurrency: 64, Kind: Gate, Workload: w, Limits: Limits{MinRequests: 512}})
		if err != nil || r.All.Bad() != 0 {
			b.Fatal(r.All, r.Errors, err)
		}
		b.ReportMetric(float64(r.TotalOutputTokens)/r.Ended.Sub(r.Started).Seconds(), "chunks/s")
		b.ReportMetric(float64(processCPU()-cpu)/1e3/float64(r.TotalOutputTokens), "cpu-µs/chunk")
	}
}
