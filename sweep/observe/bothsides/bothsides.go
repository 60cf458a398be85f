// Package bothsides joins what the load generator and the servers say of one run.
package bothsides

import (
	"fmt"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// Span sums up what was read while a run was measured, events included; ok is
// false where nothing was measured.
func Span(read []observe.Snapshot, r loadgen.Result) (span observe.Span, ok bool) {
	from := r.Started.Add(time.Duration(r.SeriesStartS * float64(time.Second)))
	to := from.Add(time.Duration(float64(len(r.Series)) * r.SeriesSeconds * float64(time.Second)))
	if !to.After(from) {
		return observe.Span{}, false
	}
	span = observe.Summarize(read, from, to)
	span.Events = observe.Events(from, read, span, Client(r, nil))
	return span, true
}

// Client is what the load generator knows of a run, which failed some gates.
func Client(r loadgen.Result, failed []sweep.Violation) observe.Client {
	e := r.Estimate()
	c := observe.Client{
		Streams: r.Concurrency, InFlight: r.Health.DeliveredConcurrency,
		OK: r.Measured[loadgen.OK], Shed: r.Measured[loadgen.Shed], Other: r.Measured.Bad() - r.Measured[loadgen.Shed],
		OutputTokPerSec: e.OutputTokPerSec, TTFTP50MS: e.TTFTP50MS, ITLMeanMS: e.ITLMeanMS, GapP50MS: e.GapP50MS,
		Series: r.Series, SeriesS: r.SeriesSeconds, LongestSilenceMS: r.LongestSilenceMS,
		LagP99MS: r.Health.LagP99MS, RunQueueShare: r.Health.RunQueueShare,
	}
	for _, s := range r.Suspended {
		c.Suspended = append(c.Suspended, observe.Suspension{StartS: s.StartS - r.SeriesStartS, LengthS: s.LengthS})
	}
	for _, v := range failed {
		// After a failure a stream pauses, which fails V3 and is not this tool's limit.
		if v.Gate == "V8" || v.Gate == "V3" && r.Measured.Bad() == 0 {
			c.ClientBound, c.ClientWhy = true, fmt.Sprintf("%s: %s (limit %s)", v.Gate, v.Observed, v.Threshold)
		}
	}
	return c
}
