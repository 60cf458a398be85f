package enginesim

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// value is the sum of a page's lines of one series whose labels contain all of
// the given ones.
func value(t *testing.T, page, name string, labels ...string) float64 {
	t.Helper()
	sum, found := 0.0, false
	for line := range strings.Lines(page) {
		series, v, ok := strings.Cut(strings.TrimSpace(line), " ")
		bare, _, _ := strings.Cut(series, "{")
		if !ok || bare != name || !containsAll(series, labels) {
			continue
		}
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		sum, found = sum+x, true
	}
	if !found {
		t.Fatalf("no %s with %q in\n%s", name, labels, page)
	}
	return sum
}

// underLoad looks at the engine in the middle of a closed loop of n streams.
func underLoad(t *testing.T, spec string, n int, look func(s *Sim, c *client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		served(t, quiet(t, spec), func(s *Sim, c *client) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				c.hold(n, 4, fixed(256))
			}()
			// In the middle of the second of four waves, or where they have
			// spread out: one takes n·256/X(n).
			time.Sleep(time.Duration(1.5 * float64(n) * 256 / (s.p.Throughput(float64(n)/float64(s.p.GPUs)) * float64(s.p.GPUs)) * float64(time.Second)))
			look(s, c)
			<-done
		})
	})
}

// Past the ceiling the engines hold what the ceiling leaves of their time; the
// rest is in the frontend, whose stages take the time before the first token.
func TestFrontendHoldsWhatTheCeilingKeepsBack(t *testing.T) {
	for _, n := range []int{64, 180, 360} {
		underLoad(t, "frontend-bound", n, func(s *Sim, c *client) {
			page := c.get(t, "/metrics")
			free := s.p
			free.FrontendTokPerSec = 0
			share := min(1, s.p.Throughput(float64(n))/free.Throughput(float64(n)))
			running := value(t, page, "vllm:num_requests_running")
			if math.Abs(running-share*float64(n)) > 1 || value(t, page, "vllm:num_requests_waiting") != 0 {
				t.Errorf("%d streams: %v running, want %.1f, none waiting", n, running, share*float64(n))
			}
			if active := value(t, page, "dynamo_frontend_active_requests"); active != float64(n) {
				t.Errorf("%d streams: the frontend shows %v", n, active)
			}
			held := value(t, page, "dynamo_tokio_global_queue_depth")
			if held != float64(n)-running {
				t.Errorf("%d streams: %v held, %v running", n, held, running)
			}
			stage := value(t, page, "dynamo_frontend_stage_duration_seconds_sum", `stage="preprocess"`) /
				value(t, page, "dynamo_frontend_stage_duration_seconds_count", `stage="preprocess"`)
			stalls := value(t, page, "dynamo_frontend_event_loop_stall_total")
			if past := share < 1; past != (stage > 0.01) || past != (stalls > 0) {
				t.Errorf("%d streams: preprocess takes %v s, %v stalls, ceiling passed: %v", n, stage, stalls, past)
			}
		})
	}
}

// GB300's collapse is the frontend's: the engines run ever fewer of more streams.
func TestGB300CollapsesInFrontOfTheEngines(t *testing.T) {
	before := 0.0
	for _, n := range []int{128, 256} {
		underLoad(t, "gb300", n, func(_ *Sim, c *client) {
			page := c.get(t, "/metrics")
			running := value(t, page, "vllm:num_requests_running")
			if n == 128 && running != 128 || n == 256 && running > before/2 {
				t.Errorf("%v of %d run, after %v", running, n, before)
			}
			before = running
		})
	}
}

// A worker's own page says what the common one says of it; ids are the same
// number, in hexadecimal there and decimal on the frontend's side.
func TestWorkerPages(t *testing.T) {
	underLoad(t, "sick-worker", 96, func(s *Sim, c *client) {
		common := c.get(t, "/metrics")
		ids := regexp.MustCompile(`worker_last_time_to_first_token_seconds{dp_rank="none",worker_id="(\d+)"`).FindAllStringSubmatch(common, -1)
		if len(ids) != 4 {
			t.Fatalf("%d decimal ids, want 4, in\n%s", len(ids), common)
		}
		for i, m := range ids {
			id, err := strconv.ParseUint(m[1], 10, 64)
			if err != nil || uint64(float64(id)) == id && float64(id) < 1<<53 {
				t.Errorf("id %s: %v; want one that no float holds", m[1], err)
			}
			page := c.get(t, fmt.Sprintf("/workers/%d/metrics", i))
			hex := fmt.Sprintf(`worker_id="%x"`, id)
			if !strings.Contains(page, "dynamo_component_uptime_seconds{"+hex+"}") {
				t.Errorf("worker %d does not call itself %s:\n%s", i, hex, page)
			}
			for _, name := range []string{"vllm:num_requests_running", "vllm:generation_tokens_total", "vllm:inter_token_latency_seconds_sum"} {
				if own, there := value(t, page, name), value(t, common, name, `"`+m[1]+`"`); own != there {
					t.Errorf("worker %d: %s is %v on its page and %v on the common one", i, name, own, there)
				}
			}
		}
		itl := func(i int) float64 {
			page := c.get(t, fmt.Sprintf("/workers/%d/metrics", i))
			return value(t, page, "vllm:inter_token_latency_seconds_sum") / value(t, page, "vllm:inter_token_latency_seconds_count")
		}
		if ratio := itl(3) / itl(0); math.Abs(ratio-2) > 0.1 {
			t.Errorf("the worker at half speed takes %.2f times as long for a token", ratio)
		}
		for _, path := range []string{"/workers/4/metrics", "/workers/-1/metrics", "/workers/x/metrics"} {
			resp, err := c.http.Get(c.base + path)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %s", path, resp.Status)
			}
		}
	})
}

// What is shed is counted where Dynamo counts it.
func TestShedCounters(t *testing.T) {
	underLoad(t, "shedding", 80, func(s *Sim, c *client) {
		page := c.get(t, "/metrics")
		shed := value(t, page, "dynamo_frontend_requests_total", `error_type="overload"`)
		if shed == 0 || shed != value(t, page, "dynamo_frontend_model_rejection_total") || shed > float64(s.Counters().Shed) {
			t.Errorf("%v on the page, %d counted", shed, s.Counters().Shed)
		}
		if w := value(t, page, "vllm:num_requests_waiting"); w > 8 {
			t.Errorf("%v wait behind a bound of 8", w)
		}
	})
}
