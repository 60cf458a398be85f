package loadgen

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// noLag marks a read without a usable kernel timestamp.
	noLag = -1
	// A kernel timestamp is wall-clock time. One from the future, or this old,
	// means that the clock was stepped between receive and read.
	maxLag     = time.Minute
	clockNoise = time.Millisecond
)

// clock gives times of a run as nanoseconds since its start, on the monotonic
// clock.
type clock struct{ start time.Time }

func (c *clock) now() int64 { return int64(time.Since(c.start)) }

func (c *clock) since(t time.Time) int64 { return int64(t.Sub(c.start)) }

// netStats are the facts about connections that a run reports.
type netStats struct {
	// dials are attempts, made those that succeeded.
	dials, made, armed, steps, slow atomic.Int64
	// stray counts answers that were followed by bytes of no answer.
	stray atomic.Int64
	// received are what the connections read into, one at a time: memory that
	// is warm where a buffer of each connection would be cold at every chunk.
	received sync.Pool
}

// slowConnect is long enough that a SYN was lost, or met a full accept queue:
// Linux sends it again after a second.
const slowConnect = 900 * time.Millisecond

// dialTimed dials, counts and times.
func (n *netStats) dialTimed(run *clock, dial func() (net.Conn, error)) (c net.Conn, from, end int64, err error) {
	n.dials.Add(1)
	from = run.now()
	c, err = dial()
	if end = run.now(); end-from >= int64(slowConnect) {
		n.slow.Add(1)
	}
	if err == nil {
		n.made.Add(1)
	}
	return c, from, end, err
}

// receiveBuffer is how much a pump reads at once: a few chunks.
const receiveBuffer = 4 << 10

// stampConn notes when its last read returned and how long the kernel had held
// the bytes by then. HTTP's own goroutine reads the head of a response and the
// worker the rest, hence the atomics; the transport orders the two.
type stampConn struct {
	net.Conn
	clock *clock
	stats *netStats
	at    atomic.Int64 // arrival in user space, on the run's clock
	lag   atomic.Int64 // ns, or noLag
	reads atomic.Int64
	// wrote is when the first bytes since it was cleared went to the socket.
	wrote atomic.Int64
	// When the connection was dialled and when it stood, before any TLS.
	dialFrom, dialEnd int64
	gone              chan struct{} // closed with the connection; may be nil
	once              sync.Once
}

// Close also tells who waits for it: HTTP closes a connection that its server
// has closed.
func (c *stampConn) Close() error {
	if c.gone != nil {
		c.once.Do(func() { close(c.gone) })
	}
	return c.Conn.Close()
}

// stamp notes a read that returned now; kernel is the wall-clock time at which
// the kernel received the last of its bytes, or 0.
//
// The two clocks are paired anew at every read, in one time.Now: a step of the
// wall clock spoils at most the reads that straddle it.
func (c *stampConn) stamp(kernel int64) {
	now := time.Now()
	lag := int64(noLag)
	if kernel != 0 {
		lag = now.UnixNano() - kernel
		switch {
		case lag < -int64(clockNoise) || lag > int64(maxLag):
			lag = noLag
			c.stats.steps.Add(1)
		case lag < 0:
			lag = 0
		}
	}
	c.at.Store(c.clock.since(now))
	c.lag.Store(lag)
	c.reads.Add(1)
}

func (c *stampConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.stamp(0)
	}
	return n, err
}

// pump reads until take has enough; see pumped.
func (c *stampConn) pump(take func([]byte) bool) error {
	in := make([]byte, receiveBuffer)
	for {
		n, err := c.Read(in)
		if n > 0 && take(in[:n]) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (c *stampConn) Write(p []byte) (int, error) {
	c.wrote.CompareAndSwap(0, c.clock.now())
	return c.Conn.Write(p)
}

// arrivals makes a stampConn findable inside what embeds it.
func (c *stampConn) arrivals() *stampConn { return c }

// stamped finds the stampConn under a connection that may be wrapped in TLS.
func stamped(c net.Conn) *stampConn {
	for {
		switch t := c.(type) {
		case interface{ arrivals() *stampConn }:
			return t.arrivals()
		case interface{ NetConn() net.Conn }:
			c = t.NetConn()
		default:
			return nil
		}
	}
}
