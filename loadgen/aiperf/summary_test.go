package aiperf

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// failed is a measured request that ended otherwise.
func failed(o loadgen.Outcome, text string) loadgen.Request {
	return loadgen.Request{Number: 99, Outcome: o, Error: text, Asked: msec, Sent: 2 * msec, End: 3 * msec}
}

// TestSummary: the values of requests whose times are known.
func TestSummary(t *testing.T) {
	o := options(t, [2]string{"goodput", "time_to_first_token:50 output_token_throughput_per_user:99"})
	slow := request(40, 100*msec)
	slow.FirstToken += msec
	slow.OutputTokens = 3
	c, _ := recorded(t, o, slow, failed(loadgen.Shed, "status 503 Service Unavailable: full"), failed(loadgen.Shed, "status 503 Service Unavailable: full"), failed(loadgen.Truncated, "cut"))
	run := aRun(o)
	run.Result.Measured = loadgen.Outcomes{loadgen.OK: 21, loadgen.Shed: 2, loadgen.Truncated: 1}
	s := summary(t, c, run)
	// Waves at 100, 200 … 500 ms, each sent 2 ms later and over 80 ms after that.
	for _, w := range []struct {
		tag, stat string
		want      float64
	}{
		{"benchmark_duration", "avg", .48}, {"request_count", "avg", 21}, {"error_request_count", "avg", 3}, {"completed_request_count", "avg", 24},
		{"request_error_rate", "avg", 12.5}, {"total_osl", "avg", 83}, {"total_isl", "avg", 21 * 128}, {"output_token_throughput", "avg", 83 / .48},
		{"total_token_throughput", "avg", (83 + 21*128) / .48}, {"request_throughput", "avg", 21 / .48},
		{"time_to_first_token", "max", 51}, {"time_to_first_token", "min", 50}, {"time_to_first_token", "count", 21}, {"time_to_first_token", "p50", 50},
		{"time_to_second_token", "max", 10}, {"time_to_second_token", "min", 9}, {"time_to_first_output_token", "max", 50},
		{"request_latency", "avg", 80}, {"request_latency", "std", 0}, {"inter_token_latency", "min", 10}, {"inter_token_latency", "max", 14.5},
		{"output_token_throughput_per_user", "max", 100}, {"decode_duration", "max", 30}, {"decode_duration", "min", 29}, {"e2e_output_token_throughput", "max", 50},
		{"prefill_throughput_per_user", "max", 2560}, {"inter_chunk_latency", "count", 63}, {"inter_chunk_latency", "sum", 630}, {"inter_chunk_latency", "p99", 10},
		{"credit_to_start_latency", "avg", 2}, {"effective_latency", "avg", 83}, {"http_req_duration", "avg", 81}, {"http_req_connection_reused", "avg", 1},
		{"http_req_connection_overhead", "avg", 0}, {"osl_mismatch_count", "avg", 1}, {"osl_mismatch_diff_pct", "min", -25}, {"usage_total_tokens", "max", 132},
		{"good_request_count", "avg", 20}, {"goodput", "avg", 20 / .48}, {"good_request_fraction", "avg", 20. / 24},
	} {
		if got := stat(t, s, w.tag, w.stat); !near(got, w.want, 1e-9) {
			t.Errorf("%s.%s = %v, want %v", w.tag, w.stat, got, w.want)
		}
	}
	warm := s["warmup_metrics"].(map[string]any)
	if stat(t, warm, "request_count", "avg") != 4 || stat(t, warm, "http_req_connection_overhead", "avg") != 1 || warm["error_request_count"] != nil || warm["good_request_count"] != nil {
		t.Errorf("warm-up: %v", warm["request_count"])
	}
	for _, absent := range []string{"reasoning_token_count", "total_reasoning_tokens", "usage_prompt_cache_read_tokens", "incomplete_reason"} {
		if s[absent] != nil {
			t.Errorf("%s is there without a source: %v", absent, s[absent])
		}
	}
	errs := s["error_summary"].([]any)
	first := errs[0].(map[string]any)
	details := first["error_details"].(map[string]any)
	if len(errs) != 2 || first["count"] != 2.0 || details["code"] != 503.0 || details["type"] != "Service Unavailable" || details["message"] != "full" {
		t.Errorf("error_summary: %v", errs)
	}
	if s["is_complete"] != true || s["was_cancelled"] != false || s["start_time"] != "2026-11-29T22:30:31.682787Z" {
		t.Errorf("%v %v %v", s["is_complete"], s["was_cancelled"], s["start_time"])
	}
}

