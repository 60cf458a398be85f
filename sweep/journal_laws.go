package sweep

import (
	"fmt"
	"math"
	"strconv"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
)

// What a run computed from the same numbers agrees to rounding; what it summed up
// over the same bins, in another order, to this.
const (
	roundingShare = 1e-6
	seriesShare   = 0.01
	// The whole part of a gate run has an edge inside a bin at both ends, and
	// answers that failed have tokens in its series.
	gateSeriesShare = 0.5
)

// agree reports whether two numbers are one, but for rounding. One that is absent
// contradicts nothing. A product that a caller hands in is rounded first, or the
// difference would depend on the architecture.
func agree(a, b float64) bool {
	return a == 0 || b == 0 || math.Abs(float64(a)-float64(b)) <= float64(roundingShare*max(math.Abs(a), math.Abs(b)))
}

// lawful refuses a result whose own numbers contradict each other: no run
// measures them, however it was cut, drained or merged. Numbers that are absent
// contradict nothing; the run gates look at what is missing.
func lawful(r Run) error {
	res := &r.Result
	for _, e := range []struct {
		name string
		*loadgen.Estimate
	}{{"window", &res.Window}, {"whole run", &res.WholeRun}} {
		if err := ordered(e.Estimate); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		if got := e.OutputTokPerSec * e.Seconds; e.Seconds > 0 && !agree(got, e.OutputTokens) {
			return fmt.Errorf("%s: %v output tokens in %v s are not %v a second", e.name, e.OutputTokens, e.Seconds, e.OutputTokPerSec)
		}
	}
	w := &res.WholeRun
	switch ok := res.Measured[loadgen.OK]; {
	case !agree(w.RequestsPerSec*w.Seconds, float64(w.Requests)):
		return fmt.Errorf("whole run: %s in %v s %s not %v a second", plural.Of(w.Requests, "request"), w.Seconds, plural.Verb(w.Requests, "is", "are"), w.RequestsPerSec)
	case !agree(res.OutputTokensPerRequest*float64(w.Requests), w.OutputTokens):
		return fmt.Errorf("whole run: %s of %v output tokens %s not %v tokens", plural.Of(w.Requests, "request"), res.OutputTokensPerRequest, plural.Verb(w.Requests, "is", "are"), w.OutputTokens)
	case len(res.Measured) > 0 && w.Requests > 0 && ok != w.Requests:
		return fmt.Errorf("%s ended well, the whole run counts %d", plural.Of(ok, "measured request"), w.Requests)
	case !res.Started.IsZero() && !res.Ended.IsZero() && res.Ended.Before(res.Started):
		return fmt.Errorf("its result ended before it started")
	case !res.Started.IsZero() && !r.Started.IsZero() && !res.Started.Equal(r.Started):
		return fmt.Errorf("its result is of another time than the run")
	}
	if err := lawfulSeries(res); err != nil {
		return err
	}
	return lawfulLoad(res)
}

// ordered holds the latencies of one sample against each other: percentiles
// ascend, and no answer ends before it begins.
func ordered(e *loadgen.Estimate) error {
	type named struct {
		name string
		ms   float64
	}
	for _, chain := range [][]named{
		{{"TTFT p50", e.TTFTP50MS}, {"TTFT p90", e.TTFTP90MS}, {"TTFT p99", e.TTFTP99MS}, {"TTFT p99 high", e.TTFTP99HighMS}, {"TTFT max", e.TTFTMaxMS}},
		{{"TTFT p99 low", e.TTFTP99LowMS}, {"TTFT p99", e.TTFTP99MS}},
		{{"TTFT mean", e.TTFTMeanMS}, {"TTFT max", e.TTFTMaxMS}},
		{{"TTFO p50", e.TTFOP50MS}, {"TTFO p99", e.TTFOP99MS}},
		{{"TTST p50", e.TTSTP50MS}, {"TTST p99", e.TTSTP99MS}},
		{{"ITL p50", e.ITLP50MS}, {"ITL p99", e.ITLP99MS}},
		{{"gap p50", e.GapP50MS}, {"gap p99", e.GapP99MS}},
		{{"TTFT p50", e.TTFTP50MS}, {"E2E p50", e.E2EP50MS}, {"E2E p99", e.E2EP99MS}},
		{{"TTFT p99", e.TTFTP99MS}, {"E2E p99", e.E2EP99MS}},
		{{"TTFT mean", e.TTFTMeanMS}, {"E2E mean", e.E2EMeanMS}},
	} {
		var before named
		for _, next := range chain {
			switch {
			case next.ms == 0: // absent
				continue
			case before.ms > next.ms*(1+roundingShare):
				return fmt.Errorf("%s of %v ms is above %s of %v ms", before.name, before.ms, next.name, next.ms)
			}
			before = next
		}
	}
	return nil
}

