package loadgen

import (
	"sync"
	"sync/atomic"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// binWidth is the resolution of tokens over time. A window's edges cut a
	// bin in proportion.
	binWidth = int64(10e6)
	// Histograms hold nanoseconds from about 1 µs to an hour with 3 digits.
	histLowest, histHighest, histDigits = 1000, int64(3600e9), 3
	maxShards                           = 8
)

// bin is what arrived on all streams within one slice of time.
type bin struct {
	tokens      float64 // of OK requests, apportioned over their chunks
	good        float64 // those of them that met the objective
	first, last int64   // arrivals of any token-bearing chunk; 0 = none
}

// shard collects from its workers, once a request: nothing is shared, locked
// or allocated a token.
type shard struct {
	mu      sync.Mutex
	gaps    *hdr.Histogram // between token-bearing chunks of measured OK requests
	lags    *hdr.Histogram // user minus kernel time of measured requests' reads
	maxLag  int64
	clamped int64 // values above the histograms' range
	bins    []bin
	events  int64
	reads   int64
	kernel  int64
	odd     notes
	// objective sorts the tokens of good requests out.
	objective Objective
	// lastToken is read by the watch for silence while requests run.
	lastToken atomic.Int64
}

func newShard() *shard {
	return &shard{
		gaps: hdr.New(histLowest, histHighest, histDigits),
		lags: hdr.New(histLowest, histHighest, histDigits),
	}
}

// add takes one finished request.
func (s *shard) add(e *exchange, m *sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spread(e.script.times, m)
	s.odd.add(e.script.notes(m.outcome))
	if m.phase != measured {
		return
	}
	s.events += e.script.events
	s.reads += e.eventReads
	s.kernel += e.stampedReads
	for _, lag := range e.lags {
		s.record(s.lags, lag)
		s.maxLag = max(s.maxLag, lag)
	}
	if m.ok() {
		for i := 1; i < len(e.script.times); i++ {
			s.record(s.gaps, e.script.times[i]-e.script.times[i-1])
		}
	}
}

func (s *shard) record(h *hdr.Histogram, v int64) {
	if h.RecordValue(v) != nil {
		s.clamped++
		_ = h.RecordValue(histHighest) // inside the range by construction
	}
}

// spread puts a request's tokens where its chunks arrived, in equal parts: a
// chunk's own count is not told. Tokens without a visible chunk arrived by the
// end of the answer.
func (s *shard) spread(times []int64, m *sample) {
	if len(times) == 0 {
		if m.ok() {
			s.at(m.end).tokens += float64(m.tokens.Completion)
		}
		return
	}
	share, good := 0.0, 0.0
	if m.ok() {
		share = float64(m.tokens.Completion) / float64(len(times))
		if !s.objective.IsZero() && s.objective.good(m) {
			good = share
		}
	}
	for _, t := range times {
		b := s.at(t)
		b.tokens += share
		b.good += good
		if b.first == 0 || t < b.first {
			b.first = t
		}
		b.last = max(b.last, t)
	}
}

func (s *shard) at(t int64) *bin {
	i := int(max(t, 0) / binWidth)
	for i >= len(s.bins) {
		s.bins = append(s.bins, bin{})
	}
	return &s.bins[i]
}

// merge adds another shard's content to s.
func (s *shard) merge(o *shard) {
	s.clamped += o.clamped + s.gaps.Merge(o.gaps) + s.lags.Merge(o.lags)
	s.maxLag = max(s.maxLag, o.maxLag)
	s.events += o.events
	s.reads += o.reads
	s.kernel += o.kernel
	s.odd.add(o.odd)
	for i, b := range o.bins {
		mine := s.at(int64(i) * binWidth)
		mine.tokens += b.tokens
		mine.good += b.good
		if b.first != 0 && (mine.first == 0 || b.first < mine.first) {
			mine.first = b.first
		}
		mine.last = max(mine.last, b.last)
	}
}
