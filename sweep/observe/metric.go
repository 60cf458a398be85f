package observe

// Metric is a word of the one vocabulary into which the names of the servers
// are translated. Gauges are read as they stand; counters only ever through
// their growth over a span.
type Metric string

// Of an engine: a worker, or one data-parallel rank of it.
const (
	Running        Metric = "running"          // requests in the batch
	Waiting        Metric = "waiting"          // requests that wait for a place in it
	KVUsage        Metric = "kv_usage"         // share of the KV cache in use, 0 to 1
	Preemptions    Metric = "preemptions"      // counter
	PrefixQueries  Metric = "prefix_queries"   // counter, tokens
	PrefixHits     Metric = "prefix_hits"      // counter, tokens
	PromptTokens   Metric = "prompt_tokens"    // counter
	OutputTokens   Metric = "output_tokens"    // counter
	Requests       Metric = "requests"         // counter, requests that ended
	EngineErrors   Metric = "errors"           // counter
	UptimeS        Metric = "uptime_s"         // falls when a worker restarts
	EngineTTFTSum  Metric = "ttft_sum_s"       // counters, the server's own latency
	EngineTTFTN    Metric = "ttft_count"       //
	EngineITLSum   Metric = "itl_sum_s"        //
	EngineITLN     Metric = "itl_count"        //
	LastITLS       Metric = "last_itl_s"       // of the last request, as a frontend sees it
	LastTTFTS      Metric = "last_ttft_s"      //
	DecodeBlocks   Metric = "decode_blocks"    // as the router books them
	QueueTimeSum   Metric = "queue_time_sum_s" // counters
	QueueTimeCount Metric = "queue_time_count" //
)

// Of a frontend.
const (
	Active         Metric = "active"           // requests in the frontend's hands
	Queued         Metric = "queued"           // of those, without a first token
	RouterPending  Metric = "router_pending"   // held in the router's own queue
	Shed           Metric = "shed"             // counter, requests refused for load
	PreprocessSum  Metric = "preprocess_sum_s" // counters
	PreprocessN    Metric = "preprocess_count" //
	RouteSum       Metric = "route_sum_s"      //
	RouteN         Metric = "route_count"      //
	SendSum        Metric = "send_sum_s"       // handing a request to a worker
	SendN          Metric = "send_count"       //
	LoopStalls     Metric = "loop_stalls"      // counter, the event loop stood still
	LoopQueue      Metric = "loop_queue"       // tasks that wait for a thread
	MaxNumSeqs     Metric = "max_num_seqs"     // batch cap of one worker
	KVBlocks       Metric = "kv_blocks"        // of one worker
	KVBlockTokens  Metric = "kv_block_tokens"  //
	ContextTokens  Metric = "context_tokens"   // longest prompt and answer
	FrontendTokens Metric = "frontend_tokens"  // counter, output tokens passed on
)

// Of a GPU (DCGM exporter) and of a node (pressure stall information).
const (
	SMActive   Metric = "sm_active" // share of time, 0 to 1
	PowerW     Metric = "power_w"   //
	SMClockMHz Metric = "sm_mhz"    //
	Throttle   Metric = "throttle"  // 1 while heat or the hardware holds the clocks down, else 0
	PowerCap   Metric = "power_cap" // 1 while the power limit does

	XID         Metric = "xid"         // last error, 0 = none
	ECCDouble   Metric = "ecc_double"  // counter, uncorrected errors
	CPUPressure Metric = "cpu_psi"     // counter, seconds in which some task waited
	MemPressure Metric = "memory_psi"  // counters likewise
	IOPressure  Metric = "io_psi"      //
	GPUTempC    Metric = "gpu_temp_c"  //
	GPUUtil     Metric = "gpu_util"    // duty cycle, no measure of saturation
	GPUMemUsed  Metric = "gpu_mem_mib" //
)
