package loadgen

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// teller is an engine that is asked for its own times.
type teller struct {
	engine
	adds   time.Duration // before the engine sees a request, as a proxy would
	mood   string        // "ignores" or "refuses" nvext, or tells
	ids    string        // of the workers, as JSON
	asked  int
	others int // requests without nvext
}

func (s *teller) answer(_ int64, w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet {
		http.NotFound(w, r)
		return true
	}
	s.mu.Lock()
	ext := s.bodies[len(s.bodies)-1]["nvext"]
	if ext == nil {
		s.others++
	} else if s.asked++; fmt.Sprint(ext) != "map[extra_fields:[timing worker_id]]" {
		s.asked = -100
	}
	s.mu.Unlock()
	if ext != nil && s.mood == "refuses" {
		http.Error(w, `{"message":"Unsupported parameter(s): nvext"}`, http.StatusBadRequest)
		return true
	}
	w.Header().Set("Content-Type", "text/event-stream")
	time.Sleep(s.adds + s.ttft)
	fmt.Fprint(w, chat("w"))
	if ext != nil && s.mood == "tells" {
		fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}],"nvext":{"worker_id":%s,"timing":{"request_received_ms":1795991869886,"ttft_ms":%g}}}`+"\n\n", s.ids, float64(s.ttft)/1e6)
	} else {
		fmt.Fprint(w, finish)
	}
	fmt.Fprint(w, usageOf("1"), done)
	return true
}

// TestServerTiming: what the server says of its TTFT is compared with what is
// measured, once; servers that say nothing are as good; no load carries the
// question.
func TestServerTiming(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name       string
		mood       string
		ttft, adds time.Duration
		told, warn bool
	}{
		{"agrees", "tells", 100 * ms, 0, true, false},
		{"just inside", "tells", 100 * ms, 15 * ms, true, false},
		{"beyond", "tells", 100 * ms, 15*ms + 1, true, true},
		{"small, just inside", "tells", 2 * ms, 5 * ms, true, false},
		{"the delayed acknowledgement", "tells", 2 * ms, 41 * ms, true, true},
		{"ignored", "ignores", 100 * ms, 50 * ms, false, false},
		{"refused", "refuses", 100 * ms, 50 * ms, false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &teller{engine: engine{ttft: c.ttft}, adds: c.adds, mood: c.mood, ids: "null"}
			s.special = s.answer
			dial, stop := s.serve()
			cfg := Config{BaseURL: "http://engine", Model: "m", Dial: dial}
			p, err := RunPreflight(t.Context(), cfg, tokens(1, 0))
			if err != nil || s.asked != 1 || int64(s.asked+s.others) != p.Requests {
				t.Fatalf("%s: asked %d times in %d of %d requests, %v", c.name, s.asked, s.asked+s.others, p.Requests, err)
			}
			want := [2]float64{}
			if c.told {
				want = [2]float64{float64(c.ttft) / 1e6, float64(c.ttft+c.adds) / 1e6}
			}
			if [2]float64{p.ServerTTFTMS, p.ClientTTFTMS} != want {
				t.Errorf("%s: server %g, client %g, want %v", c.name, p.ServerTTFTMS, p.ClientTTFTMS, want)
			}
			warned := strings.Contains(strings.Join(p.Warnings, "\n"), "the server says")
			if warned != c.warn {
				t.Errorf("%s: warnings %q", c.name, p.Warnings)
			}
			cfg.Concurrency, cfg.Kind, cfg.Workload = 1, Gate, workload(t, tokens(1, 0))
			r, err := Run(t.Context(), cfg)
			stop()
			if err != nil || r.All.Bad() != 0 || s.asked != 1 {
				t.Errorf("%s: load asked %d times; %v, %v", c.name, s.asked-1, r.All, err)
			}
		})
	}
}

// TestServedBy: ids of 64 bits come through whole, and what is no id is none.
func TestServedBy(t *testing.T) {
	const big = "18446744073709551615" // nothing near it is a float64
	for name, c := range map[string]struct{ ids, worker, prefiller string }{
		"one worker":        {`{"prefill_worker_id":` + big + `,"decode_worker_id":` + big + `}`, big, ""},
		"two":               {`{"prefill_worker_id":1670803154388559761,"decode_worker_id":` + big + `,"decode_dp_rank":0}`, big, "1670803154388559761"},
		"no prefill worker": {`{"prefill_worker_id":null,"decode_worker_id":2521489949892347902}`, "2521489949892347902", ""},
		"not told":          {`null`, "", ""},
		"a list":            {`[7]`, "", ""},
		"as a float":        {`{"decode_worker_id":1.6e18}`, "", ""},
		"as text":           {`{"decode_worker_id":"22fe21c0000d07fe"}`, "", ""},
		"negative":          {`{"decode_worker_id":-5}`, "", ""},
		"of more bits":      {`{"decode_worker_id":184467440737095516150}`, "", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &teller{engine: engine{ttft: time.Millisecond}, mood: "tells", ids: c.ids}
			s.special = s.answer
			dial, stop := s.serve()
			p, err := RunPreflight(t.Context(), Config{BaseURL: "http://engine", Model: "m", Dial: dial}, tokens(1, 0))
			stop()
			if err != nil || p.WorkerID != c.worker || p.PrefillWorkerID != c.prefiller || p.ServerTTFTMS != 1 {
				t.Errorf("%s: workers %q and %q, %v ms, %v; want %q and %q", name, p.WorkerID, p.PrefillWorkerID, p.ServerTTFTMS, err, c.worker, c.prefiller)
			}
		})
	}
}
