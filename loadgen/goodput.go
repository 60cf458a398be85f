package loadgen

import "fmt"

// Objective limits the latency of single requests; 0 is no limit. A request
// that meets every limit is a good one. For percentiles, a TTFT p99 within
// TTFTMS says that 99 of 100 answers were.
type Objective struct {
	TTFTMS float64 `json:"ttft_ms,omitempty"`
	// ITLMS limits Estimate's ITL: the mean over one request, (E2E − TTFT) /
	// (tokens − 1), which others call TPOT. It is no limit on single gaps.
	ITLMS float64 `json:"itl_ms,omitempty"`
}

// maxLimitMS is almost three hours: whatever is above it was not meant.
const maxLimitMS = 1e7

// IsZero reports that nothing is limited.
func (o Objective) IsZero() bool { return o == Objective{} }

// Validate says what is wrong with an objective.
func (o Objective) Validate() error {
	for _, l := range []struct {
		name  string
		limit float64
	}{{"TTFT", o.TTFTMS}, {"ITL", o.ITLMS}} {
		if !(l.limit >= 0 && l.limit <= maxLimitMS) {
			return fmt.Errorf("a limit of %v ms on %s: give a number of milliseconds above 0 and up to %.0f", l.limit, l.name, float64(maxLimitMS))
		}
	}
	return nil
}

// Goodput is the part of a run that met an objective: requests that ended OK
// within every limit, and their output tokens, over the stretch that the run's
// kind stands on (see Result.Estimate). This is the goodput of vLLM's and
// AIPerf's benchmarks; DistServe (Zhong et al., OSDI 2024) calls by that name
// the largest such rate a GPU that a system reaches with most requests, such as
// 90 %, within both limits, which a sweep finds at one of its levels.
type Goodput struct {
	Objective       Objective `json:"objective"`
	RequestsPerSec  float64   `json:"requests_per_s"`
	OutputTokPerSec float64   `json:"output_tok_per_s"`
	// Good counts measured requests that met every limit, of Requests of any
	// outcome. Share is Good by Requests.
	Requests int64   `json:"requests"`
	Good     int64   `json:"good"`
	Share    float64 `json:"share"`
	// Why the others were not: Failed ended otherwise than OK, Unseen had no
	// output in any chunk and so no TTFT; one answer may miss both limits.
	Failed     int64 `json:"failed,omitempty"`
	Unseen     int64 `json:"unseen,omitempty"`
	MissedTTFT int64 `json:"missed_ttft,omitempty"`
	MissedITL  int64 `json:"missed_itl,omitempty"`
	// WithoutITL counts answers of one token: with no second one there is no
	// ITL, so they are judged by TTFT alone.
	WithoutITL int64 `json:"without_itl,omitempty"`
}

// good reports whether a request met every limit.
func (o Objective) good(m *sample) bool {
	return m.ok() && m.first != 0 && !o.missesTTFT(m) && !o.missesITL(m)
}

func (o Objective) missesTTFT(m *sample) bool {
	return o.TTFTMS > 0 && float64(m.ttft())/nsPerMS > o.TTFTMS
}

func (o Objective) missesITL(m *sample) bool {
	return o.ITLMS > 0 && m.hasITL() && float64(m.itl())/nsPerMS > o.ITLMS
}

// goodput judges the measured requests; nil without an objective.
func goodput(c *control, samples, own []sample, s *shard, p parts) *Goodput {
	o := c.objective
	if o.IsZero() {
		return nil
	}
	g := &Goodput{Objective: o, Requests: int64(len(own))}
	tokens := 0.0
	for i := range own {
		m := &own[i]
		switch {
		case !m.ok():
			g.Failed++
			continue
		case m.first == 0:
			g.Unseen++
			continue
		case o.ITLMS > 0 && !m.hasITL():
			g.WithoutITL++
		}
		if o.missesTTFT(m) {
			g.MissedTTFT++
		}
		if o.missesITL(m) {
			g.MissedITL++
		}
		if o.good(m) {
			g.Good++
			tokens += float64(m.tokens.Completion)
		}
	}
	g.Share = float64(g.Good) / float64(max(g.Requests, 1))
	requests, over := float64(g.Good), p.whole
	if c.kind == Steady && p.full {
		tokens, requests, over = sumIn(s.bins, p.window, goodTokens), requestsIn(samples, p.window, o.good), p.window
	}
	if over.length() > 0 {
		seconds := float64(over.length()) / 1e9
		g.RequestsPerSec, g.OutputTokPerSec = requests/seconds, tokens/seconds
	}
	return g
}
