package aiperf

import "math"

// metric is one line of a summary: record metrics have stats, the others a
// single value.
type metric struct {
	tag, header, unit string
	value             float64
	stats             *stats
}

// metrics are those of one phase, in AIPerf's order; what has no value is
// absent.
func (p *phase) metrics(slos []SLO) []metric {
	var out []metric
	for _, m := range recordMetrics() {
		if s := p.describe(&m); s.count > 0 {
			out = append(out, metric{tag: m.tag, header: m.header, unit: m.unit, stats: &s})
		}
		if m.tag == "output_token_count" && p.gaps.n > 0 {
			s := p.gaps.stats()
			out = append(out, metric{tag: "inter_chunk_latency", header: "Inter Chunk Latency", unit: unitMS, stats: &s})
		}
	}
	return append(append(out, p.totals()...), p.counts(slos)...)
}

func (p *phase) describe(m *recordMetric) stats {
	values := make([]float64, 0, len(p.records))
	for i := range p.records {
		if v, ok := m.value(&p.records[i]); ok && !math.IsInf(v, 0) && !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return describe(values)
}

// total is the sum of a metric over all records.
func (p *phase) total(n func(*record) int64) float64 {
	var sum int64
	for i := range p.records {
		sum += n(&p.records[i])
	}
	return float64(sum)
}

// seconds is AIPerf's duration of a phase: from the first request sent to the
// last token of any OK request.
func (p *phase) seconds() float64 {
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range p.records {
		if r := &p.records[i]; r.last > 0 {
			from, to = min(from, r.sent), max(to, r.last)
		}
	}
	return max(0, float64(to)-float64(from)) / 1e9
}

// totals are sums of tokens, and rates over the whole phase.
func (p *phase) totals() []metric {
	if len(p.records) == 0 {
		return nil
	}
	out, in := p.total(output), p.total(prompt)
	sums := []metric{
		{tag: "total_osl", header: "Total Output Sequence Length", unit: unitTokens, value: out},
		{tag: "total_output_tokens", header: "Total Output Tokens", unit: unitTokens, value: out - p.total(func(r *record) int64 { return r.reasoning })},
		{tag: "total_reasoning_tokens", header: "Total Reasoning Tokens", unit: unitTokens, value: p.total(func(r *record) int64 { return r.reasoning })},
		{tag: "total_isl", header: "Total Input Sequence Length", unit: unitTokens, value: in},
		{tag: "total_usage_completion_tokens", header: "Total Usage Completion Tokens", unit: unitTokens, value: out},
		{tag: "total_usage_prompt_tokens", header: "Total Usage Prompt Tokens", unit: unitTokens, value: in},
		{tag: "total_usage_total_tokens", header: "Total Usage Total Tokens", unit: unitTokens, value: in + out},
	}
	if s := p.seconds(); s > 0 {
		sums = append(sums,
			metric{tag: "benchmark_duration", header: "Benchmark Duration", unit: "sec", value: s},
			metric{tag: "request_throughput", header: "Request Throughput", unit: "requests/sec", value: float64(len(p.records)) / s},
			metric{tag: "output_token_throughput", header: "Output Token Throughput", unit: "tokens/sec", value: out / s},
			metric{tag: "input_token_throughput", header: "Input Token Throughput", unit: "tokens/sec", value: in / s},
			metric{tag: "total_token_throughput", header: "Total Token Throughput", unit: "tokens/sec", value: (in + out) / s},
		)
	}
	// A server that reports none has none to sum.
	known := sums[:0]
	for _, m := range sums {
		if m.value > 0 {
			known = append(known, m)
		}
	}
	return known
}

// counts are numbers of requests.
func (p *phase) counts(slos []SLO) []metric {
	good, bad := int64(len(p.records)), p.bad
	if good+bad == 0 {
		return nil
	}
	var out []metric
	count := func(tag, header string, n int64) {
		out = append(out, metric{tag: tag, header: header, unit: "requests", value: float64(n)})
	}
	if good > 0 {
		count("request_count", "Request Count", good)
		var off int64
		for i := range p.records {
			if mismatched(&p.records[i]) {
				off++
			}
		}
		count("osl_mismatch_count", "OSL Mismatch Count", off)
	}
	if bad > 0 {
		count("error_request_count", "Error Request Count", bad)
	}
	count("completed_request_count", "Completed Requests (Success + Error)", good+bad)
	out = append(out, metric{tag: "request_error_rate", header: "Request Error Rate", unit: "%", value: 100 * float64(bad) / float64(good+bad)})
	if len(slos) > 0 && good > 0 {
		out = append(out, p.goodput(slos)...)
	}
	return out
}

// goodput counts requests that keep every bound.
func (p *phase) goodput(slos []SLO) []metric {
	var kept int64
	bounds := make([]*recordMetric, len(slos))
	for i, slo := range slos {
		bounds[i] = recordMetricOf(slo.Tag)
	}
	for i := range p.records {
		if keeps(&p.records[i], slos, bounds) {
			kept++
		}
	}
	n := float64(kept)
	out := []metric{
		{tag: "good_request_count", header: "Good Request Count", unit: "requests", value: n},
		{tag: "good_request_fraction", header: "GoodRequestFraction", unit: "ratio", value: n / float64(int64(len(p.records))+p.bad)},
	}
	if s := p.seconds(); s > 0 {
		out = append(out, metric{tag: "goodput", header: "Goodput", unit: "requests/sec", value: n / s})
	}
	return out
}

// keeps reports that a request has every metric within its bound: rates and
// counts of tokens at least, times at most.
func keeps(r *record, slos []SLO, metrics []*recordMetric) bool {
	for i, m := range metrics {
		v, ok := m.value(r)
		larger := m.unit == unitUser || m.unit == unitTokens
		if !ok || larger && v < slos[i].Value || !larger && v > slos[i].Value {
			return false
		}
	}
	return true
}
