package enginesim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Sim is a running engine.
type Sim struct {
	p       Params
	bad     error // why it cannot serve
	engine  *engine
	stats   *stats
	server  *http.Server
	memory  *memoryListener
	once    sync.Once      // starts the in-memory side
	serving sync.WaitGroup // Serve calls
	conns   sync.WaitGroup // connections
	done    chan struct{}  // closed by Close
	closing sync.Once
}

// New starts an engine; Close stops it. Parameters that do not pass Validate
// make an engine whose Listen and Dial say so.
func New(p Params) *Sim {
	s := &Sim{p: p, bad: p.Validate(), memory: newMemoryListener(), stats: newStats(), done: make(chan struct{})}
	if s.bad == nil {
		s.engine = newEngine(p)
	}
	s.server = &http.Server{
		Handler:        s.routes(),
		MaxHeaderBytes: 64 << 10,
		// Long: connections may be opened well before a slow ramp uses them.
		ReadHeaderTimeout: 5 * time.Minute,
		ConnState:         s.connState,
	}
	return s
}

// Params returns what the engine was made from.
func (s *Sim) Params() Params { return s.p }

// Listen serves on addr (for example 127.0.0.1:0) and returns the base URL.
func (s *Sim) Listen(addr string) (baseURL string, err error) {
	if s.bad != nil {
		return "", s.bad
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("simulator cannot listen on %q (choose another address, or port 0 for a free one): %w", addr, err)
	}
	s.serve(l)
	return "http://" + l.Addr().String(), nil
}

// Dial makes an in-memory connection to the engine, for virtual time.
func (s *Sim) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if s.bad != nil {
		return nil, s.bad
	}
	s.once.Do(func() { s.serve(s.memory) })
	return s.memory.dial(ctx)
}

func (s *Sim) serve(l net.Listener) {
	s.serving.Add(1)
	go func() {
		defer s.serving.Done()
		// It returns when Close has closed the listener, with an error that
		// says only that.
		_ = s.server.Serve(l)
	}()
}

// connState follows connections to their end. One that was accepted while the
// server closed escapes the server, so it is closed here.
func (s *Sim) connState(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
		select {
		case <-s.done:
			_ = c.Close() // it was never used
		default:
		}
	case http.StateClosed, http.StateHijacked:
		s.conns.Done()
	}
}

// Counters are the engine's own totals.
func (s *Sim) Counters() Counters {
	if s.engine == nil {
		return Counters{}
	}
	return s.engine.counters()
}

// Close ends every connection and goroutine.
func (s *Sim) Close() error {
	var err error
	s.closing.Do(func() {
		close(s.done)
		err = errors.Join(s.memory.Close(), s.server.Close())
		if s.engine != nil {
			s.engine.close()
		}
	})
	s.serving.Wait()
	s.conns.Wait()
	return err
}
