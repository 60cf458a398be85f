package enginesim

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// kvBlock is the size of a KV cache block in tokens.
const kvBlock = 16

// metrics is one page in two dialects: that of Dynamo's frontend and, for each
// worker, vLLM's.
func (s *Sim) metrics(w http.ResponseWriter, _ *http.Request) {
	p := &page{model: strconv.Quote(s.p.Model)}
	c := s.engine.counters()
	s.frontendMetrics(p, c)
	s.stats.write(p)
	s.engine.write(p)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = w.Write([]byte(p.out.String())) // a client that has gone is no news
}

func (s *Sim) frontendMetrics(p *page, c Counters) {
	const prefix = "dynamo_frontend_"
	p.gauge(prefix+"active_requests", "Number of requests currently being handled by the frontend", c.Running+c.Waiting)
	p.gauge(prefix+"inflight_requests", "Number of inflight requests", c.Running+c.Waiting)
	p.gauge(prefix+"queued_requests", "Number of requests in HTTP processing queue", c.Waiting)
	p.gauge(prefix+"model_ready", "Whether the frontend can route at least one inference request for the model", 1)
	p.gauge(prefix+"model_context_length", "Maximum context length in tokens for a worker serving the model", contextWindow)
	if s.p.Slots > 0 {
		p.gauge(prefix+"model_max_num_seqs", "Maximum number of sequences for a worker serving the model",
			int64(s.p.Slots/s.p.WorkersPerGPU))
	}
	if s.p.KVTokens > 0 {
		p.gauge(prefix+"model_kv_cache_block_size", "KV cache block size in tokens for a worker serving the model", kvBlock)
		p.gauge(prefix+"model_total_kv_blocks", "Total KV cache blocks available for a worker serving the model",
			int64(s.p.KVTokens/s.p.WorkersPerGPU/kvBlock))
	}
	p.head(prefix+"output_tokens_total", "counter", "Total number of output tokens generated (updates in real-time)")
	p.line(prefix+"output_tokens_total", "{model="+p.model+"}", c.OutputTokens)
}

func (s *stats) write(p *page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const prefix = "dynamo_frontend_"
	p.head(prefix+"disconnected_clients", "gauge", "Number of disconnected clients")
	p.line(prefix+"disconnected_clients", "", s.disconnected)
	p.head(prefix+"requests_started_total", "counter", "Total number of LLM requests accepted by the frontend handler")
	for _, c := range sorted(s.accepted) {
		p.line(prefix+"requests_started_total", fmt.Sprintf(`{endpoint=%q,model=%s,request_type=%q}`, c.endpoint, p.model, c.kind), s.accepted[c])
	}
	p.head(prefix+"requests_total", "counter", "Total number of LLM requests processed")
	for _, c := range sorted(s.done) {
		p.line(prefix+"requests_total", fmt.Sprintf(`{endpoint=%q,error_type=%q,model=%s,request_type=%q,status=%q}`,
			c.endpoint, c.errorType, p.model, c.kind, c.status), s.done[c])
	}
	p.histogram(prefix+"time_to_first_token_seconds", "Time to first token in seconds", &s.ttft)
	p.histogram(prefix+"request_duration_seconds", "Duration of LLM requests", &s.duration)
	p.histogram(prefix+"input_sequence_tokens", "Input sequence length in tokens", &s.input)
	p.histogram(prefix+"output_sequence_tokens", "Output sequence length in tokens", &s.output)
}

// write shows each worker as a vLLM engine.
func (e *engine) write(p *page) {
	e.mu.Lock()
	defer e.mu.Unlock()
	each := func(name, kind, help string, value func(*worker) any) {
		p.head(name, kind, help)
		for i, w := range e.workers {
			p.line(name, fmt.Sprintf(`{engine="%d",model_name=%s}`, i, p.model), value(w))
		}
	}
	each("vllm:num_requests_running", "gauge", "Number of requests in model execution batches.",
		func(w *worker) any { return len(w.running) })
	each("vllm:num_requests_waiting", "gauge", "Number of requests waiting to be processed.",
		func(w *worker) any { return len(w.waiting) })
	each("vllm:kv_cache_usage_perc", "gauge", "KV-cache usage. 1 means 100 percent usage.",
		func(w *worker) any { return e.p.kvUsage(len(w.running)) })
	each("vllm:num_preemptions_total", "counter", "Cumulative number of preemption from the engine.",
		func(w *worker) any { return w.preemptions })
	each("vllm:prompt_tokens_total", "counter", "Number of prefill tokens processed.",
		func(w *worker) any { return w.promptTokens })
	each("vllm:generation_tokens_total", "counter", "Number of generation tokens processed.",
		func(w *worker) any { return w.outputTokens })
}

// kvUsage is the share of a worker's KV cache that m running streams reserve.
func (p Params) kvUsage(m int) float64 {
	if p.KVTokens == 0 {
		return 0
	}
	return min(1, float64(m*p.KVTokensPerStream*p.WorkersPerGPU)/float64(p.KVTokens))
}

func sorted(m map[class]int64) []class {
	return slices.SortedFunc(maps.Keys(m), func(a, b class) int {
		return cmp.Or(cmp.Compare(a.endpoint, b.endpoint), cmp.Compare(a.errorType, b.errorType),
			cmp.Compare(a.kind, b.kind), cmp.Compare(a.status, b.status))
	})
}

// page collects text in the Prometheus exposition format.
type page struct {
	model string // quoted
	out   strings.Builder
}

func (p *page) head(name, kind, help string) {
	fmt.Fprintf(&p.out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (p *page) line(name, labels string, value any) {
	fmt.Fprintf(&p.out, "%s%s %v\n", name, labels, value)
}

func (p *page) gauge(name, help string, value int64) {
	p.head(name, "gauge", help)
	p.line(name, "{model="+p.model+"}", value)
}

func (p *page) histogram(name, help string, h *histogram) {
	p.head(name, "histogram", help)
	total := int64(0)
	for i, n := range h.counts {
		total += n
		le := "+Inf"
		if i < len(h.bounds) {
			le = strconv.FormatFloat(h.bounds[i], 'g', -1, 64)
		}
		p.line(name+"_bucket", fmt.Sprintf(`{model=%s,le=%q}`, p.model, le), total)
	}
	p.line(name+"_sum", "{model="+p.model+"}", h.sum)
	p.line(name+"_count", "{model="+p.model+"}", total)
}
