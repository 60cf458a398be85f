package enginesim

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// statusOverloaded is what Dynamo's frontend sheds with.
const statusOverloaded = 529

// shedDelay is how long a refusal takes. Without it a closed loop would send
// its next request in the same instant, for ever.
const shedDelay = 50 * time.Millisecond

func (s *Sim) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, true) })
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, false) })
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("GET /live", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"status": "live", "message": "Service is live"})
	})
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /workers/{worker}/metrics", s.workerMetrics)
	return mux
}

func (s *Sim) complete(w http.ResponseWriter, r *http.Request, chat bool) {
	if id := r.Header.Get("X-Request-Id"); id != "" {
		w.Header().Set("X-Request-Id", id)
	}
	arrived := time.Now()
	s.engine.note(func(c *Counters) { c.Requests++ })
	o, err := readOrder(w, r, s.p.Model, chat)
	if err != nil {
		s.engine.note(func(c *Counters) { c.Rejected++ })
		s.refuse(w, o, err)
		return
	}
	job := newStream(o.prompt, o.tokens)
	if !s.engine.submit(job) {
		s.shed(w, r, o)
		return
	}
	s.stats.started(o)
	a := &answering{sim: s, w: w, r: r, job: job, arrived: arrived, writer: newWriter(o, job, s.p, arrived.Unix())}
	if o.stream {
		a.stream()
	} else {
		a.whole()
	}
}

func (s *Sim) shed(w http.ResponseWriter, r *http.Request, o order) {
	select {
	case <-time.After(shedDelay):
	case <-r.Context().Done():
	case <-s.done:
	}
	s.refuse(w, o, refuse(statusOverloaded, "Overloaded", "Service temporarily overloaded"))
}

func (s *Sim) refuse(w http.ResponseWriter, o order, err error) {
	var r *refusal
	if !errors.As(err, &r) {
		r = &refusal{Message: err.Error(), Type: "Internal Server Error", Code: http.StatusInternalServerError}
	}
	s.stats.refused(o, r.Code)
	answer(w, r.Code, r)
}

func answer(w http.ResponseWriter, code int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(b) // a client that has gone is no news
}

func (s *Sim) models(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": s.p.Model, "object": "model", "created": time.Now().Unix(), "owned_by": "nvidia", "context_window": contextWindow,
	}}})
}

// health lists one instance a live worker, so that a lost one can be counted.
func (s *Sim) health(w http.ResponseWriter, _ *http.Request) {
	var instances []any
	for i := range s.p.live() {
		instances = append(instances, map[string]any{
			"component": "backend", "endpoint": "generate", "namespace": "simulator",
			"instance_id": workerID(i), "device_type": "cuda",
		})
	}
	answer(w, http.StatusOK, map[string]any{
		"status": "healthy", "endpoints": []string{"dyn://simulator.backend.generate"}, "instances": instances,
	})
}

// workerID is above 2^53, as Dynamo's are: it does not survive a float.
func workerID(i int) uint64 { return 1<<60 | mix(0, forID, uint64(i))>>4 }
