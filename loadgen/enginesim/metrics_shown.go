package enginesim

import "math"

// shown is what a worker's page tells and nothing else needs.
type shown struct {
	finished          int64 // requests
	ttft, itl         sums  // seconds, as the engine sees them
	lastTTFT, lastITL float64
	lastPrompt        int
}

// sums is a histogram without its buckets.
type sums struct {
	sum float64
	n   int64
}

func (s *sums) add(v float64) { s.sum, s.n = s.sum+v, s.n+1 }

// What a request spends in an idle Dynamo 1.6.1 frontend before it is with a
// worker, and how often the event loop of a saturated one stands still:
// assumed from the recorded pages, where these rose with the load.
const (
	idlePreprocessS = 0.0003
	idleSendS       = 0.001
	stallsPerSecond = 20
)

// own is the share of its streams' time that is a worker's own. The rest, what
// a ceiling or an edge costs, passes in the frontend's hands; only a KV cache
// that thrashes is the engine's edge.
func (e *engine) own(w *worker) float64 {
	if e.p.Preempts {
		return e.frontend
	}
	return 1 - e.excess(w)
}

// show books the chunk that is due.
func (e *engine) show(w *worker, s *stream) {
	if s.out.Load() > 0 {
		own := (e.now - s.last) * e.own(w)
		w.shown.itl.sum += own
		w.shown.itl.n += int64(s.next) - s.out.Load()
		w.shown.lastITL = own / float64(int64(s.next)-s.out.Load())
		s.last = e.now
		return
	}
	if s.paused > 0 && e.own(w) < 1 {
		s.held = e.now - s.paused
	}
	s.last = e.now
	w.shown.lastTTFT = e.now - s.entered - s.held
	w.shown.lastPrompt = s.prompt
	w.shown.ttft.add(w.shown.lastTTFT)
}

// inEngine is how many of a worker's streams are with the engine at a moment.
// The others are in the frontend's hands: their tokens are made and not yet
// passed on, or they have not reached the worker.
func (e *engine) inEngine(w *worker) int {
	return int(math.Round(float64(len(w.running)) * e.own(w)))
}

// inFrontend is how many streams the frontend holds.
func (e *engine) inFrontend() int {
	held := 0
	for _, w := range e.workers {
		held += len(w.running) - e.inEngine(w)
	}
	return held
}
