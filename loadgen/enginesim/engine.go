package enginesim

import (
	"container/heap"
	"math"
	"sync"
	"time"
)

// ttftSigma is the log-normal spread of the time before the first token:
// p99/p50 = exp(2.33·0.2) ≈ 1.6.
const ttftSigma = 0.2

// tick is the clock's resolution in seconds: what is due within it is due.
const tick = 1e-9

// engine serves all workers on one service clock. Its events are streams that
// reach their next chunk; between events nothing changes but the clock.
type engine struct {
	p    Params
	stop stalls
	law  []float64 // workerTokPerSec by whole number of requests

	mu      sync.Mutex
	started time.Time // the first request; zero before
	now     float64   // seconds of model time since then
	timer   *time.Timer
	closed  bool
	workers []*worker
	turn    int // round-robin
	// level is the noise factor of this epoch.
	level      float64
	epoch      uint64
	epochStart float64
	// frontend is the share of the workers' speed that the ceiling lets through.
	frontend float64
	// overload says that the frontend holds requests back, saturated for how
	// long it has.
	overload  bool
	saturated float64
	count     Counters
}

func newEngine(p Params) *engine {
	e := &engine{p: p, level: 1, frontend: 1, stop: stalls{seed: p.Seed, count: int(math.Round(p.Stall * windowsPerTurn))}}
	for range p.live() {
		e.workers = append(e.workers, &worker{speed: 1})
	}
	e.workers[len(e.workers)-1].speed = p.Sick
	return e
}

// submit enters a request at this moment; false means that it is shed.
func (e *engine) submit(s *stream) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.started.IsZero() {
		e.started = time.Now()
	}
	e.advance(e.clock())
	if e.p.QueueLimit > 0 && e.count.Waiting >= int64(e.p.QueueLimit*e.p.GPUs) && e.full() {
		e.count.Shed++
		return false
	}
	if e.count.Running+e.count.Waiting == 0 {
		e.renew()
	}
	e.count.Accepted++
	e.count.PromptTokens += int64(s.prompt)
	s.number = uint64(e.count.Accepted)
	s.decideEnd(e.p)
	s.worker = e.route()
	s.entered = e.now
	if len(s.worker.running) < e.p.workerCap() {
		e.admit(s)
	} else {
		s.worker.waiting = append(s.worker.waiting, s)
		e.count.Waiting++
	}
	e.schedule()
	return true
}

// leave ends a stream whose client has gone, wherever it is.
func (e *engine) leave(s *stream) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.advance(e.clock())
	switch {
	case s.place >= 0:
		heap.Remove(&s.worker.running, s.place)
		e.release(s.worker)
	default:
		if s.worker.forget(s) {
			e.count.Waiting--
		}
	}
	e.schedule()
}

// counters brings the clock up to date before it counts.
func (e *engine) counters() Counters {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.started.IsZero() {
		e.advance(e.clock())
		e.schedule()
	}
	return e.count
}

// note changes counters that the wire side owns.
func (e *engine) note(f func(*Counters)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f(&e.count)
}

func (e *engine) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.timer != nil {
		e.timer.Stop()
	}
}

func (e *engine) clock() float64 { return time.Since(e.started).Seconds() }

func (e *engine) wake() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.advance(e.clock())
	e.schedule()
}

// advance moves the service clock to a time, firing what falls due on the way
// at its own time, however late this call is.
func (e *engine) advance(to float64) {
	for {
		still, until := e.stop.at(e.now)
		limit := min(to, until)
		if !still {
			w, after := e.next()
			if w != nil && e.now+after <= limit+tick && e.now+after < until {
				e.serve(after)
				e.fire(w)
				continue
			}
			e.serve(limit - e.now)
		}
		e.now = max(e.now, limit)
		if limit == to {
			return
		}
	}
}

// serve lets every worker run undisturbed for some seconds.
func (e *engine) serve(seconds float64) {
	if seconds <= 0 {
		return
	}
	e.now += seconds
	for _, w := range e.workers {
		w.served += w.rate * seconds
	}
	if e.overload {
		e.saturated += seconds
	}
}

// next is the worker whose next chunk is due first, and the seconds until then.
func (e *engine) next() (first *worker, after float64) {
	after = math.Inf(1)
	for _, w := range e.workers {
		if len(w.running) == 0 {
			continue
		}
		if d := max(0, (w.running[0].due-w.served)/w.rate); d < after {
			first, after = w, d
		}
	}
	return first, after
}

// fire hands out the next chunk of a worker's first stream.
func (e *engine) fire(w *worker) {
	s := w.running[0]
	w.served = s.due // not a sum of steps, which would drift
	if !s.prefilled && s.tokens > 1 {
		s.prefilled = true
		if e.p.Preempts && e.pastEdge(w) {
			e.count.Preemptions++
			w.preemptions++
		}
		if more := e.excess(w) * e.p.ExcessBeforeFirst * s.jitter(e.p.Seed, forExcess); more > 0 {
			s.before = min(0.95*float64(s.tokens), s.before+more*float64(s.tokens))
			s.due = s.begun + s.before
			s.paused = e.now
			heap.Fix(&w.running, 0)
			return
		}
	}
	e.show(w, s)
	fresh := int64(s.emit(e.p.Chunk))
	e.count.GeneratedTokens += fresh
	w.outputTokens += fresh
	if s.ended() {
		w.shown.finished++
		heap.Pop(&w.running)
		e.release(w)
		return
	}
	heap.Fix(&w.running, 0)
}

// admit starts a stream on its worker.
func (e *engine) admit(s *stream) {
	s.begin(s.worker.served, e.p)
	heap.Push(&s.worker.running, s)
	s.worker.promptTokens += int64(s.prompt)
	e.count.Running++
	e.count.MaxRunning = max(e.count.MaxRunning, e.count.Running)
	e.pace()
}

// release frees the slot of a stream that was just taken off the worker.
func (e *engine) release(w *worker) {
	e.count.Running--
	if len(w.running) == 0 {
		w.served = 0
	}
	if s := w.takeWaiting(); s != nil {
		e.count.Waiting--
		e.admit(s)
		return
	}
	e.pace()
}

func (e *engine) route() *worker {
	if e.p.Router == RoundRobin {
		e.turn++
		return e.workers[(e.turn-1)%len(e.workers)]
	}
	best := e.workers[0]
	for _, w := range e.workers {
		if w.load() < best.load() {
			best = w
		}
	}
	return best
}

// full holds when no worker has a free slot.
func (e *engine) full() bool {
	for _, w := range e.workers {
		if len(w.running) < e.p.workerCap() {
			return false
		}
	}
	return true
}

// schedule sets the timer to the next chunk or, where windows may stand
// still, to the next window.
func (e *engine) schedule() {
	w, after := e.next()
	if w == nil || e.closed {
		return
	}
	at := e.now + after
	if still, until := e.stop.at(e.now); still {
		at = until
	} else {
		at = min(at, until)
	}
	wait := time.Duration(math.Ceil((at - e.clock()) * 1e9))
	if e.timer == nil {
		e.timer = time.AfterFunc(wait, e.wake)
		return
	}
	e.timer.Reset(wait)
}
