package loadgen

import (
	"fmt"
	"sync"
	"time"
)

// waitEvery is how often a waiting preflight says for what.
const waitEvery = 5 * time.Second

// waiter tells a human, every few seconds, what a preflight waits for.
type waiter struct {
	mu    sync.Mutex
	what  string
	since time.Time

	stop chan struct{}
	done sync.WaitGroup
}

// startWaiting begins to tell; end must follow. Without anyone to tell it does
// nothing.
func startWaiting(tell func(what string, since time.Duration)) *waiter {
	w := &waiter{stop: make(chan struct{})}
	if tell == nil {
		return w
	}
	w.done.Go(func() {
		tick := time.NewTicker(waitEvery)
		defer tick.Stop()
		for {
			select {
			case <-w.stop:
				return
			case <-tick.C:
				w.mu.Lock()
				what, since := w.what, time.Since(w.since)
				w.mu.Unlock()
				if what != "" && since >= waitEvery/2 {
					tell(what, since)
				}
			}
		}
	})
	return w
}

// on says what is waited for from now on.
func (w *waiter) on(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.what, w.since = what, time.Now()
}

func (w *waiter) end() {
	close(w.stop)
	w.done.Wait()
}

// failure is probeFailure with what this side's own bounds have to do with it.
func (pr *prober) failure(r reply) error {
	err := probeFailure(r)
	switch {
	case r.notYet():
		return &NotYetError{err}
	case r.outcome != Timeout:
		return err
	}
	if len(pr.e.script.times) == 0 {
		return fmt.Errorf("%w; the bound is %v, and a cold engine may need longer: allow it with --first-token-timeout", err, pr.cfg.Limits.FirstTokenTimeout)
	}
	return fmt.Errorf("%w; if such an answer is to be expected, allow more with --idle-timeout or --request-timeout", err)
}

// probeLimits bound one probe; what the caller sets for load holds here too.
func (l Limits) probeLimits() Limits {
	p := Limits{RequestTimeout: probeTimeout, FirstTokenTimeout: probeFirstToken, IdleTimeout: probeIdle}
	if l.FirstTokenTimeout > 0 {
		p.FirstTokenTimeout = l.FirstTokenTimeout
		p.RequestTimeout = max(p.RequestTimeout, 2*l.FirstTokenTimeout)
	}
	if l.IdleTimeout > 0 {
		p.IdleTimeout = l.IdleTimeout
	}
	if l.RequestTimeout > 0 {
		p.RequestTimeout = l.RequestTimeout
	}
	return p
}
