package loadgen

import (
	"context"
	"sync"
	"time"
)

// Step is a moment that the parts of a run pass together.
type Step string

const (
	// Ready: the connections stand; the first request is next.
	Ready Step = "ready"
	// Warm: the warm-up has ended; the measured part is next. A steady part
	// keeps its load up meanwhile, a gate part is silent.
	Warm Step = "warm"
	// Done: a steady part has all of its measured requests, and tops its load
	// up until all parts have theirs.
	Done Step = "done"
)

// Peers joins the parts of a run. Its methods are called from goroutines of
// their own, never from a stream.
type Peers interface {
	// Await says that this part has come to a step, waits for the others, and
	// returns the moment at which all go on. An error ends the part.
	Await(ctx context.Context, s Step) (time.Time, error)
	// GivenUp is closed when the part is to end at once, drained as usual.
	GivenUp() <-chan struct{}
}

const (
	// peerGrace is how much longer than its own bounds a part waits for others,
	// which have the same ones; readyTime bounds the wait before the first
	// request.
	peerGrace = 30 * time.Second
	readyTime = 2 * time.Minute
	// stoppedByPeers is why a part ended that others did not wait for, or that
	// waited for others in vain.
	stoppedByPeers = "peers"
)

// accord is what a control knows of the steps that are taken together.
type accord struct {
	peers bool
	steps map[Step]*agreement
}

type agreement struct {
	reached chan struct{} // closed when this part has come to the step
	told    bool
	agreed  bool
	at      int64 // when all go on, on the run's clock
}

func newAccord(p Peers) accord {
	a := accord{peers: p != nil}
	if a.peers {
		a.steps = map[Step]*agreement{Warm: {reached: make(chan struct{})}, Done: {reached: make(chan struct{})}}
	}
	return a
}

// together notes that this part has come to a step and reports whether it may
// go on.
func (c *control) together(s Step, now int64) bool {
	if !c.accord.peers {
		return true
	}
	a := c.accord.steps[s]
	if !a.told {
		a.told = true
		close(a.reached)
	}
	if !a.agreed && now > int64(c.patience(s)) {
		c.halt(stoppedByPeers)
		return false
	}
	return a.agreed && now >= a.at
}

// patience is how long into a run a part waits for the others at a step.
func (c *control) patience(s Step) time.Duration {
	l := c.limits
	if s == Done {
		return time.Duration(c.from) + l.MaxDuration + l.DrainTimeout + peerGrace
	}
	waves := 2 + time.Duration(l.WarmUpRequests/int64(c.streams))
	return l.Ramp + l.GateRamp + l.MaxDuration + waves*l.RequestTimeout + peerGrace
}

// agree sets when all go on.
func (c *control) agree(s Step, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.accord.steps[s]
	a.agreed, a.at = true, at
	c.advance()
}

// assemble dials all connections, so that no dial is between the common start
// and the first request, and starts the run's clock when all parts do.
func (c *campaign) assemble(ctx, requests context.Context, all circuits) bool {
	var dials sync.WaitGroup
	for _, l := range all {
		if l.wire != nil {
			dials.Go(func() { l.wire.ahead(requests) })
		}
	}
	dials.Wait()
	ready, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	at, err := c.cfg.Peers.Await(ready, Ready)
	if err == nil {
		err = c.until(ctx, at)
	}
	if err != nil {
		reason := stoppedByPeers
		if ctx.Err() != nil {
			reason = "cancelled"
		}
		c.control.haltFor(reason)
		return false
	}
	c.clock.start = at
	return true
}

// until waits for a moment.
func (c *campaign) until(ctx context.Context, at time.Time) error {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.cfg.Peers.GivenUp():
		return context.Canceled
	case <-ctx.Done():
		return ctx.Err()
	}
}

// meet takes the later steps together with the others.
func (c *campaign) meet(ctx context.Context, ended <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-ended:
		case <-c.control.stop:
		case <-ctx.Done():
		}
		cancel()
	}()
	for _, s := range []Step{Warm, Done} {
		select {
		case <-c.control.accord.steps[s].reached:
		case <-ctx.Done():
			return
		}
		at, err := c.cfg.Peers.Await(ctx, s)
		if err != nil {
			if ctx.Err() == nil {
				c.control.haltFor(stoppedByPeers)
			}
			return
		}
		c.control.agree(s, c.clock.since(at))
		if c.until(ctx, at) != nil {
			return
		}
		c.control.poll()
	}
}

// givenUp is closed when the others do not wait for this part; nil alone.
func (c *campaign) givenUp() <-chan struct{} {
	if c.cfg.Peers == nil {
		return nil
	}
	return c.cfg.Peers.GivenUp()
}

// ahead dials before there is a request. What fails here is dialled again for
// the first one, which then tells why.
func (w *wire) ahead(ctx context.Context) {
	if c, err := w.dial(ctx); err == nil {
		w.conn = c.(pumped) // dial makes no others
	}
}
