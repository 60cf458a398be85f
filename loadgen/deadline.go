package loadgen

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

var (
	errRequestTimeout    = errors.New("the request timeout passed")
	errFirstTokenTimeout = errors.New("the first-token timeout passed without a token")
	errIdleTimeout       = errors.New("the idle timeout passed inside the answer")
)

// deadlines end a request that takes too long as a whole, to its first token,
// or between two arrivals after that. One timer serves all three: it is set for
// the earliest, and when it fires, for the next, so that an arrival costs no
// more than a store.
type deadlines struct {
	limits Limits
	clock  *clock
	began  int64
	heard  atomic.Int64 // last arrival of any byte, on the run's clock

	mu     sync.Mutex
	token  bool
	ended  bool
	timer  *time.Timer
	cancel context.CancelCauseFunc
	silent func() // see whenSilent; may be nil
	last   int64  // what heard was when it was last looked at
}

// silenceCheck is how often silence is looked for.
const silenceCheck = time.Second

// begin starts the deadlines of one request; end must follow.
func (l Limits) begin(ctx context.Context, run *clock) (context.Context, *deadlines) {
	d := &deadlines{limits: l, clock: run, began: run.now()}
	ctx, d.cancel = context.WithCancelCause(ctx)
	d.heard.Store(d.began)
	d.mu.Lock()
	defer d.mu.Unlock()
	at, _ := d.next()
	d.timer = time.AfterFunc(time.Duration(at-d.began), d.fire)
	return ctx, d
}

// next is the earliest deadline and what it would mean.
func (d *deadlines) next() (at int64, why error) {
	at, why = d.began+int64(d.limits.RequestTimeout), errRequestTimeout
	other, reason := d.began, error(errFirstTokenTimeout)
	limit := d.limits.FirstTokenTimeout
	if d.token {
		other, reason, limit = d.heard.Load(), errIdleTimeout, d.limits.IdleTimeout
	}
	if other += int64(limit); limit > 0 && other < at {
		return other, reason
	}
	return at, why
}

func (d *deadlines) fire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return
	}
	at, why := d.next()
	if at-d.clock.now() <= 0 {
		d.cancel(why)
		return
	}
	if heard := d.heard.Load(); d.silent != nil && heard == d.last {
		d.silent()
	} else {
		d.last = heard
	}
	d.set()
}

// set sets the timer for what is due next.
func (d *deadlines) set() {
	at, _ := d.next()
	wait := time.Duration(at - d.clock.now())
	if d.silent != nil {
		wait = min(wait, silenceCheck)
	}
	d.timer.Reset(wait)
}

// whenSilent has a function called about once a second while nothing arrives.
func (d *deadlines) whenSilent(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.silent, d.last = f, d.heard.Load()
	d.set()
}

// firstToken says that the first token has come: silence counts from here on.
func (d *deadlines) firstToken() {
	if d.limits.FirstTokenTimeout <= 0 && d.limits.IdleTimeout <= 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.token = true
	d.set()
}

// giveUp ends the request without a reason of its own.
func (d *deadlines) giveUp() { d.cancel(nil) }

func (d *deadlines) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	d.timer.Stop()
	d.cancel(nil)
}
