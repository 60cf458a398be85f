package loadgen

import "time"

// Outcome is the one class a request falls into. Only OK enters latency and
// throughput.
type Outcome string

// The outcome classes of a request, exactly one each. Where two would fit, the
// first fault of the stream decides; a limit of our own beats what it caused.
const (
	// OK: status 200, an event stream without an error, complete (it said
	// [DONE], or at a clean end every choice had its finish_reason or, where
	// none is ever sent, the last chunk was the usage), with a positive
	// usage.completion_tokens and no finish_reason but of a complete answer.
	OK Outcome = "ok"
	// Truncated: the stream ended, or its connection broke, before it was
	// complete.
	Truncated Outcome = "truncated"
	// InBand: an error under status 200, as an error event, an error object in
	// any of the forms in use, or a JSON body.
	InBand Outcome = "in_band_error"
	// Unfinished: some finish_reason is none of a complete answer. Complete are
	// stop, length, tool_calls, function_call, eos_token and stop_sequence; error,
	// abort, content_filter and whatever is not known are not.
	Unfinished Outcome = "unfinished"
	// HTTPStatus: any status but 200 that is not shed; redirects included,
	// they are not followed.
	HTTPStatus Outcome = "http_status"
	// Shed: status 429, 503 or 529.
	Shed Outcome = "shed"
	// Connect: no connection, or it broke before an answer began.
	Connect Outcome = "connect"
	// Timeout: the request timeout or the drain timeout passed.
	Timeout Outcome = "timeout"
	// Cancelled: the caller ended the run with the request in flight.
	Cancelled Outcome = "cancelled"
	// Protocol: not HTTP, no event stream, a chunk that is no JSON, a line
	// above 16 MiB, or no usage: tokens are never counted from chunks.
	Protocol Outcome = "protocol"
)

// Outcomes counts requests by class.
type Outcomes map[Outcome]int64

// Total returns the number of requests of any outcome.
func (o Outcomes) Total() int64 {
	var n int64
	for _, v := range o {
		n += v
	}
	return n
}

// Bad returns the number of requests that did not end OK.
func (o Outcomes) Bad() int64 { return o.Total() - o[OK] }

