package enginesim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Label sets of a worker's series. An engine calls itself 0. The common page is
// the frontend's, so it tells workers apart by their ids in decimal.
type workerLabels func(i int) string

func (p *page) onCommonPage(i int) string {
	return fmt.Sprintf(`{engine="0",model_name=%s,worker_id="%d"}`, p.model, workerID(i))
}

func (p *page) onOwnPage(int) string { return `{engine="0",model_name=` + p.model + `}` }

// workerMetrics is the page of one worker, as Dynamo's system port serves it.
func (s *Sim) workerMetrics(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(r.PathValue("worker"))
	if err != nil || i < 0 || i >= s.p.live() {
		http.NotFound(w, r)
		return
	}
	p := &page{model: strconv.Quote(s.p.Model)}
	s.engine.counters()
	s.engine.writeComponent(p, i)
	s.engine.writeWorkers(p, i, i+1, p.onOwnPage)
	p.send(w)
}

// writeComponent is what Dynamo's runtime says of a worker. Its id is
// hexadecimal here and decimal on the frontend's page.
func (e *engine) writeComponent(p *page, i int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w := e.workers[i]
	const prefix = "dynamo_component_"
	labels := fmt.Sprintf(`{dynamo_component="backend",dynamo_endpoint="generate",dynamo_namespace="simulator",worker_id="%x"}`, workerID(i))
	p.head(prefix+"requests_total", "counter", "Total number of requests processed by work handler")
	p.line(prefix+"requests_total", labels, w.shown.finished+int64(w.load()))
	p.head(prefix+"inflight_requests", "gauge", "Number of requests currently being processed by work handler")
	p.line(prefix+"inflight_requests", labels, e.inEngine(w)+len(w.waiting))
	p.head(prefix+"uptime_seconds", "gauge", "Total uptime of the DistributedRuntime in seconds")
	p.line(prefix+"uptime_seconds", fmt.Sprintf(`{worker_id="%x"}`, workerID(i)), e.now)
}

// writeWorkers shows workers from one to before another as vLLM engines.
func (e *engine) writeWorkers(p *page, from, to int, labels workerLabels) {
	e.mu.Lock()
	defer e.mu.Unlock()
	each := func(name, kind, help string, value func(*worker) any) {
		p.head(name, kind, help)
		for i := from; i < to; i++ {
			p.line(name, labels(i), value(e.workers[i]))
		}
	}
	each("vllm:num_requests_running", "gauge", "Number of requests in model execution batches.",
		func(w *worker) any { return e.inEngine(w) })
	each("vllm:num_requests_waiting", "gauge", "Number of requests waiting to be processed.",
		func(w *worker) any { return len(w.waiting) })
	each("vllm:kv_cache_usage_perc", "gauge", "KV-cache usage. 1 means 100 percent usage.",
		func(w *worker) any { return e.p.kvUsage(e.inEngine(w)) })
	each("vllm:num_preemptions_total", "counter", "Cumulative number of preemption from the engine.",
		func(w *worker) any { return w.preemptions })
	each("vllm:prompt_tokens_total", "counter", "Number of prefill tokens processed.",
		func(w *worker) any { return w.promptTokens })
	each("vllm:generation_tokens_total", "counter", "Number of generation tokens processed.",
		func(w *worker) any { return w.outputTokens })
	p.head("vllm:request_success_total", "counter", "Count of successfully processed requests.")
	for i := from; i < to; i++ {
		p.line("vllm:request_success_total", strings.TrimSuffix(labels(i), "}")+`,finished_reason="length"}`, e.workers[i].shown.finished)
	}
	sum := func(name, help string, value func(*worker) sums) {
		p.head(name, "histogram", help)
		for i := from; i < to; i++ {
			p.sums(name, labels(i), value(e.workers[i]))
		}
	}
	sum("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.",
		func(w *worker) sums { return w.shown.ttft })
	sum("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.",
		func(w *worker) sums { return w.shown.itl })
}

// writeLast is what the frontend says of each worker in any router mode.
func (e *engine) writeLast(p *page) {
	e.mu.Lock()
	defer e.mu.Unlock()
	const prefix = "dynamo_frontend_worker_last_"
	each := func(name, help string, value func(*worker) any) {
		p.head(prefix+name, "gauge", help)
		for i, w := range e.workers {
			if w.shown.ttft.n == 0 {
				continue // a series appears with the first request
			}
			p.line(prefix+name, fmt.Sprintf(`{dp_rank="none",worker_id="%d",worker_type="decode"}`, workerID(i)), value(w))
		}
	}
	each("time_to_first_token_seconds", "Last observed time to first token per worker (seconds)",
		func(w *worker) any { return w.shown.lastTTFT })
	each("inter_token_latency_seconds", "Last observed inter-token latency per worker (seconds)",
		func(w *worker) any { return w.shown.lastITL })
	each("input_sequence_tokens", "Last observed input sequence tokens per worker",
		func(w *worker) any { return w.shown.lastPrompt })
}

// kvUsage is the share of a worker's KV cache that m running streams reserve.
func (p Params) kvUsage(m int) float64 {
	if p.KVTokens == 0 {
		return 0
	}
	return min(1, float64(m*p.KVTokensPerStream*p.WorkersPerGPU)/float64(p.KVTokens))
}

// sums shows a histogram by its one bucket that holds all.
func (p *page) sums(name, labels string, s sums) {
	inner := ""
	if labels != "" {
		inner = labels[1:len(labels)-1] + ","
	}
	p.line(name+"_bucket", "{"+inner+`le="+Inf"}`, s.n)
	p.line(name+"_sum", labels, s.sum)
	p.line(name+"_count", labels, s.n)
}
