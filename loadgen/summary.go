package loadgen

import (
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// summarize turns the records of a finished run into a Result. It is pure: the
// control is read, not asked; the samples are put into another order.
func summarize(c *control, samples []sample, s *shard) Result {
	r := Result{
		Kind: c.kind, Concurrency: c.streams, Capped: c.capped, Stopped: c.reason,
		Measured: Outcomes{}, All: Outcomes{},
	}
	for i := range samples {
		m := &samples[i]
		r.All[m.outcome]++
		r.TotalOutputTokens += m.tokens.Completion
		r.TotalPromptTokens += m.tokens.Prompt
		if m.phase == measured {
			r.Measured[m.outcome]++
		}
	}
	own := samples[:first(samples, func(m *sample) bool { return m.phase == measured })]
	if c.warmCapped {
		r.Warnings = append(r.Warnings, "the warm-up was cut at its time limit before two waves had ended: the load may not have been steady")
	}
	if len(own) == 0 {
		return r
	}
	p := partsOf(c, own)
	good := own[:first(own, (*sample).ok)]
	r.WholeRun = estimate(good, s, (*sample).ok)
	r.WholeRun.rate(total(good, outputTokens), float64(len(good)), p.whole)
	r.Window = estimate(good, s, func(m *sample) bool { return m.sent >= p.window.from && m.sent <= p.window.to })
	r.Window.rate(tokensIn(s.bins, p.window), requestsIn(samples, p.window, (*sample).ok), p.window)
	if !p.full {
		r.Window = r.WholeRun // no edge of a window need be cut out of a bin
	}
	r.Goodput = goodput(c, samples, own, s, p)
	r.Series, r.SeriesSeconds = series(s.bins, p.watched)
	r.SeriesStartS = float64(p.watched.from) / (1000 * nsPerMS)
	if c.kind == Steady { // a gate run's burst does as a cold server does
		r.TTFTWavesMS = waves(good, c.streams)
	}
	r.LongestSilenceMS = float64(longestSilence(s.bins, p.watched)) / nsPerMS
	n := float64(max(len(good), 1))
	r.OutputTokensPerRequest = total(good, outputTokens) / n
	r.RequestedOutputTokens = total(good, func(m *sample) int64 { return m.asked }) / n
	r.PromptTokensPerRequest = total(good, func(m *sample) int64 { return m.tokens.Prompt }) / n
	r.RequestedPromptTokens = total(good, func(m *sample) int64 { return m.askedIn }) / n
	told := sorted(good, func(m *sample) int64 { return m.tokens.Cached }, func(m *sample) bool { return m.tokens.CachedTold })
	r.CachedTokensTold, r.CachedTokensPerRequest = int64(len(told)), mean(told)
	r.Health = health(samples, own, s)
	if p.full {
		r.Health.DeliveredConcurrency = meanInFlight(samples, p.window)
		r.Health.DeliveredConcurrencyLow = lowestInFlight(samples, p.window)
		r.Health.LittleResidual = math.Abs(r.Health.DeliveredConcurrency/float64(c.streams) - 1)
		r.Health.LittleMeasured = true
	}
	r.Warnings = append(r.Warnings, oddities(good, s)...)
	return r
}

// first brings the samples that pass to the front and returns how many they
// are.
func first(samples []sample, keep filter) int {
	n := 0
	for i := range samples {
		if keep(&samples[i]) {
			samples[n], samples[i] = samples[i], samples[n]
			n++
		}
	}
	return n
}

// span is a stretch of the run's clock.
type span struct{ from, to int64 }

func (s span) length() int64 { return s.to - s.from }

// overlap is the part of a request inside the span.
func (s span) overlap(m *sample) int64 {
	return max(0, min(s.to, m.end)-max(s.from, m.sent))
}

// parts are the stretches over which a run is judged.
type parts struct {
	window  span // steady load
	whole   span // first send to last byte of the measured requests
	watched span // the measured part: where stalls are looked for
	full    bool // all streams were to be busy throughout the window
}

// partsOf cuts a run. The window of a steady run is its measured part, in
// which the load never sinks because it is topped up. A gate run starts with a
// burst and ends in a hard drain: its window is what lies between the end of
// its first wave and its last send.
func partsOf(c *control, own []sample) parts {
	var p parts
	ends := sorted(own, func(m *sample) int64 { return m.end })
	sends := sorted(own, func(m *sample) int64 { return m.sent })
	p.whole = span{sends[0], ends[len(ends)-1]}
	if c.kind == Steady {
		p.window = span{c.from, max(c.until, c.from)}
		p.watched, p.full = p.window, p.window.length() > 0
		return p
	}
	p.window, p.watched = p.whole, p.whole
	if len(ends) > c.streams {
		if w := (span{ends[c.streams-1], sends[len(sends)-1]}); w.length() > 0 {
			p.window, p.full = w, true
		}
	}
	return p
}

// estimate fills the latencies of those of a set of OK requests that lie where
// they should.
func estimate(good []sample, s *shard, inside filter) Estimate {
	seen := func(m *sample) bool { return m.first != 0 }
	visible := func(m *sample) bool { return m.visible != 0 }
	several := func(m *sample) bool { return m.second != 0 }
	e := Estimate{Requests: int64(len(sorted(good, outputTokens, inside)))}
	ttft := sorted(good, (*sample).ttft, inside, seen)
	e.TTFTMeanMS = mean(ttft) / nsPerMS
	e.TTFTP50MS = float64(quantile(ttft, .5)) / nsPerMS
	e.TTFTP90MS = float64(quantile(ttft, .9)) / nsPerMS
	e.TTFTP99MS = float64(quantile(ttft, .99)) / nsPerMS
	e.TTFTMaxMS = float64(quantile(ttft, 1)) / nsPerMS
	if low, high := binomialRanks(.99, len(ttft)); low > 0 {
		e.TTFTP99LowMS = float64(ttft[low-1]) / nsPerMS
		if high > 0 {
			e.TTFTP99HighMS = float64(ttft[high-1]) / nsPerMS
		}
	}
	e.TTFOMeanMS, e.TTFOP50MS, e.TTFOP99MS = digest(sorted(good, (*sample).ttfo, inside, visible))
	e.TTSTMeanMS, e.TTSTP50MS, e.TTSTP99MS = digest(sorted(good, (*sample).ttst, inside, several))
	e.E2EMeanMS, e.E2EP50MS, e.E2EP99MS = digest(sorted(good, (*sample).e2e, inside, seen))
	e.ITLMeanMS, e.ITLP50MS, e.ITLP99MS = digest(sorted(good, (*sample).itl, inside, (*sample).hasITL))
	if s.gaps.TotalCount() > 0 {
		e.GapP50MS = float64(s.gaps.ValueAtQuantile(50)) / nsPerMS
		e.GapP99MS = float64(s.gaps.ValueAtQuantile(99)) / nsPerMS
	}
	return e
}

// digest is the mean, the median and the 99th percentile in milliseconds.
func digest(sorted []int64) (m, p50, p99 float64) {
	return mean(sorted) / nsPerMS, float64(quantile(sorted, .5)) / nsPerMS, float64(quantile(sorted, .99)) / nsPerMS
}

// rate fills what is divided by time.
func (e *Estimate) rate(tokens, requests float64, over span) {
	if over.length() <= 0 {
		return
	}
	e.Seconds = float64(over.length()) / 1e9
	e.OutputTokens = tokens
	e.OutputTokPerSec = tokens / e.Seconds
	e.RequestsPerSec = requests / e.Seconds
}

func outputTokens(m *sample) int64 { return m.tokens.Completion }

func total(samples []sample, value func(*sample) int64) float64 {
	var n int64
	for i := range samples {
		n += value(&samples[i])
	}
	return float64(n)
}

// requestsIn counts the requests that pass, each with the fraction of it that lies inside:
// whole requests would add the noise of the edges.
func requestsIn(samples []sample, over span, keep filter) float64 {
	n := 0.0
	for i := range samples {
		m := &samples[i]
		if d := m.end - m.sent; keep(m) && d > 0 {
			n += float64(over.overlap(m)) / float64(d)
		}
	}
	return n
}

// oddities warns of what a number alone would hide.
func oddities(good []sample, s *shard) []string {
	var out []string
	blind, bursts := 0, 0
	for i := range good {
		m := &good[i]
		switch {
		case m.first == 0:
			blind++
		case m.tokens.Completion > 16 && m.last-m.first < m.e2e()/100:
			bursts++
		}
	}
	if blind > 0 {
		out = append(out, fmt.Sprintf("%d of %s had no output in any chunk: %s missing from TTFT", blind, plural.Of(len(good), "answer"), plural.Verb(blind, "it is", "they are")))
	}
	if 2*bursts > len(good) {
		out = append(out, fmt.Sprintf("%d of %s came in one burst: something buffers the stream, TTFT and ITL are not the engine's", bursts, plural.Of(len(good), "answer")))
	}
	out = append(out, s.odd.warnings()...)
	if s.clamped > 0 {
		out = append(out, fmt.Sprintf("%d %s counted as one hour", s.clamped, plural.Verb(s.clamped, "gap or lag above one hour was", "gaps or lags above one hour were")))
	}
	return out
}