// Result is what one run measured. All latencies are milliseconds; a metric
// that could not be measured is 0 here and absent in JSON, never a NaN. No
// measured latency or rate is ever exactly 0.
type Result struct {
	Kind        RunKind   `json:"kind"`
	Concurrency int       `json:"concurrency"` // total streams
	Started     time.Time `json:"started"`
	Ended       time.Time `json:"ended"`
	// Window is the steady part of the run, WholeRun all measured tokens over
	// first send to last byte (AIPerf's definition; a gate run's warm-up is
	// excluded from it). Both are stored for both kinds.
	Window   Estimate `json:"window"`
	WholeRun Estimate `json:"whole_run"`
	// Goodput is what met Config.Objective, nil where there was none.
	Goodput *Goodput `json:"goodput,omitempty"`
	// Capped says that MaxDuration ended the measured part before the minimum
	// number of requests was reached.
	Capped bool `json:"capped,omitempty"`
	// Stopped names why a run ended early: "", "silence", "errors" (every
	// request failed), "cancelled", "peers" (a part waited for others in vain).
	Stopped string `json:"stopped,omitempty"`
	// Measured counts requests of the measured part, All every request sent,
	// warm-up and top-up included.
	Measured Outcomes `json:"measured"`
	All      Outcomes `json:"all"`
	// Errors holds up to a few example texts per outcome, bounded in length
	// and free of secrets.
	Errors map[Outcome][]string `json:"errors,omitempty"`
	// Output and prompt tokens of every request sent, from usage.
	TotalOutputTokens int64 `json:"total_output_tokens"`
	TotalPromptTokens int64 `json:"total_prompt_tokens"`
	// OutputTokensPerRequest and RequestedOutputTokens are means over measured
	// OK requests of what was got and of what was asked for.
	OutputTokensPerRequest float64 `json:"output_tokens_per_request,omitempty"`
	RequestedOutputTokens  float64 `json:"requested_output_tokens,omitempty"`
	PromptTokensPerRequest float64 `json:"prompt_tokens_per_request,omitempty"`
	// RequestedPromptTokens is the mean input asked for, with what the chat
	// template adds; absent where prompts have lengths of their own.
	RequestedPromptTokens float64 `json:"requested_prompt_tokens,omitempty"`
	// RepeatedPrompts counts requests of all kinds whose prompt the campaign
	// had sent before though none was to be: a file has come to its end.
	RepeatedPrompts        int64   `json:"repeated_prompts,omitempty"`
	CachedTokensPerRequest float64 `json:"cached_tokens_per_request,omitempty"`
	// Prompts by OK requests whose server said how many tokens came from its
	// cache; the mean above is over these.
	CachedTokensTold int64 `json:"cached_tokens_told,omitempty"`
	// Series is the output token count of clamp(seconds, 20, 180) equal windows
	// over the measured part, SeriesSeconds the length of one: evidence for V5
	// and V6. The measured part of a gate run has its burst and its drain in it.
	Series        []float64 `json:"series,omitempty"`
	SeriesSeconds float64   `json:"series_s,omitempty"`
	// SeriesStartS is where the measured part begins, from Started on.
	SeriesStartS float64 `json:"series_start_s,omitempty"`
	// TTFTWavesMS is TTFT p50 of the first waves, of a request a stream (of 16 at
	// least) in the order of sending, of a steady run's measured part: it falls while
	// kernels are compiled as they are first needed.
	TTFTWavesMS []float64 `json:"ttft_waves_ms,omitempty"`
	// LongestSilenceMS is the longest time in the measured part during which
	// no token arrived on any stream; the load is closed, so requests were in
	// flight. Silences below 10 ms may be missed.
	LongestSilenceMS float64 `json:"longest_silence_ms,omitempty"`
	// NextRequest is the first request number that this run did not use.
	NextRequest uint64 `json:"next_request"`
	// LoadPods are the generators, where several made the run together, and
	// StartSpreadMS is how far apart they began to measure: a gate run the first
	// sends of all streams.
	LoadPods      []LoadPod `json:"load_pods,omitempty"`
	StartSpreadMS float64   `json:"start_spread_ms,omitempty"`
	// LostPods are generators that ended or were restarted during the run. What
	// they sent is not known.
	LostPods []string `json:"lost_pods,omitempty"`
	// Suspended is when this tool itself did not run for half a second or more,
	// in the order in which it happened.
	Suspended []Suspension `json:"suspended,omitempty"`
	Health    Health       `json:"health"`
	Warnings  []string     `json:"warnings,omitempty"`
}

// Estimate is the estimator that the run's kind stands on.
func (r Result) Estimate() Estimate {
	if r.Kind == Gate {
		return r.WholeRun
	}
	return r.Window
}

// Estimate is one way of turning a run into numbers. Latencies are those of
// measured OK requests; percentiles follow PercentileDefinition. TTFT runs from
// the first byte sent to the first chunk that carries text, reasoning or a tool
// call; E2E to the last such chunk.
type Estimate struct {
	Seconds         float64 `json:"duration_s"`
	Requests        int64   `json:"requests"`
	OutputTokens    float64 `json:"output_tokens"`
	OutputTokPerSec float64 `json:"output_tok_per_s,omitempty"`
	RequestsPerSec  float64 `json:"requests_per_s,omitempty"`

	TTFTMeanMS float64 `json:"ttft_mean_ms,omitempty"`
	TTFTP50MS  float64 `json:"ttft_p50_ms,omitempty"`
	TTFTP90MS  float64 `json:"ttft_p90_ms,omitempty"`
	TTFTP99MS  float64 `json:"ttft_p99_ms,omitempty"`
	TTFTMaxMS  float64 `json:"ttft_max_ms,omitempty"`
	// The 95 % order-statistic (binomial) interval of TTFT p99; the upper end
	// is absent where the sample is too small to have one.
	TTFTP99LowMS  float64 `json:"ttft_p99_low_ms,omitempty"`
	TTFTP99HighMS float64 `json:"ttft_p99_high_ms,omitempty"`

	// TTFO runs to the first chunk with text or a tool call, TTFT to the first
	// of any kind, reasoning included; TTST is from the first token-bearing
	// chunk to the second.
	TTFOMeanMS float64 `json:"ttfo_mean_ms,omitempty"`
	TTFOP50MS  float64 `json:"ttfo_p50_ms,omitempty"`
	TTFOP99MS  float64 `json:"ttfo_p99_ms,omitempty"`
	TTSTMeanMS float64 `json:"ttst_mean_ms,omitempty"`
	TTSTP50MS  float64 `json:"ttst_p50_ms,omitempty"`
	TTSTP99MS  float64 `json:"ttst_p99_ms,omitempty"`

	// ITL is (E2E − TTFT)/(tokens − 1) per request.
	ITLMeanMS float64 `json:"itl_mean_ms,omitempty"`
	ITLP50MS  float64 `json:"itl_p50_ms,omitempty"`
	ITLP99MS  float64 `json:"itl_p99_ms,omitempty"`
	// Gap is the time between successive token-bearing chunks (histogram).
	GapP50MS float64 `json:"gap_p50_ms,omitempty"`
	GapP99MS float64 `json:"gap_p99_ms,omitempty"`

	E2EMeanMS float64 `json:"e2e_mean_ms,omitempty"`
	E2EP50MS  float64 `json:"e2e_p50_ms,omitempty"`
	E2EP99MS  float64 `json:"e2e_p99_ms,omitempty"`
}

