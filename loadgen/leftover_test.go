package loadgen

import (
	"context"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// openFiles counts the descriptors of this process; -1 where it cannot be told.
func openFiles() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(list)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// raw serves TCP connections with a function until the test ends.
func raw(t *testing.T, serve func(net.Conn)) (base string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); serve(c) }()
		}
	}()
	return "http://" + l.Addr().String(), func() { _ = l.Close(); <-done }
}

// TestNothingIsLeft: after a run over real sockets against servers that reset,
// close, hang or answer, no goroutine, no descriptor and no memory of it is
// left, with either transport.
func TestNothingIsLeft(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	asked := func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)) }
	reset := func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }
	untilGone := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	for name, c := range map[string]struct {
		serve func(net.Conn)
		want  Outcome
	}{
		"reset at once":          {reset, Connect},
		"closed at once":         {func(net.Conn) {}, Connect},
		"reset after the head":   {func(c net.Conn) { asked(c); _, _ = io.WriteString(c, head+chat("a")); reset(c) }, Truncated},
		"closed after the head":  {func(c net.Conn) { asked(c); _, _ = io.WriteString(c, head+chat("a")) }, Truncated},
		"silent":                 {untilGone, Timeout},
		"silent after a token":   {func(c net.Conn) { asked(c); _, _ = io.WriteString(c, head+chat("a")); untilGone(c) }, Timeout},
		"not HTTP":               {func(c net.Conn) { asked(c); _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n"); untilGone(c) }, Protocol},
		"a line without an end":  {func(c net.Conn) { asked(c); _, _ = io.WriteString(c, head); _, _ = io.Copy(c, endless{}) }, Protocol},
		"an answer to the close": {func(c net.Conn) { asked(c); _, _ = io.WriteString(c, head+chat("a")+finish+usageOf("1")+done) }, OK},
	} {
		t.Run(name, func(t *testing.T) {
			base, stop := raw(t, c.serve)
			defer stop()
			for _, kind := range []TransportKind{Native, GoOpenAI} {
				nothingLeft(t, kind, base, c.want)
			}
		})
	}
	t.Run("a healthy one", func(t *testing.T) {
		s := httptest.NewServer(&engine{ttft: time.Millisecond})
		defer s.Close()
		nothingLeft(t, Native, s.URL, OK)
	})
}

// endless is data without a line end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func nothingLeft(t *testing.T, kind TransportKind, base string, want Outcome) {
	t.Helper()
	cfg := Config{
		BaseURL: base, Model: "m", Concurrency: 2, Kind: Gate, Transport: kind, Workload: workload(t, tokens(1, 0)),
		Limits: Limits{MinRequests: 2, RequestTimeout: 5 * time.Minute, FirstTokenTimeout: 5 * time.Minute},
	}
	if want == Timeout {
		cfg.Limits.FirstTokenTimeout, cfg.Limits.IdleTimeout = 100*time.Millisecond, 100*time.Millisecond
	}
	before, files, used := goleak.IgnoreCurrent(), openFiles(), heap()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	r, err := Run(ctx, cfg)
	if err != nil || kind == Native && r.All[want] != r.All.Total() {
		t.Errorf("%s: %v, %v, %v, want %s", kind, err, r.All, r.Errors, want)
	}
	// The server's side closes when it notices, which a busy machine puts off.
	settled(func() bool { return goleak.Find(before) == nil && openFiles() <= files })
	if err := goleak.Find(before); err != nil {
		t.Errorf("%s: %v", kind, err)
	}
	if now := openFiles(); now > files {
		t.Errorf("%s: %d descriptors, %d before", kind, now, files)
	}
	if now := heap(); now > used+8<<20 {
		t.Errorf("%s: %d MiB in use, %d before", kind, now>>20, used>>20)
	}
}

// settled waits a minute for what must come in the end.
func settled(done func() bool) {
	for late := time.Now().Add(time.Minute); !done() && time.Now().Before(late); {
		<-time.After(5 * time.Millisecond)
	}
}
