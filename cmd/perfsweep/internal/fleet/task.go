package fleet

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// task is a run or a preflight that a generator makes. It is the loadgen.Peers
// of its run: what the fleet says by calls, it says to the run.
type task struct {
	id     string
	cancel context.CancelFunc
	ended  chan struct{} // closed when it is over

	mu      sync.Mutex
	status  status
	changed chan struct{} // closed at the next change that somebody may wait for
	open    map[loadgen.Step]chan time.Time
	gone    chan struct{}
	blob    []byte
}

func newTask(id string, cancel context.CancelFunc) *task {
	t := &task{
		id: id, cancel: cancel, ended: make(chan struct{}), changed: make(chan struct{}), gone: make(chan struct{}),
		open: map[loadgen.Step]chan time.Time{},
	}
	for _, s := range []loadgen.Step{loadgen.Ready, loadgen.Warm, loadgen.Done} {
		t.open[s] = make(chan time.Time, 1)
	}
	return t
}

// Await implements loadgen.Peers.
func (t *task) Await(ctx context.Context, s loadgen.Step) (time.Time, error) {
	t.change(func(st *status) { st.Step = s })
	select {
	case at := <-t.open[s]:
		return at, nil
	case <-t.gone:
		return time.Time{}, errors.New("the other generators ended")
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
}

// GivenUp implements loadgen.Peers.
func (t *task) GivenUp() <-chan struct{} { return t.gone }

// change sets something that is worth an answer to whoever waits.
func (t *task) change(f func(*status)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.status)
	close(t.changed)
	t.changed = make(chan struct{})
}

// note sets something that can wait.
func (t *task) note(f func(*status)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.status)
}

// goOn lets the run go on from a step; a second call of the same is no other.
func (t *task) goOn(s loadgen.Step, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case t.open[s] <- at:
	default:
	}
}

// giveUp ends the run: at once, or drained.
func (t *task) giveUp(abort bool) {
	if abort {
		t.cancel()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.gone:
	default:
		close(t.gone)
	}
}

// wait returns the status once it is past the step that the caller knows, or
// final, or the time is over.
func (t *task) wait(ctx context.Context, known loadgen.Step, limit time.Duration) status {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		t.mu.Lock()
		st, changed := t.status, t.changed
		t.mu.Unlock()
		if st.Finished || st.Step != known {
			return st
		}
		select {
		case <-changed:
		case <-timer.C:
			return st
		case <-ctx.Done():
			return st
		}
	}
}

// progress and waiting are hooks of loadgen.
func (t *task) progress(p loadgen.Progress) {
	t.note(func(st *status) {
		st.InFlight, st.Completed, st.Errors, st.Fraction = p.InFlight, p.Completed, p.Errors, p.MeasuredFraction
	})
}

func (t *task) waiting(what string, since time.Duration) {
	t.note(func(st *status) { st.Waiting, st.WaitingMS = what, since.Milliseconds() })
}

// fail makes the end of a task that gave nothing.
func (t *task) fail(ctx context.Context, err error) {
	var bad *loadgen.BadInputError
	var early *loadgen.NotYetError
	t.change(func(st *status) {
		st.Finished, st.Error, st.BadInput, st.Interrupted = true, err.Error(), errors.As(err, &bad), ctx.Err() != nil
		st.NotYet = errors.As(err, &early)
	})
}
