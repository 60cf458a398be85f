package aiperf

import (
	"strings"

	"github.com/perfsweep/perfsweep/internal/spell"
)

// refused are flags of AIPerf that profile does not take, by the reason. None
// is ignored: a run that does less than it was asked to is not that run.
func refused() map[string][]string {
	return map[string][]string{
		"answers are always streamed; drop it": {"no-streaming"},
		"perfsweep holds concurrency and does not pace arrivals": strings.Fields(`request-rate request-rate-mode
			arrival-pattern arrival-smoothness vllm-burstiness request-rate-series request-rate-ramp-duration fixed-schedule
			no-fixed-schedule fixed-schedule-auto-offset fixed-schedule-start-offset fixed-schedule-end-offset user-centric-rate
			num-users warmup-request-rate warmup-arrival-pattern warmup-request-rate-ramp-duration prefill-concurrency
			warmup-prefill-concurrency warmup-concurrency warmup-grace-period warmup-concurrency-ramp-duration num-warmup-sessions`),
		"perfsweep sweep finds the operating point, with an interval": strings.Fields(`concurrency-min concurrency-max
			concurrency-steps isl-min isl-max isl-steps osl-min osl-max osl-steps isl-osl-pairs search-space search-metric
			search-stat search-direction search-max-iterations search-initial-points search-random-seed search-planner
			search-sla search-sla-tier search-recipe search-style search-percentile-pooling optuna-sampler optuna-acquisition
			optuna-terminator bo-constraint-mode variant sweep-variant sweep-type parameter-sweep-mode
			parameter-sweep-cooldown-seconds degradation-threshold degradation-metric-tag degradation-stat no-sweep-table
			slo-attainment-fraction`),
		"it belongs to AIPerf's sweeps; --goodput takes bounds for one run": strings.Fields(`ttft-sla-ms itl-sla-ms tpot-sla-ms
			e2e-sla-ms error-rate-sla`),
		"profile makes one run; perfsweep sweep and check repeat and give intervals": strings.Fields(`num-profile-runs
			confidence-level profile-run-cooldown-seconds convergence-metric convergence-stat convergence-threshold
			convergence-mode`),
		"prompts are synthetic; perfsweep sweep takes a file of them": strings.Fields(`input-file public-dataset
			custom-dataset-type hf-subset hf-weka-dataset dataset-filter dataset-sampling-strategy conversation-num
			num-conversations num-sessions conversation-turn-mean session-turns-mean prompt-batch-size batch-size-text
			batch-size system-prompt system-prompt-file prompt-prefix-pool-size prefix-prompt-pool-size num-prefix-prompts
			prompt-prefix-length prefix-prompt-length shared-system-prompt-length user-context-prompt-length seq-dist
			sequence-distribution random-range-ratio prompt-corpus cache-bust`),
		"no answer is cancelled on purpose":                                            {"request-cancellation-rate", "request-cancellation-delay"},
		"the window that perfsweep measures in is its own; see perfsweep sweep":        {"slice-duration"},
		"the servers' metrics are read by perfsweep sweep":                             {"server-metrics", "no-server-metrics", "server-metrics-formats"},
		"it reads no GPU telemetry":                                                    {"gpu-telemetry", "no-gpu-telemetry"},
		"tokens are the server's own count":                                            {"tokenizer-revision", "tokenizer-trust-remote-code", "apply-chat-template"},
		"every flag is given on the command line":                                      {"config"},
		"what it talks to is one process":                                              strings.Fields(`workers-max max-workers record-processors record-processor-service-count zmq-host`),
		"a connection a stream is kept alive, so that a request waits for no pool":     {"connection-reuse-strategy"},
		"usage is asked for once an answer; ITL is (latency - TTFT) / (tokens - 1)":    {"per-chunk-usage"},
		"the parts of a request are in the records that --export-level records writes": {"export-http-trace", "show-trace-timing", "export-outputs-json"},
		"use --quiet for no talk on stderr; there are no levels of it":                 {"log-level", "verbose", "extra-verbose"},
	}
}

// nearest is the flag whose name is at most a third wrong, "" if there is none.
func nearest(name string) string {
	var known []string
	for _, f := range Flags() {
		for _, n := range f.Names {
			if len(n) >= 2 {
				known = append(known, n)
			}
		}
	}
	return spell.Nearest(name, known, len(name)/3+1)
}
