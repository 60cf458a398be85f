//go:build amd64 || arm64

package loadgen

import (
	"net"
	"syscall"
	"testing"
	"time"
)

// TestKernelOrder: on real sockets a byte is sent before the kernel has it,
// and the kernel has it before this side reads it, however late it reads.
func TestKernelOrder(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	kernelTimes(t)
	run := &clock{start: time.Now()}
	sent := make(chan int64, 1)
	next := make(chan bool)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		for range next {
			at := run.now()
			if _, err := c.Write([]byte("x")); err != nil {
				return
			}
			sent <- at
		}
	}()
	defer close(next)
	plain, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	stats := &netStats{}
	c := newConn(plain, run, stats)
	defer func() { _ = c.Close() }()
	s := stamped(c)
	last := int64(0)
	for range 200 {
		next <- true
		from := <-sent
		written := run.now()
		for run.now()-written < int64(200*time.Microsecond) { // the reader is busy elsewhere
		}
		if _, err := c.Read(make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
		user, lag := s.at.Load(), s.lag.Load()
		if lag < 0 || user-lag < from-int64(clockNoise) || user < written || user > run.now() || user-lag < last-int64(clockNoise) {
			t.Fatalf("sent at %d, written %d, in the kernel at %d, read at %d, lag %d", from, written, user-lag, user, lag)
		}
		last = user - lag
	}
	if stats.armed.Load() != 1 || stats.steps.Load() != 0 {
		t.Errorf("armed %d, steps %d", stats.armed.Load(), stats.steps.Load())
	}
}

// TestQuickACKHolds: sending takes the socket out of quick acknowledgement, and
// every request and its first reads put it back; getsockopt reads the mode.
func TestQuickACKHolds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		b := make([]byte, 4096)
		for {
			if _, err := c.Read(b); err != nil {
				return
			}
			for range 5 {
				_, _ = c.Write([]byte("chunk"))
			}
		}
	}()
	plain, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := newConn(plain, &clock{start: time.Now()}, &netStats{}).(*kernelConn)
	defer func() { _ = c.Close() }()
	quick := func() int {
		v := -1
		_ = c.raw.Control(func(fd uintptr) { v, _ = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK) })
		return v
	}
	b := make([]byte, 64)
	for i := range 20 {
		if _, err := c.Write([]byte("request")); err != nil {
			t.Fatal(err)
		}
		for got := 0; got < 25; {
			n, err := c.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			if got += n; quick() != 1 {
				t.Fatalf("request %d, after %d bytes: out of quick acknowledgement", i, got)
			}
		}
	}
}

// TestRunQueueWait: the kernel's own count of it, which never sinks while
// threads stay.
func TestRunQueueWait(t *testing.T) {
	a := runQueueWait()
	if b := runQueueWait(); a <= 0 || b < a {
		t.Errorf("waited %v, then %v", a, b)
	}
	if p := gcPauses(); p < 0 || p > 60 {
		t.Errorf("%g s of pauses", p)
	}
}
