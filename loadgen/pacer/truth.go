package pacer

import (
	"math"
	"slices"
)

// Truth is what the server saw, from its own clock and the kernel's receive
// times. Percentiles are nearest ranks.
type Truth struct {
	Requests    int   `json:"requests"` // that have ended
	Whole       int   `json:"whole"`    // answered to the end
	Connections int64 `json:"connections"`
	Tokens      int64 `json:"output_tokens"`
	// KernelTime says that requests are timed by the kernel's receive time.
	KernelTime bool `json:"kernel_time"`
	// First request received to last token written, on the wall clock too.
	FirstRequestUnixNS int64   `json:"first_request_unix_ns"`
	LastTokenUnixNS    int64   `json:"last_token_unix_ns"`
	Seconds            float64 `json:"duration_s"`
	TokPerSec          float64 `json:"output_tok_per_s"`
	// InFlightMax is the largest number of requests between receipt and last
	// write at any time; InFlightMean is over the time from when it was first
	// reached to the last receipt.
	InFlightMax  int     `json:"in_flight_max"`
	InFlightMean float64 `json:"in_flight_mean"`
	TTFTP50MS    float64 `json:"ttft_p50_ms"`
	TTFTP99MS    float64 `json:"ttft_p99_ms"`
	// Late is how far behind their times tokens were written: the server's own
	// failing, over all requests.
	LateP50MS float64 `json:"late_p50_ms"`
	LateP99MS float64 `json:"late_p99_ms"`
	LateMaxMS float64 `json:"late_max_ms"`
}

// Truth reports on the requests that have ended, leaving out the first skip in
// the order of arrival, such as a warm-up. A record is filed just after the
// last write: only after Close is none missing.
func (s *Server) Truth(skip int) Truth {
	var late lateness
	for _, sh := range s.shards {
		sh.mu.Lock()
		late.merge(&sh.late)
		sh.mu.Unlock()
	}
	s.mu.Lock()
	records := slices.Clone(s.records)
	t := Truth{Connections: s.conns, KernelTime: kernelTimes}
	s.mu.Unlock()
	slices.SortFunc(records, func(a, b record) int { return int(a.received - b.received) })
	t.sum(records[min(max(skip, 0), len(records)):])
	if t.Requests > 0 {
		wall := s.start.UnixNano()
		t.FirstRequestUnixNS += wall
		t.LastTokenUnixNS += wall
	}
	t.LateP50MS, t.LateP99MS, t.LateMaxMS = late.quantile(.5).Seconds()*1e3, late.quantile(.99).Seconds()*1e3, float64(late.max)/1e6
	return t
}

// sum fills in what follows from records in the order of arrival.
func (t *Truth) sum(records []record) {
	t.Requests = len(records)
	if len(records) == 0 {
		return
	}
	var ttft []int64
	from, to := records[0].received, int64(math.MinInt64)
	for _, r := range records {
		t.Tokens += r.tokens
		if r.whole {
			t.Whole++
		}
		if r.tokens > 0 {
			ttft = append(ttft, r.first-r.received)
			to = max(to, r.last)
		}
	}
	t.FirstRequestUnixNS, t.LastTokenUnixNS = from, max(from, to)
	if to > from {
		t.Seconds = float64(to-from) / 1e9
		t.TokPerSec = float64(t.Tokens) / t.Seconds
	}
	slices.Sort(ttft)
	t.TTFTP50MS, t.TTFTP99MS = nearest(ttft, .5)/1e6, nearest(ttft, .99)/1e6
	t.InFlightMax, t.InFlightMean = inFlight(records)
}

func nearest(sorted []int64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)])
}

// inFlight walks through arrivals and ends. At equal times an end comes first:
// the next request of the stream is not a second one.
func inFlight(records []record) (most int, mean float64) {
	ends := make([]int64, 0, len(records))
	for _, r := range records {
		ends = append(ends, max(r.last, r.received))
	}
	slices.Sort(ends)
	type moment struct {
		at int64
		n  int
	}
	var moments []moment
	n, e, full := 0, 0, 0
	for _, r := range records {
		for e < len(ends) && ends[e] <= r.received && n > 0 {
			n--
			moments = append(moments, moment{ends[e], n})
			e++
		}
		n++
		moments = append(moments, moment{r.received, n})
		if n > most {
			most, full = n, len(moments)-1
		}
	}
	busy, last := 0.0, moments[len(moments)-1].at
	for i := full; i+1 < len(moments); i++ {
		busy += float64(moments[i].n) * float64(moments[i+1].at-moments[i].at)
	}
	if span := last - moments[full].at; span > 0 {
		return most, busy / float64(span)
	}
	return most, float64(most)
}
