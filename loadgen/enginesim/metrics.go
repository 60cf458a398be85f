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
// worker, vLLM's. Each worker has a page of its own besides.
func (s *Sim) metrics(w http.ResponseWriter, _ *http.Request) {
	p := &page{model: strconv.Quote(s.p.Model)}
	c := s.engine.counters()
	s.frontendMetrics(p, c)
	s.stats.write(p)
	s.engine.writeLoad(p)
	s.engine.writeLast(p)
	s.engine.writeWorkers(p, 0, s.p.live(), p.onCommonPage)
	p.send(w)
}

func (s *Sim) frontendMetrics(p *page, c Counters) {
	const prefix = "dynamo_frontend_"
	p.gauge(prefix+"active_requests", "Number of requests currently being handled by the frontend", c.Running+c.Waiting)
	p.gauge(prefix+"inflight_requests", "Number of inflight requests", c.Running+c.Waiting)
	p.gauge(prefix+"queued_requests", "Number of requests in HTTP processing queue", s.engine.untold())
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
	p.head(prefix+"model_rejection_total", "counter", "Total number of requests rejected because all workers were busy")
	for _, c := range sorted(s.done) {
		if c.errorType == "overload" {
			p.line(prefix+"model_rejection_total", fmt.Sprintf(`{endpoint=%q,model=%s}`, c.endpoint, p.model), s.done[c])
		}
	}
	p.head(prefix+"stage_duration_seconds", "histogram", "Pipeline stage duration (seconds)")
	p.sums(prefix+"stage_duration_seconds", `{stage="preprocess"}`, s.preprocess)
	p.head("dynamo_request_plane_send_seconds", "histogram", "Time for send_request() to complete (seconds)")
	p.sums("dynamo_request_plane_send_seconds", "", s.send)
	p.histogram(prefix+"time_to_first_token_seconds", "Time to first token in seconds", &s.ttft)
	p.histogram(prefix+"request_duration_seconds", "Duration of LLM requests", &s.duration)
	p.histogram(prefix+"input_sequence_tokens", "Input sequence length in tokens", &s.input)
	p.histogram(prefix+"output_sequence_tokens", "Output sequence length in tokens", &s.output)
}

// writeLoad is what a frontend near its ceiling shows of its own threads.
func (e *engine) writeLoad(p *page) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p.head("dynamo_frontend_event_loop_stall_total", "counter", "Number of event loop stalls (delay > 5ms)")
	p.line("dynamo_frontend_event_loop_stall_total", "", int64(e.saturated*stallsPerSecond))
	p.head("dynamo_tokio_global_queue_depth", "gauge", "Number of tasks in the runtime's global queue")
	p.line("dynamo_tokio_global_queue_depth", "", e.inFrontend())
}

// untold is the number of accepted requests without a first token.
func (e *engine) untold() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.count.Waiting
	for _, w := range e.workers {
		for _, s := range w.running {
			if s.out.Load() == 0 {
				n++
			}
		}
	}
	return n
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

func (p *page) send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = w.Write([]byte(p.out.String())) // a client that has gone is no news
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
