package pacer

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"time"
)

// Params say how every answer is paced. Token k leaves at TTFT + k × ITL after
// the request was received: absolute times, so that lateness does not add up.
type Params struct {
	// TTFT is from the request's receive time to the first token, ITL from one
	// token to the next; with ITL 0 tokens leave as fast as the socket takes them.
	TTFT, ITL time.Duration
	// Model is the name that /v1/models lists.
	Model string
	// KernelSleep waits the last milliseconds before a write in the kernel,
	// whose timers are finer than the 1 ms of Go's. Virtual time cannot have it.
	KernelSleep bool
}

// maxShards is more than enough: one shard writes some 100,000 chunks a second.
const maxShards = 8

// Server is a running server.
type Server struct {
	p      Params
	start  time.Time
	shards []*shard
	done   chan struct{}
	work   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	open    map[net.Conn]bool
	conns   int64 // ever accepted
	started uint64
	records []record
}

// New starts a server that has no listener yet. Close ends it.
func New(p Params) (*Server, error) {
	if p.TTFT < 0 || p.ITL < 0 {
		return nil, fmt.Errorf("a pace of TTFT %s and ITL %s: neither can be negative", p.TTFT, p.ITL)
	}
	if p.Model == "" {
		p.Model = "paced"
	}
	s := &Server{p: p, start: time.Now(), done: make(chan struct{}), open: map[net.Conn]bool{}}
	// The client needs the other half of the machine.
	for range min(max(1, runtime.GOMAXPROCS(0)/2), maxShards) {
		sh := &shard{srv: s, wake: make(chan struct{}, 1)}
		s.shards = append(s.shards, sh)
		s.work.Go(sh.run)
	}
	return s, nil
}

// now is the time since the start, on the monotonic clock.
func (s *Server) now() int64 { return int64(time.Since(s.start)) }

// Serve accepts connections until Close; it then returns nil.
func (s *Server) Serve(l net.Listener) error {
	stampListener(l)
	go func() {
		<-s.done
		_ = l.Close() // Accept reports it
	}()
	for {
		c, err := l.Accept()
		if err != nil {
			select {
			case <-s.done:
				return nil
			default:
			}
			return fmt.Errorf("accepting a connection: %w", err)
		}
		s.ServeConn(c)
	}
}

// ServeConn serves one connection in the background; net.Pipe does as well.
func (s *Server) ServeConn(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close() // nobody will answer
		return
	}
	s.open[c] = true
	s.conns++
	h := &handler{srv: s, shard: s.shards[int(s.conns)%len(s.shards)], conn: newStamped(c), ended: make(chan bool, 1)}
	s.work.Go(func() {
		h.serve()
		_ = c.Close() // the client has gone or will be told by it
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, c)
	})
}

// Close ends every connection and goroutine.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.done)
	var errs []error
	for c := range s.open {
		if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	s.mu.Unlock()
	s.work.Wait()
	return errors.Join(errs...)
}

// file keeps the record of a request that has ended.
func (s *Server) file(r record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, r)
}

// number counts requests from 0 in the order in which they were read.
func (s *Server) number() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started++
	return s.started - 1
}