// TestOptionalTokens: what only some servers tell is there when it is told.
func TestOptionalTokens(t *testing.T) {
	o := options(t)
	r := request(50, 0)
	r.ReasoningTokens, r.CachedTold = 3, true
	c, _ := recorded(t, o, r)
	s := summary(t, c, aRun(o))
	if stat(t, s, "reasoning_token_count", "avg") != 3 || stat(t, s, "reasoning_token_count", "count") != 1 || stat(t, s, "total_reasoning_tokens", "avg") != 3 ||
		stat(t, s, "output_token_count", "min") != 1 || stat(t, s, "usage_prompt_cache_read_tokens", "avg") != 0 || stat(t, s, "total_output_tokens", "avg") != 81 {
		t.Errorf("%v", s["reasoning_token_count"])
	}
}

// TestNothingMeasured: without an OK request there is no metric of one, and no
// zero in place of it.
func TestNothingMeasured(t *testing.T) {
	o := options(t)
	c := NewRecorder(o, nil)
	c.Add(failed(loadgen.Connect, "refused"))
	run := aRun(o)
	run.Cancelled, run.Incomplete = true, "given up"
	s := summary(t, c, run)
	if s["time_to_first_token"] != nil || s["request_count"] != nil || s["output_token_throughput"] != nil || s["warmup_metrics"] != nil ||
		stat(t, s, "error_request_count", "avg") != 1 || stat(t, s, "request_error_rate", "avg") != 100 {
		t.Errorf("%v", s)
	}
	if s["was_cancelled"] != true || s["is_complete"] != false || s["incomplete_reason"] != "given up" {
		t.Errorf("%v", s["incomplete_reason"])
	}
	b, err := c.CSV(run)
	if err != nil || !strings.HasPrefix(string(b), "Metric,Value\n") || bytes.Contains(b, []byte("p99")) {
		t.Errorf("%s, %v", b, err)
	}
	if empty := summary(t, NewRecorder(o, nil), run); len(empty["error_summary"].([]any)) != 0 || empty["error_request_count"] != nil {
		t.Errorf("%v", empty)
	}
}

// TestGivesUp once, when the share of failed requests is passed, and not
// before there are enough to tell; the warm-up does not count.
func TestGivesUp(t *testing.T) {
	o := options(t, [2]string{"failed-request-threshold", "0.5"}, [2]string{"concurrency", "2"})
	calls := 0
	c := NewRecorder(o, func() { calls++ })
	for range 30 {
		r := failed(loadgen.Timeout, "late")
		r.WarmUp = true
		c.Add(r)
	}
	for i := range 4 {
		c.Add(request(uint64(i), 0))
	}
	for range 5 {
		c.Add(failed(loadgen.Timeout, "late"))
	}
	if c.GaveUp {
		t.Error("given up after 9 requests")
	}
	c.Add(failed(loadgen.Timeout, "late"))
	c.Add(failed(loadgen.Timeout, "late"))
	if !c.GaveUp || calls != 1 {
		t.Errorf("given up %v, told %d times", c.GaveUp, calls)
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		o    loadgen.Outcome
		text string
		want failure
	}{
		{loadgen.HTTPStatus, "status 404 Not Found: no such model", failure{404, "Not Found", "no such model"}},
		{loadgen.Shed, "status 529 : busy: very", failure{529, "HTTPError", "busy: very"}},
		{loadgen.Shed, "status 503 Service Unavailable: Retry-After 1: busy", failure{503, "Service Unavailable", "Retry-After 1: busy"}},
		{loadgen.HTTPStatus, "something else", failure{0, "HTTPError", "something else"}},
		{loadgen.Cancelled, "stopped", failure{499, "RequestCancellationError", "stopped"}},
		{loadgen.Timeout, "late", failure{0, "TimeoutError", "late"}},
		{loadgen.InBand, "status 404 : in a stream", failure{0, "InBandError", "status 404 : in a stream"}},
		{loadgen.Unfinished, "the answer did not come to its end: finish_reason abort", failure{0, "UnfinishedAnswerError", "the answer did not come to its end: finish_reason abort"}},
	} {
		if got := failureOf(c.o, c.text); got != c.want {
			t.Errorf("%s %q: %+v, want %+v", c.o, c.text, got, c.want)
		}
	}
	fs := failures{}
	for i := range 1000 {
		fs.add(failure{Type: "T", Message: time.Duration(i).String()})
	}
	if l := fs.list(); len(l) != maxFailures+1 || l[0].Count != 900 || l[0].Details.Message != "and others like it" {
		t.Errorf("%d lines, %+v", len(l), l[0])
	}
	for o := range failureTypes() {
		if failureOf(o, "").Type == "" {
			t.Errorf("%s has no type", o)
		}
	}
}
