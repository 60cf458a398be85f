package observe

// dialect is how one engine names things; the names are given without prefix.
type dialect struct {
	engine   string
	prefixes []string
	words    []word
}

// histogram is the sum and the count of one.
func histogram(name string, w word, total, n Metric) []word {
	s, c := w, w
	s.name, s.metric, s.fold = name+"_sum", total, sum
	c.name, c.metric, c.fold = name+"_count", n, sum
	return []word{s, c}
}

// dynamoFrontend is `python -m dynamo.frontend`, 1.0 to 1.7. Left out on
// purpose: dynamo_tokio_worker_busy_ratio, which is no ratio (1.6.1 shows
// thousandths of the mean poll time in it), and
// dynamo_request_plane_queue_seconds, which stays flat at saturation.
func dynamoFrontend() []word {
	const p = "dynamo_frontend_"
	words := []word{
		{name: p + "active_requests", metric: Active, fold: sum},
		{name: p + "inflight_requests", metric: Active, fold: sum, prefer: 1},
		{name: p + "queued_requests", metric: Queued, fold: sum},
		{name: p + "router_queue_pending_requests", metric: RouterPending, fold: sum},
		{name: p + "requests_total", metric: Requests, fold: sum},
		{name: p + "requests_total", metric: EngineErrors, fold: sum, label: "status", value: "error"},
		{name: p + "requests_total", metric: Shed, fold: sum, label: "error_type", value: "overload"},
		{name: p + "model_rejection_total", metric: Shed, fold: sum, prefer: 1},
		{name: p + "output_tokens_total", metric: FrontendTokens, fold: sum},
		{name: p + "event_loop_stall_total", metric: LoopStalls, fold: sum},
		{name: "dynamo_tokio_global_queue_depth", metric: LoopQueue, fold: sum},
		{name: "dynamo_tokio_worker_local_queue_depth", metric: LoopQueue, fold: sum},
		{name: p + "model_max_num_seqs", metric: MaxNumSeqs, form: setting},
		{name: p + "model_total_kv_blocks", metric: KVBlocks, form: setting},
		{name: p + "model_kv_cache_block_size", metric: KVBlockTokens, form: setting},
		{name: p + "model_context_length", metric: ContextTokens, form: setting},
		{name: p + "worker_active_decode_blocks", metric: DecodeBlocks, scope: ofEngine},
		{name: p + "worker_last_inter_token_latency_seconds", metric: LastITLS, scope: ofEngine},
		{name: p + "worker_last_time_to_first_token_seconds", metric: LastTTFTS, scope: ofEngine},
	}
	words = append(words, histogram(p+"stage_duration_seconds", word{label: "stage", value: "preprocess"}, PreprocessSum, PreprocessN)...)
	words = append(words, histogram(p+"stage_duration_seconds", word{label: "stage", value: "route"}, RouteSum, RouteN)...)
	words = append(words, histogram("dynamo_request_plane_send_seconds", word{}, SendSum, SendN)...)
	words = append(words, histogram(p+"time_to_first_token_seconds", word{}, EngineTTFTSum, EngineTTFTN)...)
	return append(words, histogram(p+"inter_token_latency_seconds", word{}, EngineITLSum, EngineITLN)...)
}

// dynamoWorker is what Dynamo's runtime adds to the page of an engine. The
// endpoint named generate is the engine's; others serve the router.
func dynamoWorker() []word {
	const p = "dynamo_component_"
	generate := word{scope: ofWorker, label: "dynamo_endpoint", value: "generate", hex: true, fold: sum}
	done, failed := generate, generate
	done.name, done.metric, done.prefer = p+"request_duration_seconds_count", Requests, 2
	failed.name, failed.metric = p+"errors_total", EngineErrors
	return []word{
		done, failed,
		{name: p + "uptime_seconds", metric: UptimeS, scope: ofWorker, hex: true},
		{name: p + "total_blocks", metric: KVBlocks, scope: ofEngine, hex: true, form: setting, prefer: 1},
		{name: p + "gpu_cache_usage_percent", metric: KVUsage, scope: ofEngine, hex: true, form: share, prefer: 2},
		{name: routerWorker, form: info},
	}
}

// routerWorker is there once a router in the mode kv knows a worker.
const routerWorker = "dynamo_component_router_worker_registered"

