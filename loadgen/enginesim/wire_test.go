package enginesim

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
)

// What a real frontend answered to the same requests, byte for byte but for
// identifiers, times and the words themselves.
func TestAnswersMatchTheRealFrontend(t *testing.T) {
	const chat, completions = "/v1/chat/completions", "/v1/completions"
	const ask = `{"model":"tiny","messages":[{"role":"user","content":"w10 w11 w12 w13"}],"max_tokens":`
	for _, tc := range []struct{ capture, path, body string }{
		{"stream-usage", chat, ask + `4,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`},
		{"stream-one-token", chat, ask + `1,"stream":true,"stream_options":{"include_usage":true}}`},
		{"stream-no-usage", chat, ask + `4,"stream":true}`},
		{"stream-continuous-usage", chat, ask + `4,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`},
		{"completions-stream", completions, `{"model":"tiny","prompt":"w10 w11","max_tokens":2,"stream":true,"stream_options":{"include_usage":true}}`},
		{"unary", chat, ask + `4,"ignore_eos":true}`},
		{"error-model", chat, `{"model":"nope","messages":[{"role":"user","content":"w1"}],"max_tokens":3,"stream":true}`},
		{"error-json", chat, `{"model":`},
		{"error-max-tokens-0", chat, ask + `0,"stream":true}`},
		{"error-unknown-field", chat, ask + `2,"bogus_field":1}`},
		{"error-no-messages", chat, `{"model":"tiny","messages":[],"max_tokens":2}`},
		{"error-stream-options-unary", chat, ask + `2,"stream_options":{"include_usage":true}}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			served(t, target(t, "compute?model=tiny&chunk=1"), func(_ *Sim, c *client) {
				resp, err := c.post(t.Context(), tc.path, tc.body)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = resp.Body.Close() }()
				got, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				status, kind, want := capture(t, tc.capture)
				if g := resp.Header.Get("Content-Type"); !strings.Contains(status, resp.Status) || g != kind {
					t.Errorf("%s: %s, %s, want %s, %s", tc.capture, resp.Status, g, status, kind)
				}
				if g, w := masked(got), masked(want); g != w {
					t.Errorf("%s:\ngot  %s\nwant %s", tc.capture, g, w)
				}
			})
		})
	}
}

func capture(t *testing.T, name string) (status, kind string, body []byte) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".http"))
	if err != nil {
		t.Fatal(err)
	}
	head, body, ok := bytes.Cut(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	if !ok {
		t.Fatalf("%s has no body", name)
	}
	for i, line := range strings.Split(string(head), "\n") {
		if i == 0 {
			status = line
		} else if v, ok := strings.CutPrefix(line, "content-type: "); ok {
			kind = v
		}
	}
	return status, kind, body
}

var masks = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`"id":"(chatcmpl|cmpl)-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`), `"id":"$1"`},
	{regexp.MustCompile(`"created":\d+`), `"created":0`},
	{regexp.MustCompile(` w1\d{3}`), ` w`},
	// Parsers differ in what they say of the same broken JSON.
	{regexp.MustCompile(`(into the target type: )[^"]*`), `$1`},
}

func masked(b []byte) string {
	for _, m := range masks {
		b = m.what.ReplaceAll(b, []byte(m.with))
	}
	return strings.TrimRight(string(b), "\n")
}

// These pages are compared by content: their JSON has another order of keys.
func TestInformationPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served(t, target(t, "lost-worker"), func(_ *Sim, c *client) {
			for path, want := range map[string][]string{
				"/live":      {`"status":"live"`, `"message":"Service is live"`},
				"/health":    {`"status":"healthy"`, `"endpoint":"generate"`},
				"/v1/models": {`"id":"simulated/model"`, `"object":"list"`, `"context_window":131072`},
			} {
				if got := c.get(t, path); !containsAll(got, want) {
					t.Errorf("%s: %s", path, got)
				}
			}
			if n := strings.Count(c.get(t, "/health"), "instance_id"); n != 3 {
				t.Errorf("/health lists %d workers, want 3 of 4", n)
			}
			resp, err := c.http.Get(c.base + "/v1/chat/completions")
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("GET: %s", resp.Status)
			}
		})
	})
}

