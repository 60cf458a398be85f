package enginesim

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The same engine over real sockets: counts are exact, times are only sane.
func TestLoopback(t *testing.T) {
	p := target(t, "gb300?model=tiny")
	s := New(p)
	base, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &client{base: base, model: p.Model, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	const n, rounds, tokens = 32, 3, 32
	for _, r := range c.hold(n, rounds, fixed(tokens)) {
		if r.status != http.StatusOK || r.failed != "" || r.words != tokens || r.usage != tokens {
			t.Fatalf("reply %+v", r)
		}
		if !r.first.After(r.sent) || r.end.Before(r.first) {
			t.Fatalf("times %+v", r)
		}
	}
	got := s.Counters()
	if got.Completed != n*rounds || got.OutputTokens != n*rounds*tokens || got.GeneratedTokens != got.OutputTokens ||
		got.PromptTokens != n*rounds*3 || got.Running != 0 || got.MaxRunning > n {
		t.Errorf("counters %+v", got)
	}
	c.close()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// Close ends streams that are under way, in whatever state.
func TestCloseEndsOpenStreams(t *testing.T) {
	p := target(t, "batch-cap?stall=0.9")
	s := New(p)
	base, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &client{base: base, model: p.Model, http: &http.Client{Transport: &http.Transport{}}}
	var open []*http.Response
	for range 60 { // headers come at once, tokens never
		resp, err := c.post(t.Context(), "/v1/chat/completions",
			`{"model":"simulated/model","messages":[{"role":"user","content":"a"}],"max_tokens":1000,"stream":true}`)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, resp)
	}
	if c := s.Counters(); c.Running != 48 || c.Waiting != 12 {
		t.Errorf("before Close: %+v", c)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	for _, resp := range open {
		if _, err := io.ReadAll(resp.Body); err == nil {
			t.Error("a stream ended as if it were whole")
		}
		_ = resp.Body.Close()
	}
	if _, err := s.Dial(t.Context(), "", ""); err == nil {
		t.Error("a closed engine can be dialled")
	}
	c.close()
}

func TestListenErrorsSayWhatToDo(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	s := New(target(t, "kneed"))
	defer func() { _ = s.Close() }()
	if _, err := s.Listen(taken.Addr().String()); err == nil || !strings.Contains(err.Error(), "port 0") {
		t.Errorf("%v", err)
	}
}

// Whatever is posted, the answer is one of the known ones and never a panic.
func FuzzHandler(f *testing.F) {
	for _, body := range []string{
		`{"model":"simulated/model","messages":[{"role":"user","content":"a b"}],"max_tokens":3,"stream":true}`,
		`{"model":"simulated/model","prompt":[1,2],"max_tokens":3}`,
		`{"model":"simulated/model","prompt":"x","max_tokens":9223372036854775807}`,
		`{"model":"simulated/model","messages":[{"content":[{"text":"\ud800"}]}],"stream_options":null}`,
		`{"model":7}`, `[]`, `null`, "\xff", `{"model":"simulated/model","messages":[null]}`,
	} {
		f.Add(body, true, "application/json")
		f.Add(body, false, "application/json; charset=utf-8")
	}
	f.Add(`{}`, true, "text/plain")
	s := New(target(f, "kneed?truncated=0.3&inband=0.3"))
	f.Cleanup(func() { _ = s.Close() })
	routes := s.routes()
	f.Fuzz(func(t *testing.T, body string, chat bool, kind string) {
		path := "/v1/completions"
		if chat {
			path = "/v1/chat/completions"
		}
		// The client is gone already, so that no answer takes its time.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		routes.ServeHTTP(w, r)
		switch w.Code {
		case http.StatusOK:
		case http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, statusOverloaded:
			var e refusal
			if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.Code != w.Code || e.Message == "" {
				t.Fatalf("%d with body %q: %v", w.Code, w.Body, err)
			}
		default:
			t.Fatalf("status %d for %q", w.Code, body)
		}
		if c := s.Counters(); c.Running+c.Waiting != 0 {
			t.Fatalf("left behind: %+v", c)
		}
	})
}

func TestBodyLimit(t *testing.T) {
	s := New(target(t, "kneed"))
	defer func() { _ = s.Close() }()
	r := httptest.NewRequest(http.MethodPost, "/v1/completions", strings.NewReader(fmt.Sprintf(`{"prompt":"%s"}`, strings.Repeat("a", maxBody))))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.routes().ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d: %.200s", w.Code, w.Body)
	}
}