// engines are vLLM (names of 0.6 to 0.32), SGLang, TensorRT-LLM (which Dynamo
// and trtllm-serve prefix differently, and Dynamo's mocker names like vLLM)
// and llama.cpp.
func engines() []dialect {
	latency := func(itl ...string) []word {
		w := histogram("time_to_first_token_seconds", word{}, EngineTTFTSum, EngineTTFTN)
		for i, name := range itl {
			w = append(w, histogram(name, word{prefer: i}, EngineITLSum, EngineITLN)...)
		}
		return w
	}
	vllm := append(latency("inter_token_latency_seconds", "time_per_output_token_seconds"),
		word{name: "num_requests_running", metric: Running},
		word{name: "num_requests_waiting", metric: Waiting},
		word{name: "kv_cache_usage_perc", metric: KVUsage, form: share},
		word{name: "gpu_cache_usage_perc", metric: KVUsage, form: share, prefer: 1},
		word{name: "num_preemptions_total", metric: Preemptions, fold: sum},
		word{name: "prefix_cache_queries_total", metric: PrefixQueries, fold: sum},
		word{name: "gpu_prefix_cache_queries_total", metric: PrefixQueries, fold: sum, prefer: 1},
		word{name: "prefix_cache_hits_total", metric: PrefixHits, fold: sum},
		word{name: "gpu_prefix_cache_hits_total", metric: PrefixHits, fold: sum, prefer: 1},
		word{name: "prompt_tokens_total", metric: PromptTokens, fold: sum},
		word{name: "generation_tokens_total", metric: OutputTokens, fold: sum},
		word{name: "request_success_total", metric: Requests, fold: sum},
		word{name: "request_success_total", metric: EngineErrors, fold: sum, label: "finished_reason", value: "error", prefer: 1},
		word{name: "e2e_request_latency_seconds_count", metric: Requests, fold: sum, prefer: 1},
		word{name: "admission_rejections_total", metric: Shed, fold: sum},
		word{name: "cache_config_info", form: info},
	)
	vllm = append(vllm, histogram("request_queue_time_seconds", word{}, QueueTimeSum, QueueTimeCount)...)
	trtllm := append(vllm[:len(vllm):len(vllm)],
		word{name: "kv_cache_utilization", metric: KVUsage, form: share},
		word{name: "kv_cache_max_blocks", metric: KVBlocks, form: setting},
		word{name: "kv_cache_tokens_per_block", metric: KVBlockTokens, form: setting},
	)
	sglang := append(latency("inter_token_latency_seconds"),
		word{name: "num_running_reqs", metric: Running},
		word{name: "num_queue_reqs", metric: Waiting},
		word{name: "token_usage", metric: KVUsage, form: share},
		word{name: "num_retracted_requests_total", metric: Preemptions},
		word{name: "prompt_tokens_total", metric: PromptTokens, fold: sum},
		word{name: "prompt_tokens_total", metric: PrefixQueries, fold: sum},
		word{name: "cached_tokens_total", metric: PrefixHits, fold: sum},
		word{name: "generation_tokens_total", metric: OutputTokens, fold: sum},
		word{name: "num_requests_total", metric: Requests, fold: sum},
		word{name: "cache_config_info", form: info},
	)
	sglang = append(sglang, histogram("queue_time_seconds", word{}, QueueTimeSum, QueueTimeCount)...)
	llamacpp := []word{
		{name: "requests_processing", metric: Running},
		{name: "requests_deferred", metric: Waiting},
		{name: "kv_cache_usage_ratio", metric: KVUsage, form: share},
		{name: "prompt_tokens_total", metric: PromptTokens, fold: sum},
		{name: "prompt_tokens_total", metric: PrefixQueries, fold: sum},
		{name: "prompt_tokens_cached_total", metric: PrefixQueries, fold: sum},
		{name: "prompt_tokens_cached_total", metric: PrefixHits, fold: sum},
		{name: "tokens_predicted_total", metric: OutputTokens, fold: sum},
		{name: "tokens_predicted_total", metric: EngineITLN, fold: sum},
		{name: "tokens_predicted_seconds_total", metric: EngineITLSum, fold: sum},
	}
	return []dialect{
		{"vllm", []string{"vllm:"}, vllm},
		{"trtllm", []string{"trtllm:", "trtllm_"}, trtllm},
		{"sglang", []string{"sglang:", "sglang_"}, sglang},
		{"llama.cpp", []string{"llamacpp:"}, llamacpp},
	}
}

// dcgm is NVIDIA's DCGM exporter.
func dcgm() []word {
	words := []word{
		{name: "DCGM_FI_PROF_SM_ACTIVE", metric: SMActive, form: share},
		{name: "DCGM_FI_DEV_POWER_USAGE", metric: PowerW},
		{name: "DCGM_FI_DEV_SM_CLOCK", metric: SMClockMHz},
		{name: "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", form: mask},
		{name: "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", form: mask, prefer: 1},
		{name: "DCGM_FI_DEV_XID_ERRORS", metric: XID},
		{name: "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", metric: ECCDouble},
		{name: "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", metric: ECCDouble, prefer: 1},
		{name: "DCGM_FI_DEV_GPU_TEMP", metric: GPUTempC},
		{name: "DCGM_FI_DEV_GPU_UTIL", metric: GPUUtil},
		{name: "DCGM_FI_DEV_FB_USED", metric: GPUMemUsed},
	}
	for i := range words {
		words[i].scope = ofGPU
	}
	return words
}

// pressure is the kernel's, as node_exporter shows it.
func pressure() []word {
	return []word{
		{name: "node_pressure_cpu_waiting_seconds_total", metric: CPUPressure, scope: ofNode},
		{name: "node_pressure_memory_waiting_seconds_total", metric: MemPressure, scope: ofNode},
		{name: "node_pressure_io_waiting_seconds_total", metric: IOPressure, scope: ofNode},
	}
}