// lawfulSeries holds the windows, of which V5 and V6 judge, against the rate.
func lawfulSeries(res *loadgen.Result) error {
	if len(res.Series) == 0 {
		return nil
	}
	sum, e := 0.0, res.Estimate()
	for _, tokens := range res.Series {
		sum += tokens
	}
	switch short := e.OutputTokens - sum; {
	case sum == 0 && e.OutputTokPerSec > 0:
		return fmt.Errorf("no token in any window of its series, and %v a second in all", e.OutputTokPerSec)
	case res.Kind == loadgen.Gate && short > gateSeriesShare*e.OutputTokens,
		res.Kind != loadgen.Gate && e.OutputTokens > 0 && math.Abs(short) > seriesShare*e.OutputTokens:
		return fmt.Errorf("%v tokens in the windows of its series, and %v in all", sum, e.OutputTokens)
	case !agree(res.SeriesSeconds*float64(len(res.Series)), e.Seconds):
		return fmt.Errorf("%s of %v s %s not the %v s measured", plural.Of(len(res.Series), "window"), res.SeriesSeconds, plural.Verb(len(res.Series), "is", "are"), e.Seconds)
	}
	return nil
}

// lawfulLoad holds what is told of the load against the streams that made it.
func lawfulLoad(res *loadgen.Result) error {
	h, n := res.Health, float64(res.Concurrency)
	switch {
	case n > 0 && h.DeliveredConcurrency > n*(1+roundingShare):
		return fmt.Errorf("%v requests in flight on %s", h.DeliveredConcurrency, plural.Of(res.Concurrency, "stream"))
	case h.DeliveredConcurrency > 0 && h.DeliveredConcurrencyLow > h.DeliveredConcurrency*(1+roundingShare):
		return fmt.Errorf("%v requests in flight at the least and %v in the mean", h.DeliveredConcurrencyLow, h.DeliveredConcurrency)
	}
	for o, n := range res.Measured {
		if all, told := res.All[o]; told && all < n {
			return fmt.Errorf("%s of outcome %.40q in all, and %d measured", plural.Of(all, "request"), o, n)
		}
	}
	return nil
}

// labelWorkers is the label that states the workers of a deployment.
const labelWorkers = "workers"

// lawfulWorkers refuses a count of workers that its own list, or the campaign's
// label, contradicts.
func lawfulWorkers(w *Workers, labels map[string]string) error {
	if w == nil {
		return nil
	}
	if stated, err := strconv.Atoi(labels[labelWorkers]); err == nil && stated > 0 && w.Expected != stated {
		return fmt.Errorf("%s expected, and the campaign's label says workers=%d", plural.Of(w.Expected, "worker"), stated)
	}
	for _, roll := range []Roll{w.Before, w.After} {
		ids := map[string]bool{}
		for _, id := range roll.IDs {
			ids[id] = true
		}
		if roll.Unread == "" && len(ids) != roll.Ready || len(ids) != len(roll.IDs) {
			return fmt.Errorf("%s ready, and %s of %s", plural.Of(roll.Ready, "worker"), plural.Of(len(roll.IDs), "id"), plural.Of(len(ids), "worker"))
		}
	}
	return nil
}
