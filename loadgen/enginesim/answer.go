package enginesim

import (
	"net/http"
	"time"
)

// answering carries one accepted request to its end.
type answering struct {
	sim     *Sim
	w       http.ResponseWriter
	r       *http.Request
	job     *stream
	writer  *writer
	arrived time.Time
	sent    int
}

// stream writes chunks as the engine hands them out. The status and headers go
// at once: they say that the request was taken, not that it is served.
func (a *answering) stream() {
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.w.Header().Set("Cache-Control", "no-cache")
	a.w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(a.w)
	if flush.Flush() != nil {
		a.gone()
		return
	}
	for a.sent < a.job.limit {
		if !a.wait() {
			a.gone()
			return
		}
		fresh := a.chunks()
		if a.sent == a.job.limit {
			a.ending()
			a.finished(fresh)
		} else {
			a.sim.engine.note(func(c *Counters) { c.OutputTokens += fresh })
		}
		_, err := a.w.Write(a.writer.take())
		if err == nil {
			err = flush.Flush()
		}
		if err != nil && a.sent < a.job.limit {
			a.gone()
			return
		}
	}
	if a.job.end == truncated {
		// net/http's own way to cut a connection without a last chunk.
		panic(http.ErrAbortHandler)
	}
}

// wait blocks until tokens are out that were not sent; false when the client
// or the engine is gone first.
func (a *answering) wait() bool {
	select {
	case <-a.job.moved:
		return true
	case <-a.r.Context().Done():
	case <-a.sim.done:
	}
	return false
}

// chunks writes every chunk that is out and returns the number of its tokens.
func (a *answering) chunks() int64 {
	from, out := a.sent, int(a.job.out.Load())
	if from == 0 && out > 0 {
		a.sim.stats.firstToken(time.Since(a.arrived), a.job.held)
	}
	for a.sent < out {
		next := a.job.chunkEnd(a.sent, a.sim.p.Chunk)
		a.writer.chunk(a.sent, next)
		a.sent = next
	}
	return int64(out - from)
}

func (a *answering) ending() {
	switch a.job.end {
	case complete:
		a.writer.finish(a.sent)
	case inBand:
		a.writer.broken()
	case truncated: // nothing: the stream just stops
	}
}

// whole answers in one piece.
func (a *answering) whole() {
	for a.sent < a.job.limit {
		if !a.wait() {
			a.gone()
			return
		}
		out := int(a.job.out.Load())
		if a.sent == 0 && out > 0 {
			a.sim.stats.firstToken(time.Since(a.arrived), a.job.held)
		}
		fresh := int64(out - a.sent)
		a.sent = out
		if out == a.job.limit {
			a.finished(fresh)
		} else {
			a.sim.engine.note(func(c *Counters) { c.OutputTokens += fresh })
		}
	}
	switch a.job.end {
	case truncated:
		panic(http.ErrAbortHandler)
	case inBand:
		answer(a.w, http.StatusServiceUnavailable, &refusal{
			Message: "Service temporarily unavailable", Type: "Service Unavailable", Code: http.StatusServiceUnavailable})
	case complete:
		a.writer.whole(a.sent)
		a.w.Header().Set("Content-Type", "application/json")
		_, _ = a.w.Write(a.writer.take()) // a client that has gone is no news
	}
}

// finished books the end before the last bytes go out, so that a client that
// has read them finds every token of its own in the counters.
func (a *answering) finished(fresh int64) {
	a.sim.engine.note(func(c *Counters) {
		c.OutputTokens += fresh
		switch a.job.end {
		case complete:
			c.Completed++
		case truncated:
			c.Truncated++
		case inBand:
			c.InBand++
		}
	})
	a.sim.stats.ended(a.writer.o, a.job, time.Since(a.arrived))
}

// gone ends a request whose client left, or whose engine closed.
func (a *answering) gone() {
	a.sim.engine.leave(a.job)
	a.sim.engine.note(func(c *Counters) { c.Cancelled++ })
	a.sim.stats.cancelled(a.writer.o)
	if a.r.Context().Err() == nil {
		// The engine closed: returning would end the stream as if it were whole.
		panic(http.ErrAbortHandler)
	}
}
