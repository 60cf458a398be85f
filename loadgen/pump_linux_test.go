//go:build amd64 || arm64

package loadgen

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// pair is a pumped connection and its peer.
func pair(t *testing.T) (*kernelConn, *net.TCPConn) {
	t.Helper()
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
	c := newConn(plain, &clock{start: time.Now()}, &netStats{}).(*kernelConn)
	t.Cleanup(func() { _, _ = c.Close(), peer.Close() })
	return c, peer.(*net.TCPConn)
}

// TestPumpLosesNoEdge: many connections ping-pong pieces whose last byte, and
// whose end, race with the moment at which the reader goes to sleep. A lost
// edge would leave both sides waiting; there is no nudge here.
func TestPumpLosesNoEdge(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 500
	}
	var all sync.WaitGroup
	var stuck atomic.Int64
	for i := range 8 {
		c, peer := pair(t)
		guard := time.AfterFunc(5*time.Minute, func() { stuck.Add(1); _, _ = c.Close(), peer.Close() })
		all.Go(func() { // answers what it is asked for, in pieces
			ask := make([]byte, 1)
			piece := bytes.Repeat([]byte{'x'}, 4096)
			for n := range rounds {
				if _, err := io.ReadFull(peer, ask); err != nil {
					return
				}
				for k := range 3 {
					if _, err := peer.Write(piece[:1+(i*31+n*7+k*1021)%4096]); err != nil {
						return
					}
					if (n+k)%3 == 0 {
						runtime.Gosched()
					}
				}
				_, _ = peer.Write([]byte{'\n'})
			}
			_ = peer.Close()
		})
		all.Go(func() {
			defer guard.Stop()
			lines := 0
			_, _ = c.Write([]byte{'a'})
			err := c.pump(func(b []byte) bool {
				if b[len(b)-1] == '\n' {
					lines++
					_, _ = c.Write([]byte{'a'}) // the last meets a closed peer
				}
				return false
			})
			if lines != rounds || err != io.EOF && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%d of %d rounds, %v", lines, rounds, err)
			}
		})
	}
	all.Wait()
	if stuck.Load() > 0 {
		t.Errorf("%d connections stood still", stuck.Load())
	}
}

// TestPumpMeetsTheEnd: the end that came with the last bytes, before any of
// them was read, has no edge of its own and must be seen all the same.
func TestPumpMeetsTheEnd(t *testing.T) {
	for range 200 {
		c, peer := pair(t)
		got := 0
		_, _ = peer.Write([]byte("last words"))
		_ = peer.Close()
		if err := c.pump(func(b []byte) bool { got += len(b); return false }); err != io.EOF || got != 10 {
			t.Fatalf("%d bytes, %v", got, err)
		}
		_ = c.Close()
	}
}

// pollerTurns lets Go's poller take what the kernel has for it, by making two
// goroutines wait for each other through it.
func pollerTurns(t *testing.T) {
	a, b := pair(t)
	go func() { _, _ = io.Copy(b, b) }()
	for range 50 {
		_, _ = a.Write([]byte{'a'})
		if _, err := a.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPumpFindsAReset: one that came together with bytes, and whose edge is
// gone before the pump begins, shows to a nudge.
func TestPumpFindsAReset(t *testing.T) {
	c, peer := pair(t)
	_, _ = peer.Write([]byte("last words"))
	_ = peer.SetLinger(0)
	_ = peer.Close()
	pollerTurns(t)
	limit := Limits{}.withDefaults(1)
	_, d := limit.begin(t.Context(), c.clock)
	defer d.end()
	d.whenSilent(c.nudge)
	got := 0
	err := c.pump(func(b []byte) bool { got += len(b); return false })
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%d bytes, %v", got, err)
	}
}

// TestPumpEnds: a close ends the wait, a nudge does not, and enough is enough.
func TestPumpEnds(t *testing.T) {
	c, peer := pair(t)
	nothing := func([]byte) bool { return false }
	c.nudge()
	go func() {
		for range 20 {
			c.nudge()
			runtime.Gosched()
		}
		_, _ = peer.Write([]byte("a"))
	}()
	if err := c.pump(func([]byte) bool { return true }); err != nil {
		t.Error(err)
	}
	go func() { _ = c.Close() }()
	if err := c.pump(nothing); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// TestUnused: an idle connection is fit for a request until its server closes
// it or speaks out of turn.
func TestUnused(t *testing.T) {
	for name, spoil := range map[string]func(*net.TCPConn){
		"closed": func(p *net.TCPConn) { _ = p.Close() },
		"reset":  func(p *net.TCPConn) { _ = p.SetLinger(0); _ = p.Close() },
		"talks":  func(p *net.TCPConn) { _, _ = p.Write([]byte("x")) },
	} {
		c, peer := pair(t)
		if c.nudge(); !unused(c) {
			t.Errorf("%s: unfit before", name)
		}
		spoil(peer)
		late := time.Now().Add(10 * time.Second)
		for unused(c) && time.Now().Before(late) {
			runtime.Gosched()
		}
		if unused(c) {
			t.Errorf("%s: fit after", name)
		}
	}
	in, out := net.Pipe()
	c := &stampConn{Conn: in, clock: &clock{start: time.Now()}, stats: &netStats{}}
	if !unused(c) {
		t.Error("a pipe is unfit")
	}
	if _ = out.Close(); unused(c) {
		t.Error("a closed pipe is fit")
	}
}
