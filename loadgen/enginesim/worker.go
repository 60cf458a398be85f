package enginesim

import (
	"container/heap"
	"math"
	"sync/atomic"
)

// worker is one engine process: its running streams advance together.
type worker struct {
	speed float64 // 1, or a sick worker's
	// served is how many tokens' time each running stream has had, counted
	// from when the worker was last idle; rate is its growth per second.
	served  float64
	rate    float64
	running streams
	waiting []*stream
	// Totals of this worker alone.
	promptTokens, outputTokens, preemptions int64
	shown                                   shown
}

func (w *worker) load() int { return len(w.running) + len(w.waiting) }

func (w *worker) takeWaiting() *stream {
	if len(w.waiting) == 0 {
		return nil
	}
	s := w.waiting[0]
	w.waiting[0] = nil
	w.waiting = w.waiting[1:]
	return s
}

func (w *worker) forget(s *stream) bool {
	for i, other := range w.waiting {
		if other == s {
			w.waiting = append(w.waiting[:i], w.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// ending says how a stream ends.
type ending int

const (
	complete ending = iota
	truncated
	inBand
)

// stream is one request inside the engine.
type stream struct {
	number uint64
	prompt int
	tokens int // asked for
	limit  int // tokens after which the stream ends, as it ends
	end    ending

	worker    *worker
	place     int     // in worker.running, −1 outside
	begun     float64 // worker.served at admission
	before    float64 // tokens' time before the first token
	due       float64 // worker.served at the next chunk
	next      int     // tokens out once that chunk is
	prefilled bool

	// Moments of model time, for the metrics page: entry, where the wait for the
	// frontend began, and the last chunk. held is how long that wait was.
	entered, paused, last, held float64

	// out is the number of tokens handed out, moved announces that it grew. The
	// engine never waits for a slow client: its chunks then share a write.
	out   atomic.Int64
	moved chan struct{}
}

func newStream(prompt, tokens int) *stream {
	return &stream{prompt: prompt, tokens: tokens, place: -1, moved: make(chan struct{}, 1)}
}

// chunkEnd is the number of tokens out after the chunk that follows sent
// tokens: one token first, as vLLM's stream interval does, then full chunks.
func (s *stream) chunkEnd(sent, chunk int) int {
	if sent == 0 {
		return 1
	}
	return min(sent+chunk, s.limit)
}

// decideEnd breaks the shares of streams that Params ask for, each after some
// of its tokens.
func (s *stream) decideEnd(p Params) {
	s.limit = s.tokens
	switch u := uniform(p.Seed, forBreak, s.number); {
	case u < p.Truncated:
		s.end = truncated
	case u < p.Truncated+p.InBand:
		s.end = inBand
	default:
		return
	}
	s.limit = 1 + int(uniform(p.Seed, forBreakAt, s.number)*float64(s.tokens-1))
}

func (s *stream) begin(served float64, p Params) {
	s.begun = served
	s.before = min(float64(s.tokens)/2, p.PrefillTokens*s.jitter(p.Seed, forTTFT))
	s.next = 1
	if s.tokens == 1 {
		s.before = 1
	}
	s.due = s.begun + s.before
}

func (s *stream) jitter(seed, purpose uint64) float64 {
	return math.Exp(ttftSigma * normal(seed, purpose, s.number))
}

// emit hands out the chunk that is due, sets the next one and returns the
// number of new tokens. Tokens after the first are spread evenly over what is
// left of the request's time, so that the last one is out after exactly
// s.tokens tokens' time.
func (s *stream) emit(chunk int) int {
	fresh := s.next - int(s.out.Load())
	s.out.Store(int64(s.next))
	select {
	case s.moved <- struct{}{}:
	default: // the client has not yet taken the one before
	}
	if s.next == s.limit {
		return fresh
	}
	s.next = s.chunkEnd(s.next, chunk)
	rest := float64(s.tokens) - s.before
	s.due = s.begun + s.before + rest*float64(s.next-1)/float64(s.tokens-1)
	return fresh
}

func (s *stream) ended() bool { return int(s.out.Load()) == s.limit }

// streams is a heap by due time.
type streams []*stream

var _ heap.Interface = (*streams)(nil)

func (h streams) Len() int { return len(h) }
func (h streams) Less(i, j int) bool {
	if h[i].due != h[j].due {
		return h[i].due < h[j].due
	}
	return h[i].number < h[j].number
}
func (h streams) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push is for package heap.
func (h *streams) Push(v any) {
	s := v.(*stream)
	s.place = len(*h)
	*h = append(*h, s)
}

// Pop is for package heap.
func (h *streams) Pop() any {
	old := *h
	s := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	s.place = -1
	return s
}
