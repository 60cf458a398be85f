package aiperf

import "math"

// recordMetric is a metric of single requests under AIPerf's name.
type recordMetric struct {
	tag, header, unit string
	// value is the metric of an OK request; without ok it has none.
	value func(*record) (v float64, ok bool)
	// summaryOnly metrics are not in the records.
	summaryOnly bool
}

const (
	unitMS     = "ms"
	unitTokens = "tokens"
	unitUser   = "tokens/sec/user"
)

// ms is a metric that is the time between two moments. A moment that came is
// never 0, and no later one comes without it.
func ms(tag, header string, from, to func(*record) int64) recordMetric {
	return recordMetric{tag: tag, header: header, unit: unitMS, value: func(r *record) (float64, bool) {
		a, b := from(r), to(r)
		return float64(b-a) / 1e6, b > 0 && b >= a
	}}
}

// tokens is a metric that is a positive count.
func tokens(tag, header string, n func(*record) int64) recordMetric {
	return recordMetric{tag: tag, header: header, unit: unitTokens, value: func(r *record) (float64, bool) {
		return float64(n(r)), n(r) > 0
	}}
}

// The moments of a record.
func asked(r *record) int64   { return r.asked }
func sent(r *record) int64    { return r.sent }
func first(r *record) int64   { return r.first }
func second(r *record) int64  { return r.second }
func visible(r *record) int64 { return r.visible }
func last(r *record) int64    { return r.last }
func end(r *record) int64     { return r.end }

func output(r *record) int64 { return r.output }
func prompt(r *record) int64 { return r.prompt }

// itl is the mean time between tokens of a request, in ns.
func itl(r *record) (float64, bool) {
	if r.output < 2 || r.first == 0 {
		return 0, false
	}
	return float64(r.last-r.first) / float64(r.output-1), true
}

// per divides by a time in ns that must not be 0.
func per(n, ns float64) (float64, bool) { return n / ns * 1e9, ns > 0 }

// recordMetrics are in the order of AIPerf's summary.
func recordMetrics() []recordMetric {
	return []recordMetric{
		ms("request_latency", "Request Latency", sent, last),
		ms("time_to_first_token", "Time to First Token", sent, first),
		ms("time_to_second_token", "Time to Second Token", first, second),
		{tag: "inter_token_latency", header: "Inter Token Latency", unit: unitMS, value: func(r *record) (float64, bool) {
			v, ok := itl(r)
			return v / 1e6, ok
		}},
		{tag: "output_token_throughput_per_user", header: "Output Token Throughput Per User", unit: unitUser, value: func(r *record) (float64, bool) {
			v, ok := itl(r)
			if !ok {
				return 0, false
			}
			return per(1, v)
		}},
		tokens("output_sequence_length", "Output Sequence Length", output),
		tokens("input_sequence_length", "Input Sequence Length", prompt),
		tokens("output_token_count", "Output Token Count", func(r *record) int64 { return r.output - r.reasoning }),
		tokens("reasoning_token_count", "Reasoning Token Count", func(r *record) int64 { return r.reasoning }),
		{tag: "http_req_connection_reused", header: "HTTP Connection Reused", unit: "ratio", value: func(r *record) (float64, bool) {
			if r.dialled {
				return 0, true
			}
			return 1, true
		}},
		tokens("usage_completion_tokens", "Usage Completion Tokens", output),
		tokens("usage_prompt_tokens", "Usage Prompt Tokens", prompt),
		tokens("usage_total_tokens", "Usage Total Tokens", func(r *record) int64 { return r.output + r.prompt }),
		{tag: "usage_prompt_cache_read_tokens", header: "Usage Prompt Cache Read Tokens", unit: unitTokens, value: func(r *record) (float64, bool) {
			return float64(r.cached), r.cachedTold
		}},
		ms("time_to_first_output_token", "Time to First Output Token", sent, visible),
		ms("http_req_duration", "HTTP Duration (excl. conn)", sent, end),
		{tag: "http_req_connection_overhead", header: "HTTP Connection Overhead", unit: unitMS, value: func(r *record) (float64, bool) {
			return float64(r.connect) / 1e6, true
		}},
		{tag: "http_req_total", header: "HTTP Total Time", unit: unitMS, value: func(r *record) (float64, bool) {
			return float64(r.connect+r.end-r.sent) / 1e6, r.end > 0
		}},
		{tag: "prefill_throughput_per_user", header: "Prefill Throughput Per User", unit: unitUser, value: func(r *record) (float64, bool) {
			v, ok := per(float64(r.prompt), float64(r.first-r.sent))
			return v, ok && r.prompt > 0
		}},
		ms("decode_duration", "Decode Duration", first, last),
		{tag: "e2e_output_token_throughput", header: "E2E Output Token Throughput", unit: unitUser, value: func(r *record) (float64, bool) {
			return per(float64(r.output), float64(r.last-r.sent))
		}},
		{tag: "osl_mismatch_diff_pct", header: "OSL Mismatch Diff %", unit: "%", value: func(r *record) (float64, bool) {
			return 100 * float64(r.output-r.limit) / float64(r.limit), r.limit > 0
		}},
		summaryOnly(ms("credit_to_start_latency", "Credit-to-Start Latency", asked, sent)),
		summaryOnly(ms("effective_latency", "Effective Latency (CO-aware)", asked, end)),
	}
}

func summaryOnly(m recordMetric) recordMetric {
	m.summaryOnly = true
	return m
}

// mismatched reports that an answer's length is off by more than 5 % of what
// was asked, or by 50 tokens.
func mismatched(r *record) bool {
	return r.limit > 0 && math.Abs(float64(r.output-r.limit)) > min(.05*float64(r.limit), 50)
}

func recordMetricOf(tag string) *recordMetric {
	for _, m := range recordMetrics() {
		if m.tag == tag {
			return &m
		}
	}
	return nil
}

func recordTags() []string {
	var out []string
	for _, m := range recordMetrics() {
		out = append(out, m.tag)
	}
	return out
}
