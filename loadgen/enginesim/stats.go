package enginesim

import (
	"net/http"
	"sync"
	"time"
)

// request classes as the frontend's counters label them.
type class struct {
	endpoint, kind, status, errorType string
}

// stats is what only the metrics page shows; the truth is in Counters.
type stats struct {
	mu           sync.Mutex
	accepted     map[class]int64 // status and errorType empty
	done         map[class]int64
	disconnected int64
	ttft         histogram // seconds
	duration     histogram // seconds
	input        histogram // tokens
	output       histogram // tokens
	// Seconds that requests spent on their way to a worker.
	preprocess, send sums
}

func newStats() *stats {
	// The frontend's own bucket bounds, as version 1.6.1 exports them.
	seconds := []float64{0, 0.0022, 0.0047, 0.01, 0.022, 0.047, 0.1, 0.22, 0.47, 1, 2.2, 4.7, 10, 22, 48, 100, 220, 480}
	tokens := []float64{0, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000}
	return &stats{
		accepted: map[class]int64{}, done: map[class]int64{},
		ttft: newHistogram(seconds), duration: newHistogram(seconds),
		input: newHistogram(tokens), output: newHistogram(tokens),
	}
}

func classOf(o order) class {
	c := class{endpoint: "completions", kind: "unary"}
	if o.chat {
		c.endpoint = "chat_completions"
	}
	if o.stream {
		c.kind = "stream"
	}
	return c
}

func (s *stats) started(o order) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accepted[classOf(o)]++
	s.input.observe(float64(o.prompt))
}

// firstToken books a request's way to its first token, of which it was held in
// the frontend for some seconds.
func (s *stats) firstToken(after time.Duration, held float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ttft.observe(after.Seconds())
	s.preprocess.add(idlePreprocessS + held/2)
	s.send.add(idleSendS + held/2)
}

func (s *stats) ended(o order, job *stream, after time.Duration) {
	c := classOf(o)
	c.status = "success"
	if job.end != complete {
		c.status, c.errorType = "error", "internal"
	}
	s.end(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.duration.observe(after.Seconds())
	s.output.observe(float64(job.limit))
}

func (s *stats) cancelled(o order) {
	c := classOf(o)
	c.status, c.errorType = "error", "cancelled"
	s.end(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disconnected++
}

func (s *stats) refused(o order, code int) {
	c := classOf(o)
	c.status = "error"
	switch code {
	case http.StatusNotFound:
		c.errorType = "not_found"
	case statusOverloaded:
		c.errorType = "overload"
	default:
		c.errorType = "validation"
	}
	s.end(c)
}

func (s *stats) end(c class) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[c]++
}

// histogram counts as Prometheus does.
type histogram struct {
	bounds []float64
	counts []int64 // the last one is +Inf
	sum    float64
}

func newHistogram(bounds []float64) histogram {
	return histogram{bounds: bounds, counts: make([]int64, len(bounds)+1)}
}

func (h *histogram) observe(v float64) {
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.counts[i]++
	h.sum += v
}
