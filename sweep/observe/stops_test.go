package observe_test

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep/observe/observetest"
)

// stops makes a client stand still once a level, as if its process were stopped.
type stops struct {
	after, length time.Duration
	mu            sync.Mutex
	from          time.Time
}

func (s *stops) begin(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from = at
}

func (s *stops) begun() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from
}

// of stops the client of a deployment, the watch on it included.
func (s *stops) of(d *observetest.Deployment) {
	dial := d.Dial
	d.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return stopping{c, s}, nil
	}
	d.Before = func(int) { s.begin(time.Now().Add(s.after)) }
	d.After = func(r *loadgen.Result) {
		r.Suspended = []loadgen.Suspension{{StartS: s.begun().Sub(r.Started).Seconds(), LengthS: s.length.Seconds()}}
	}
}

// wait ends where the client goes on.
func (s *stops) wait() {
	if from := s.begun(); !from.IsZero() && time.Now().After(from) {
		<-time.After(time.Until(from.Add(s.length)))
	}
}

type stopping struct {
	net.Conn
	s *stops
}

func (c stopping) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.s.wait()
	return n, err
}

func (c stopping) Write(b []byte) (int, error) {
	c.s.wait()
	return c.Conn.Write(b)
}
