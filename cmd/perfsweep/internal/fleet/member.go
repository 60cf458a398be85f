package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// member is a pod in one use of the fleet.
type member struct {
	fleet *Fleet
	pod   Pod
	// Which process it was in the beginning, by its pod and by itself.
	incarnation, process string
	offset, uncertainty  time.Duration
	run                  string
	lost                 error

	mu   sync.Mutex
	last status
}

// seen is the last status.
func (m *member) seen() status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// lostError says that a generator is gone, or is another process than before.
type lostError struct {
	pod string
	err error
}

func (e *lostError) Error() string { return fmt.Sprintf("generator %s was lost: %v", e.pod, e.err) }
func (e *lostError) Unwrap() error { return e.err }

func newRun() string { return rand.Text() }

// Offset is how far a generator's clock is ahead of this process's.
type Offset struct {
	Pod         string
	Offset      time.Duration
	Uncertainty time.Duration // half of the shortest round trip
}

// Clock measures the clocks of all generators.
func (f *Fleet) Clock(ctx context.Context) ([]Offset, error) {
	crew, err := f.muster(ctx, len(f.pods))
	if err != nil {
		return nil, err
	}
	var out []Offset
	for _, m := range crew {
		out = append(out, Offset{m.pod.Name(), m.offset, m.uncertainty})
	}
	return out, nil
}

// muster finds the first n pods ready to take orders, and their clocks. It
// waits for those that are starting.
func (f *Fleet) muster(ctx context.Context, n int) ([]*member, error) {
	if len(f.pods) == 0 {
		return nil, errors.New("there is no generator")
	}
	crew := make([]*member, n)
	for i := range crew {
		crew[i] = &member{fleet: f, pod: f.pods[i]}
	}
	limit, cancel := context.WithTimeout(ctx, musterTime)
	defer cancel()
	return crew, each(crew, func(m *member) error {
		last := errors.New("no time was left to ask it")
		for limit.Err() == nil {
			err := m.meet(limit)
			if err == nil || refused(err) {
				return err
			}
			if limit.Err() == nil { // else the error says no more than that
				last = err
			}
			sleep(limit, again)
		}
		return fmt.Errorf("generator %s does not answer: %w", m.pod.Name(), last)
	})
}

// exchanges is how often a clock is asked; the answer with the shortest round
// trip is the least disturbed one (RFC 5905, the clock filter).
const exchanges = 5

// meet learns who a pod is and what time it has: as in NTP, its clock was read
// in the middle of a round trip, give or take half of that.
func (m *member) meet(ctx context.Context) error {
	var err error
	if m.incarnation, err = m.pod.Alive(ctx); err != nil {
		return err
	}
	best := time.Duration(-1)
	for range exchanges {
		sent := m.fleet.now()
		out, err := m.fleet.call(ctx, m.pod, pathClock, &call{})
		if err != nil {
			return err
		}
		trip := m.fleet.now().Sub(sent)
		if best < 0 || trip < best {
			best = trip
			m.offset = time.Unix(0, out.NowUnixNS).Sub(sent.Round(0)) - trip/2
		}
		m.process = out.Process
	}
	m.uncertainty = (best + 1) / 2
	return nil
}

const (
	// lostAfter is how long a pod that does not answer may still come back: an
	// API server that restarts is no lost generator.
	lostAfter = 30 * time.Second
	// busyFor is how long one is asked that is still busy with an earlier run.
	busyFor = 30 * time.Second
)

// ask is a call about the run in progress: a broken way is tried again, another
// process than before is a loss.
func (m *member) ask(ctx context.Context, path string, in any) (reply, error) {
	for began := time.Now(); ; {
		out, err := m.fleet.call(ctx, m.pod, path, in)
		var no *refusedError
		switch {
		case err == nil && out.Process != "" && out.Process != m.process, errors.As(err, &no) && no.unknown:
			return out, m.lose(errors.New("it is another process than before"))
		case no != nil && no.busy && time.Since(began) < busyFor:
			sleep(ctx, again)
			continue
		case err == nil || refused(err):
			return out, err
		case ctx.Err() != nil:
			return out, ctx.Err()
		}
		who, alive := m.alive(ctx)
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case alive == nil && who != m.incarnation:
			return out, m.lose(errors.New("it was restarted or replaced"))
		case time.Since(began) > lostAfter+callTime && alive != nil:
			return out, m.lose(alive)
		case time.Since(began) > lostAfter+callTime:
			return out, m.lose(err)
		}
		sleep(ctx, again)
	}
}

// alive asks whether the pod is still there; an API server that does not answer
// must not hold up the next call to the pod itself.
func (m *member) alive(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return m.pod.Alive(ctx)
}

// orLater is the error of what may be asked of whoever takes the place of one that
// was lost.
func (m *member) orLater(err error) error {
	if m.lost == nil {
		return err
	}
	return &loadgen.NotYetError{Err: err}
}

func (m *member) lose(err error) error {
	m.lost = &lostError{m.pod.Name(), err}
	return m.lost
}

// await asks for the status once it is past a known step, or after some time.
func (m *member) await(ctx context.Context, run string, known loadgen.Step, wait time.Duration) (status, error) {
	m.run = run
	out, err := m.ask(ctx, pathAwait, &call{Run: run, Step: known, WaitMS: wait.Milliseconds()})
	if err != nil {
		return status{}, err
	}
	if out.Status == nil {
		return status{}, m.lose(errors.New("it answers with nothing"))
	}
	m.mu.Lock()
	m.last = *out.Status
	m.mu.Unlock()
	if out.Status.Interrupted {
		return *out.Status, m.lose(errors.New("it was told to end"))
	}
	return *out.Status, nil
}

// abort ends what is in progress, whatever became of ctx.
func (m *member) abort(ctx context.Context) {
	if m.run == "" || m.lost != nil || m.seen().Finished {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, _ = m.fleet.call(ctx, m.pod, pathStop, &call{Run: m.run, Abort: true}) // who cannot be reached ends by its own bounds
}
