package sweep

import (
	"math"
	"time"

	"github.com/perfsweep/perfsweep/internal/exact"
)

// foresight makes runs that have not been made.
type foresight struct {
	plan Plan
	gpus int
	seen *view
	last map[slot]Run
	took map[slot][]float64 // seconds
	// tokens is output tokens a request, e2e the latency without load in
	// seconds, overhead what a run takes beside what it must.
	tokens, e2e, overhead float64
}

func newForesight(c Curve) *foresight {
	f := &foresight{
		plan: c.Plan, gpus: max(c.Fingerprint.GPUs, 1), e2e: c.Preflight.E2EMS / 1000,
		seen: viewOf(c.Runs), last: map[slot]Run{}, took: map[slot][]float64{},
	}
	var tokens, over []float64
	for _, r := range c.Runs {
		at := slot{r.Step.ConcurrencyPerGPU, r.Step.Kind}
		f.last[at] = r
		f.took[at] = append(f.took[at], length(r).Seconds())
		if e := r.Result.Estimate(); e.Requests > 0 {
			tokens = append(tokens, e.OutputTokens/float64(e.Requests))
		}
	}
	f.tokens = Median(tokens)
	for _, r := range c.Runs {
		over = append(over, length(r).Seconds()-f.asked(r.Step))
	}
	f.overhead = max(Median(over), 0)
	return f
}

// run is the run of a step as it is to be expected. A level that was found
// overloaded is so again; every other run is valid.
func (f *foresight) run(s Step, seq int) Run {
	r := Run{Seq: seq, Step: s, Window: f.plan.Window}
	at := slot{s.ConcurrencyPerGPU, s.Kind}
	if old, ok := f.last[at]; ok && overloaded(old) {
		r.Result, r.Violations = old.Result, old.Violations
	} else {
		e := &r.Result.Window
		e.Requests = P99Requests
		e.OutputTokPerSec = f.at(s.ConcurrencyPerGPU, f.seen.x, 1, 0)
		e.TTFTP50MS = f.at(s.ConcurrencyPerGPU, f.seen.ttft50, 0, queueing)
		e.TTFTP99MS = f.at(s.ConcurrencyPerGPU, f.seen.ttft99, 0, queueing)
		r.Result.WholeRun = *e
	}
	r.Result.Kind, r.Result.Concurrency = s.Kind, s.ConcurrencyPerGPU*f.gpus
	r.Result.Started = time.Time{}
	r.Result.Ended = r.Result.Started.Add(f.length(s))
	return r
}

// The curve above the highest level, of which nothing is known: it ends where
// knees of a GPU usually lie, or half an octave on where it has not ended by
// then. From there on requests queue, and TTFT grows by a power of the load.
const (
	usualKnee = 64
	endsAt    = math.Sqrt2
	queueing  = 3
)

// at is a metric at n: as measured, between measured levels on a line in
// log-log, below them by the slope of the lowest two (least if there is only
// one), and above them so until the end of the curve, then by the slope past.
func (f *foresight) at(n int, metric func(int) float64, least, past float64) float64 {
	var known []int
	for _, q := range f.seen.levels() {
		if metric(q) > 0 {
			known = append(known, q)
		}
	}
	if len(known) == 0 { // in units of one request alone
		end := min(float64(n), usualKnee)
		return exact.Pow(end, least) * exact.Pow(float64(n)/end, past)
	}
	i := 0 // the segment from known[i] to known[i+1] is the nearest
	for i+2 < len(known) && known[i+1] < n {
		i++
	}
	slope, top := least, known[len(known)-1]
	if len(known) > 1 {
		slope = exact.Log(metric(known[i+1])/metric(known[i])) / exact.Log(float64(known[i+1])/float64(known[i]))
	}
	to := min(float64(n), max(endsAt*float64(top), usualKnee))
	if n > top { // beyond what was measured no curve falls or rises faster than load
		slope = min(max(slope, 0), 1)
		i = len(known) - 1
	}
	return metric(known[i]) * exact.Pow(to/float64(known[i]), slope) * exact.Pow(float64(n)/to, past)
}

// length is how long a run of a step takes: as before at its level, else what
// it must and what runs took beside that.
func (f *foresight) length(s Step) time.Duration {
	if took := f.took[slot{s.ConcurrencyPerGPU, s.Kind}]; len(took) > 0 {
		return seconds(Median(took))
	}
	return seconds(f.asked(s) + f.overhead)
}

// asked is the seconds that a step must take.
func (f *foresight) asked(s Step) float64 {
	n := s.ConcurrencyPerGPU * f.gpus
	perSec := 0.0 // requests
	switch x := f.at(s.ConcurrencyPerGPU, f.seen.x, 1, 0); {
	case f.tokens > 0 && len(f.seen.valid) > 0:
		perSec = x / f.tokens
	case f.e2e > 0:
		perSec = x * float64(f.gpus) / f.e2e // x is in requests alone, per GPU
	}
	l := f.plan.Effort.Limits(s, n, seconds(f.e2e))
	measured, waves := l.MinDuration.Seconds(), 0.0
	if perSec > 0 {
		const settleAndDrain = 2 // waves of requests beside the measured part
		measured, waves = max(measured, float64(l.MinRequests)/perSec), settleAndDrain*float64(n)/perSec
	}
	return l.Ramp.Seconds() + waves + min(measured, l.MaxDuration.Seconds())
}

func seconds(s float64) time.Duration {
	return time.Duration(min(max(s, 0), math.MaxInt64/2/float64(time.Second)) * float64(time.Second))
}