func containsAll(s string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

func (c *client) get(t *testing.T, path string) string {
	t.Helper()
	resp, err := c.http.Get(c.base + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Both dialects of the metrics page agree with the counters under load.
func TestMetricsAreTheCounters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served(t, quiet(t, "kv-bound"), func(s *Sim, c *client) {
			c.hold(4, 2, fixed(16))
			var open []*http.Response
			for range 40 {
				resp, err := c.post(t.Context(), "/v1/chat/completions",
					`{"model":"simulated/model","messages":[{"role":"user","content":"a b"}],"max_tokens":64,"stream":true}`)
				if err != nil {
					t.Fatal(err)
				}
				open = append(open, resp)
			}
			got := c.get(t, "/metrics")
			for _, want := range []string{
				`dynamo_frontend_output_tokens_total{model="simulated/model"} 128`,
				`dynamo_frontend_queued_requests{model="simulated/model"} 40`,
				`dynamo_frontend_active_requests{model="simulated/model"} 40`,
				`dynamo_frontend_model_max_num_seqs{model="simulated/model"} 256`,
				`dynamo_frontend_model_total_kv_blocks{model="simulated/model"} 8192`,
				`dynamo_frontend_requests_started_total{endpoint="chat_completions",model="simulated/model",request_type="stream"} 48`,
				`dynamo_frontend_requests_total{endpoint="chat_completions",error_type="",model="simulated/model",request_type="stream",status="success"} 8`,
				`dynamo_frontend_time_to_first_token_seconds_bucket{model="simulated/model",le="+Inf"} 8`,
				`dynamo_frontend_input_sequence_tokens_sum{model="simulated/model"} 104`,
				`vllm:num_requests_running{engine="0",model_name="simulated/model",worker_id="1391228679051956570"} 32`,
				`vllm:num_requests_waiting{engine="0",model_name="simulated/model",worker_id="1391228679051956570"} 8`,
				`vllm:kv_cache_usage_perc{engine="0",model_name="simulated/model",worker_id="1391228679051956570"} 1`,
				`vllm:generation_tokens_total{engine="0",model_name="simulated/model",worker_id="1391228679051956570"} 128`,
			} {
				if !strings.Contains(got, want+"\n") {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			for _, resp := range open {
				_ = resp.Body.Close()
			}
			synctest.Wait()
			if n := s.Counters(); n.Running != 0 || n.Waiting != 0 || n.Cancelled != 40 || n.PromptTokens != 8*3+40*2 {
				t.Errorf("after the clients left: %+v", n)
			}
		})
	})
}

func TestPromptTokensAreWords(t *testing.T) {
	for _, tc := range []struct {
		body string
		chat bool
		want int // −1 = refused
	}{
		{`{"messages":[{"role":"system","content":"be  brief"},{"role":"user","content":"\n one\ttwo "}]}`, true, 4},
		{`{"messages":[{"role":"user","content":[{"type":"text","text":"a b"},{"type":"text","text":"c"}]}]}`, true, 3},
		{`{"messages":[{"role":"user","content":null}]}`, true, 0},
		{`{"messages":[{"role":"user","content":7}]}`, true, -1},
		{`{"prompt":"a b c"}`, false, 3},
		{`{"prompt":["a b c"]}`, false, 3},
		{`{"prompt":[1,2]}`, false, 2},
		{`{"prompt":["a","b"]}`, false, -1},
		{`{"prompt":null}`, false, -1},
		{`{}`, false, -1},
		{`{"prompt":"a","n":2}`, false, -1},
		{`{"prompt":"a","max_completion_tokens":-3}`, false, -1},
		{`{"prompt":"a","max_tokens":131072}`, false, -1},
	} {
		b, err := parseBody([]byte(tc.body))
		var o order
		if err == nil {
			o, err = b.order(tc.chat)
		}
		if (err != nil) != (tc.want < 0) || err == nil && o.prompt != tc.want {
			t.Errorf("%s: %d tokens, %v", tc.body, o.prompt, err)
		}
	}
}
