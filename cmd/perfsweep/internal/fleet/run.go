package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

const (
	// lead is how far ahead of a common moment the generators are told of it.
	lead = 500 * time.Millisecond
	// awaitWait is how long a call waits for a step: with it, the calls of a run
	// are in proportion to its length and its generators, not to its streams.
	awaitWait = 10 * time.Second
	// skipped is more requests than a generator sends between two looks at it:
	// request numbers go on behind what a lost one may have used.
	skipped = 1 << 20
)

// Run is loadgen.Run, made by all generators together; pre is what the workload
// of cfg was made with. A generator that is lost, or restarted, in the middle
// makes a Result with LostPods, which run gate V8 refuses; it is no error, and
// the next Run may succeed. OnRequest is not called. When ctx ends, all
// generators end, and the result says no more than that.
func (f *Fleet) Run(ctx context.Context, cfg loadgen.Config, pre loadgen.Preflight) (loadgen.Result, error) {
	if cfg.Workload == nil {
		return loadgen.Result{}, errors.New("a run needs a workload")
	}
	split := cfg.Split(len(f.pods))
	crew, err := f.muster(ctx, len(split))
	if err != nil {
		return loadgen.Result{}, err
	}
	r := &run{fleet: f, cfg: cfg, crew: crew, began: f.now()}
	bounded, cancel := context.WithTimeout(ctx, r.patience(split[0].Limits))
	defer cancel()
	parts, err := r.make(bounded, split, pre)
	if err == nil {
		var out loadgen.Result
		if out, err = loadgen.MergeParts(cfg, parts); err == nil {
			return out, nil
		}
	}
	_ = each(crew, func(m *member) error { m.abort(ctx); return nil })
	switch {
	case ctx.Err() != nil:
		out := r.nothing()
		out.Stopped = "cancelled"
		return out, fmt.Errorf("the run was interrupted: %w", ctx.Err())
	case bounded.Err() != nil:
		return r.nothing(), fmt.Errorf("the generators did not come to an end in %v", r.patience(split[0].Limits))
	}
	if out := r.nothing(); len(out.LostPods) > 0 {
		return out, nil
	}
	return loadgen.Result{}, err
}

// run is one run of the fleet.
type run struct {
	fleet *Fleet
	cfg   loadgen.Config
	crew  []*member
	began time.Time
	mu    sync.Mutex // of Progress
}

// patience is more than a run can take by its own bounds.
func (r *run) patience(l loadgen.Limits) time.Duration {
	waves := 2 + time.Duration(l.WarmUpRequests)
	return l.Ramp + l.GateRamp + 2*l.MaxDuration + 2*l.DrainTimeout + waves*l.RequestTimeout + 10*time.Minute
}

// nothing is the result of a run that was lost: where request numbers go on,
// and why.
func (r *run) nothing() loadgen.Result {
	out := loadgen.Result{
		Kind: r.cfg.Kind, Concurrency: r.cfg.Concurrency, Started: r.began, Ended: r.fleet.now(),
		Measured: loadgen.Outcomes{}, All: loadgen.Outcomes{},
	}
	most := int64(0)
	for _, m := range r.crew {
		most = max(most, m.last.Completed+m.last.InFlight)
		if m.lost != nil {
			out.LostPods = append(out.LostPods, m.pod.Name())
			out.Warnings = append(out.Warnings, m.lost.Error())
		}
	}
	if len(out.LostPods) > 0 {
		out.Stopped = "lost"
	}
	out.NextRequest = r.cfg.FirstRequest + uint64(len(r.crew))*(2*uint64(min(most, skipped*skipped))+skipped)
	return out
}

// make takes the generators through the run and collects what they recorded.
func (r *run) make(ctx context.Context, split []loadgen.Config, pre loadgen.Preflight) ([]loadgen.Part, error) {
	id := newRun()
	index := map[*member]int{}
	for i, m := range r.crew {
		index[m] = i
	}
	err := each(r.crew, func(m *member) error {
		o, err := orderOf(split[index[m]], r.cfg.Workload.Spec(), pre)
		if err != nil {
			return err
		}
		o.Run, m.run = id, id
		_, err = m.ask(ctx, pathPrepare, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	steps := []loadgen.Step{loadgen.Ready, loadgen.Warm, loadgen.Done}
	if r.cfg.Kind == loadgen.Gate {
		steps = steps[:2]
	}
	known := loadgen.Step("")
	for _, s := range steps {
		ended, err := r.reach(ctx, known)
		if err == nil && ended {
			err = r.stop(ctx)
		}
		if err != nil {
			return nil, err
		}
		if ended {
			break
		}
		if err := r.goOn(ctx, s); err != nil {
			return nil, err
		}
		known = s
	}
	if err := r.finish(ctx); err != nil {
		return nil, err
	}
	return r.collect(ctx, id)
}

// reach waits until all generators are past a step. One that ends before, or is
// lost, ends the wait.
func (r *run) reach(ctx context.Context, known loadgen.Step) (ended bool, err error) {
	some, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	err = each(r.crew, func(m *member) error {
		for {
			st, err := m.await(some, m.run, known, awaitWait)
			switch {
			case err != nil && some.Err() != nil && ctx.Err() == nil && m.lost == nil:
				return nil // another one ended the wait
			case err != nil:
				cancel()
				return err
			}
			r.progress()
			if st.Finished {
				mu.Lock()
				ended = true
				mu.Unlock()
				cancel()
			}
			if st.Finished || st.Step != known {
				return nil
			}
		}
	})
	return ended, err
}

// goOn lets all go on from a step at one moment, each told by its own clock.
func (r *run) goOn(ctx context.Context, s loadgen.Step) error {
	ahead := time.Duration(lead)
	for _, m := range r.crew {
		ahead = max(ahead, 8*m.uncertainty)
	}
	at := r.fleet.now().Add(ahead)
	return each(r.crew, func(m *member) error {
		_, err := m.ask(ctx, pathGo, &call{Run: m.run, Step: s, AtUnixNS: at.Add(m.offset).UnixNano()})
		return err
	})
}

// stop ends all, drained.
func (r *run) stop(ctx context.Context) error {
	return each(r.crew, func(m *member) error {
		_, err := m.ask(ctx, pathStop, &call{Run: m.run})
		return err
	})
}

// finish waits for the end of all.
func (r *run) finish(ctx context.Context) error {
	return each(r.crew, func(m *member) error {
		for {
			st, err := m.await(ctx, m.run, m.last.Step, awaitWait)
			switch {
			case err != nil:
				return err
			case st.Finished && st.BadInput:
				return &loadgen.BadInputError{Msg: "generator " + m.pod.Name() + ": " + st.Error}
			case st.Finished && st.Error != "":
				return fmt.Errorf("generator %s: %s", m.pod.Name(), st.Error)
			case st.Finished:
				return nil
			}
		}
	})
}

// progress tells of all generators together.
func (r *run) progress() {
	if r.cfg.Progress == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := loadgen.Progress{Elapsed: r.fleet.now().Sub(r.began), MeasuredFraction: 1}
	for _, m := range r.crew {
		st := m.seen()
		p.InFlight += st.InFlight
		p.Completed += st.Completed
		p.Errors += st.Errors
		p.MeasuredFraction = min(p.MeasuredFraction, st.Fraction)
	}
	r.cfg.Progress(p)
}