// Health says how far the generator itself can be trusted in this run.
type Health struct {
	// CPUShare is process CPU time over wall time × GOMAXPROCS in the measured
	// part; absent in virtual time.
	CPUShare float64 `json:"cpu_share,omitempty"`
	// Lag is user arrival time minus kernel receive time, this tool's own
	// error; absent where the kernel gives no timestamps.
	LagP50MS float64 `json:"lag_p50_ms,omitempty"`
	LagP99MS float64 `json:"lag_p99_ms,omitempty"`
	LagMaxMS float64 `json:"lag_max_ms,omitempty"`
	// EventsPerRead is evidence only: a short answer's tail shares a read.
	EventsPerRead float64 `json:"events_per_read,omitempty"`
	// LittleResidual is |throughput × mean residence / N − 1| over the window,
	// with requests that cross its edges counted by the part inside: a
	// self-test of the client, which is not to leave a stream idle.
	LittleResidual float64 `json:"little_residual"`
	LittleMeasured bool    `json:"little_measured"`
	// QuickACK and KernelTime say whether every connection had TCP_QUICKACK
	// re-armed and nearly every read a kernel receive time. Without the first,
	// servers that leave Nagle on show a TTFT of at least 43 ms.
	QuickACK   bool  `json:"quickack"`
	KernelTime bool  `json:"kernel_time"`
	Dials      int64 `json:"dials"`
	// GCPauseMS is how long the collector stopped the world in the measured
	// part.
	GCPauseMS float64 `json:"gc_pause_ms,omitempty"`
	// RunQueueShare is the time that this process's threads were runnable but
	// waited for a CPU, over wall time of the measured part (Linux; it can exceed 1).
	RunQueueShare float64 `json:"run_queue_share,omitempty"`
	// LateStartP99MS is how long after the end of a good answer its stream sent
	// the next request, 99th percentile over measured requests: a dial, the
	// server's own end of its answer and this side's work lie between.
	LateStartP99MS float64 `json:"late_start_p99_ms,omitempty"`
	// DeliveredConcurrency is the mean number in flight over the window, Low the
	// mean over the lowest of clamp(seconds, 20, 180) equal parts of it.
	DeliveredConcurrency    float64 `json:"delivered_concurrency,omitempty"`
	DeliveredConcurrencyLow float64 `json:"delivered_concurrency_low,omitempty"`
	// SlowConnects counts connects of 0.9 s or more: a lost SYN, or a full
	// accept queue, costs one second.
	SlowConnects int64 `json:"slow_connects,omitempty"`
	// What precedes the first token. Connect and TLS are over all requests of
	// the run that dialled, for most connections are made before the measured
	// part; the wait for a connection beyond that is over measured requests, and
	// the time from the first byte sent to the head of the answer over measured
	// OK ones.
	ConnectMeanMS float64 `json:"connect_mean_ms,omitempty"`
	ConnectMaxMS  float64 `json:"connect_max_ms,omitempty"`
	TLSMeanMS     float64 `json:"tls_mean_ms,omitempty"`
	TLSMaxMS      float64 `json:"tls_max_ms,omitempty"`
	PoolWaitMaxMS float64 `json:"pool_wait_max_ms,omitempty"`
	HeadersMeanMS float64 `json:"headers_mean_ms,omitempty"`
	HeadersP99MS  float64 `json:"headers_p99_ms,omitempty"`
	// DrainTimedOut counts requests still in flight when the drain bound hit.
	DrainTimedOut int64 `json:"drain_timed_out,omitempty"`
}
