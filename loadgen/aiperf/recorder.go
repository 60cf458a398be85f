package aiperf

import (
	"io"
	"sync"

	"github.com/perfsweep/perfsweep/loadgen"
)

// Recorder gathers the requests of one run: a few words each, and nothing a
// token. Its Add is the run's OnRequest.
type Recorder struct {
	mu       sync.Mutex
	warm     phase
	measured phase
	records  *recordWriter // nil without --export-level records
	// giveUp, when set, is called once the share of failed requests is too large.
	giveUp      func()
	failedShare float64
	armed       int64
	GaveUp      bool
}

// phase is the warm-up or the measured part.
type phase struct {
	records []record
	gaps    *gaps
	failed  failures
	bad     int64
}

// NewRecorder makes the recorder of a run. giveUp is called, once, when more
// requests have failed than --failed-request-threshold allows.
func NewRecorder(o *Options, giveUp func()) *Recorder {
	return &Recorder{
		warm:     phase{gaps: newGaps(), failed: failures{}},
		measured: phase{gaps: newGaps(), failed: failures{}},
		giveUp:   giveUp, failedShare: o.FailedShare, armed: int64(max(o.Concurrency, 10)),
	}
}

// Write sends a line for every request to w as well; Flush ends it.
func (c *Recorder) Write(w io.Writer, l Lines) { c.records = newRecordWriter(w, l) }

// Add takes a finished request; streams call it at once.
func (c *Recorder) Add(r loadgen.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &c.measured
	if r.WarmUp {
		p = &c.warm
	}
	p.add(&r)
	if c.records != nil {
		c.records.add(&r)
	}
	total := p.bad + int64(len(p.records))
	if r.WarmUp || c.failedShare < 0 || c.GaveUp || total < c.armed {
		return
	}
	if float64(p.bad) > c.failedShare*float64(total) {
		c.GaveUp = true
		c.giveUp()
	}
}

// Flush writes what is left of the lines.
func (c *Recorder) Flush() error {
	if c.records == nil {
		return nil
	}
	return c.records.flush()
}

func (p *phase) add(r *loadgen.Request) {
	if r.Outcome != loadgen.OK {
		p.bad++
		p.failed.add(failureOf(r.Outcome, r.Error))
		return
	}
	p.records = append(p.records, recordOf(r))
	p.gaps.add(r.Chunks)
}
