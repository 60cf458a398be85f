package loadgen

import (
	"sync"
	"time"
)

// state is where a run stands; it only moves forward.
type state int

const (
	warming state = iota
	measuring
	topping // all measured requests are sent, some are in flight
	stopped // nothing more is sent
)

// control decides what each stream does next. It is asked once a request.
type control struct {
	mu      sync.Mutex
	kind    RunKind
	streams int
	limits  Limits
	clock   *clock
	// objective is what Result.Goodput is judged by.
	objective Objective

	course
	accord accord

	state       state
	started     int   // streams that have sent something
	warmUps     int64 // of them sent to warm up
	finished    int64
	bad         int64
	good        int64
	inFlight    int64
	measured    int64         // measured requests sent
	kept        int64         // numbers of measured requests given out ahead and not used yet
	outstanding int64         // of them in flight
	sentAll     int64         // when the last measured request was sent
	barrier     chan struct{} // closed when measuring begins
	stop        chan struct{} // closed when stopped
}

// course is how a run went: what is left of its control in the end.
type course struct {
	sent       uint64 // requests of any kind
	capped     bool
	warmCapped bool
	reason     string // why the run ended early
	// Beginning and end of the measured part, on the run's clock.
	from, until int64
}

func newControl(cfg *Config, run *clock) *control {
	return &control{
		kind: cfg.Kind, streams: cfg.Concurrency, limits: cfg.Limits, clock: run, objective: cfg.Objective,
		barrier: make(chan struct{}), stop: make(chan struct{}), accord: newAccord(cfg.Peers),
	}
}

// ticket is permission to send one request.
type ticket struct {
	number uint64 // counted from 0 within the run
	phase  phase
	// kept says that the number was given out ahead of the permission, and ask
	// is then the request that was made of it.
	kept bool
	ask  ask
}

// next hands out the next request of a stream. With wait set the stream must
// come again after the barrier, with the ticket that it was given: if that has
// a number, its request can be made while it waits. Without ok it is done.
func (c *control) next(held ticket, first bool) (t ticket, wait, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	if c.state == warming && c.kind == Gate && !c.warmUpLeft(first) {
		return c.ahead(held), true, true
	}
	// Every number that was given out ahead is of a request that will be sent.
	if c.state == stopped || !held.kept && c.kept > 0 && c.measured+c.kept >= c.limits.MinRequests {
		return ticket{}, false, false
	}
	if first {
		c.started++
	}
	if t = held; t.kept {
		c.kept--
	} else {
		t.number = c.sent
		c.sent++
	}
	c.inFlight++
	switch c.state {
	case warming:
		t.phase = warmUp
		c.warmUps++
	case measuring:
		t.phase = measured
		c.measured++
		c.outstanding++
	case topping:
		t.phase = topUp
	}
	return t, false, true
}

// ahead gives a stream that waits for the barrier the number of its first
// measured request, unless others have them all.
func (c *control) ahead(t ticket) ticket {
	if !t.kept && c.kept < c.limits.MinRequests {
		t.number, t.kept = c.sent, true
		c.sent++
		c.kept++
	}
	return t
}

// done takes the end of a request.
func (c *control) done(p phase, good bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight--
	c.finished++
	if good {
		c.good++
	} else {
		c.bad++
	}
	if p == measured {
		c.outstanding--
	}
	if c.good == 0 && c.bad >= int64(max(20, 2*c.streams)) {
		c.halt("errors")
	}
	c.advance()
}

// advance moves the state as far as it goes now.
func (c *control) advance() {
	now := c.clock.now()
	if c.state == warming && c.warm(now) && c.together(Warm, now) {
		c.state, c.from = measuring, now
		close(c.barrier)
	}
	if c.state == measuring && c.enough(now) {
		c.state, c.sentAll = topping, now
	}
	if c.state != topping {
		return
	}
	// A gate run has a hard drain: nothing tops it up, and no part of it waits
	// for another.
	over := c.outstanding == 0 || now-c.sentAll > int64(c.limits.DrainTimeout)
	if c.kind == Gate || over && c.together(Done, now) {
		c.halt("")
	}
}

// warmUpLeft reports that a gate run has a warm-up request for a stream. One is
// kept for every stream that has had none, so that as many as there are streams
// means one each.
func (c *control) warmUpLeft(first bool) bool {
	if d := c.limits.WarmUpDuration; d > 0 && c.clock.now() >= int64(d) {
		return false
	}
	left := c.limits.WarmUpRequests - c.warmUps
	if !first {
		left -= int64(c.streams - c.started)
	}
	return left > 0
}

// warm reports the end of the warm-up: two waves in a steady run, the last of
// the asked requests in a gate run. It is bounded in time, for a server that
// hardly answers.
func (c *control) warm(now int64) bool {
	if c.kind == Gate {
		return c.inFlight == 0 && !c.warmUpLeft(true)
	}
	if c.started < c.streams {
		return false
	}
	if c.finished >= 2*int64(c.streams) {
		return true
	}
	c.warmCapped = now > int64(c.limits.Ramp+c.limits.MaxDuration)
	return c.warmCapped
}

// enough reports that no more measured requests are to be sent.
func (c *control) enough(now int64) bool {
	reached := c.measured >= c.limits.MinRequests
	if c.kind == Steady && now-c.from < int64(c.limits.MinDuration) {
		reached = false
	}
	if !reached && now-c.from >= int64(c.limits.MaxDuration) {
		c.capped = c.measured < c.limits.MinRequests
		return true
	}
	return reached
}

// halt ends sending; reason is empty for the regular end.
func (c *control) halt(reason string) {
	if c.state == stopped {
		return
	}
	now := c.clock.now()
	if c.state <= measuring {
		c.sentAll = now
	}
	c.state, c.reason, c.until = stopped, reason, now
	close(c.stop)
}

// haltFor is halt for callers outside.
func (c *control) haltFor(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.halt(reason)
}

// poll lets time pass where no request ends.
func (c *control) poll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
}

// progress is a snapshot for a human and for the watch.
func (c *control) progress() Progress {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.now()
	p := Progress{Elapsed: time.Duration(now), InFlight: c.inFlight, Completed: c.finished, Errors: c.bad}
	switch c.state {
	case measuring:
		p.MeasuredFraction = min(1, float64(c.measured)/float64(c.limits.MinRequests))
		if d := c.limits.MinDuration; c.kind == Steady && d > 0 {
			p.MeasuredFraction = min(p.MeasuredFraction, float64(now-c.from)/float64(d))
		}
	case topping, stopped:
		p.MeasuredFraction = 1
	}
	return p
}
