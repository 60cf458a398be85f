package loadgen

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// host adds a list of models, prompt lengths and a server's moods to an
// engine.
type host struct {
	engine
	models     string // body of /v1/models
	status     int    // of /v1/models, 0 = 200
	perWord    float64
	overhead   int
	digits     int    // tokens more of a word with a number
	legacy     string // "refuses" or "ignores" max_completion_tokens, or what it says
	says       string // put into the first chunk
	noUsage    bool
	coldStarts []time.Duration // TTFT of the first requests
}

// count is the server's tokenizer.
func (h *host) count(text string) int {
	words, numbers := 0, 0
	for word := range strings.FieldsSeq(text) {
		words++
		if strings.ContainsAny(word, "0123456789") {
			numbers++
		}
	}
	return h.overhead + int(float64(words)*h.perWord) + h.digits*numbers
}

const oneModel = `{"object":"list","data":[{"id":"org/m","object":"model"}]}`

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/base/v1/models" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(max(h.status, 200))
		fmt.Fprint(w, h.models)
		return
	}
	if r.URL.Path != "/base/v1/chat/completions" {
		http.NotFound(w, r)
		return
	}
	h.engine.special = h.mood
	h.engine.ServeHTTP(w, r)
}

func (h *host) mood(n int64, w http.ResponseWriter, r *http.Request) bool {
	h.mu.Lock()
	body := h.bodies[n-1]
	h.mu.Unlock()
	limit, modern := body["max_completion_tokens"].(float64)
	if old, ok := body["max_tokens"].(float64); ok {
		limit = old
	} else if modern && h.legacy == "refuses" {
		http.Error(w, `{"error":{"message":"Unsupported parameter(s): max_completion_tokens"}}`, 400)
		return true
	} else if modern && h.legacy == "ignores" {
		limit = 500
	}
	switch _, eos := body["ignore_eos"]; {
	case eos && h.legacy == "refuses ignore_eos":
		http.Error(w, `{"error":{"message":"Unrecognized request argument supplied: ignore_eos"}}`, 400)
		return true
	case h.legacy == "stops early":
		limit = 16
	}
	wait := h.ttft
	if int(n) <= len(h.coldStarts) {
		wait = h.coldStarts[n-1]
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
		return true
	}
	fmt.Fprint(w, strings.Replace(chat("a"), "{", "{"+h.says, 1))
	_ = http.NewResponseController(w).Flush()
	time.Sleep(time.Duration(limit-1) * h.itl)
	fmt.Fprint(w, chat("b"), finish)
	if !h.noUsage {
		fmt.Fprintf(w, `data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`+"\n\n", h.count(prompt(body)), int(limit))
	}
	fmt.Fprint(w, done)
	h.mu.Lock()
	h.outputTokens += int64(limit)
	h.mu.Unlock()
	return true
}

// preflight runs one against h in virtual time.
func preflight(t *testing.T, h *host, model string, spec WorkloadSpec, check func(Preflight, error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if h.models == "" {
			h.models = oneModel
		}
		p := newPipes()
		s := &http.Server{Handler: h}
		ended := make(chan struct{})
		go func() { defer close(ended); _ = s.Serve(p) }()
		got, err := RunPreflight(t.Context(), Config{BaseURL: "http://engine/base/v1/", Model: model, APIKey: "sk-canary", Dial: p.Dial}, spec)
		_ = s.Close()
		<-ended
		check(got, err)
	})
}

func aicr(t *testing.T) WorkloadSpec {
	t.Helper()
	s, err := DefaultSpec(AICR)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPreflight(t *testing.T) {
	h := &host{engine: engine{ttft: 50 * time.Millisecond, itl: 10 * time.Millisecond}, perWord: 1.5, overhead: 7}
	preflight(t, h, "", aicr(t), func(p Preflight, err error) {
		if err != nil || p.Model != "org/m" || len(p.Models) != 1 || len(p.Warnings) != 0 {
			t.Fatalf("%+v, %v", p, err)
		}
		if !near(p.WordsPerToken, 1/1.5, 1e-9) || !near(p.OverheadTokens, 7, 1e-9) || p.OutputLimitField != modernLimit {
			t.Errorf("calibration %+v, want 1.5 tokens a word after 7", p)
		}
		if p.Requests != 4 || p.OutputTokens != h.outputTokens || p.TTFTMS != 50 || p.SlowestTTFTMS != 50 || p.E2EMS != 50+127*10 || p.StreamITLMS != 10 {
			t.Errorf("%+v; the server generated %d", p, h.outputTokens)
		}
		// What was calibrated is reached.
		w, err := NewWorkload(aicr(t), p)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(strings.Fields(text(w, 3))); n != 85 {
			t.Errorf("128 tokens take %d words, want 85", n)
		}
	})
}

// TestPreflightWarms: a cold start is waited for, told, and not taken as the
// server's speed.
func TestPreflightWarms(t *testing.T) {
	h := &host{engine: engine{ttft: 50 * time.Millisecond}, perWord: 1, coldStarts: []time.Duration{42 * time.Second, time.Second}}
	preflight(t, h, "org/m", aicr(t), func(p Preflight, err error) {
		if err != nil || p.Requests != 6 || p.TTFTMS != 50 || p.SlowestTTFTMS != 42000 {
			t.Errorf("%+v, %v", p, err)
		}
	})
	wild := &host{perWord: 1, coldStarts: []time.Duration{1e9, 3e9, 1e9, 3e9, 1e9, 3e9}}
	preflight(t, wild, "", aicr(t), func(p Preflight, err error) {
		if err != nil || p.Requests != 7 || len(p.Warnings) != 1 {
			t.Errorf("%+v, %v", p, err)
		}
	})
	never := &host{perWord: 1, coldStarts: []time.Duration{time.Hour}}
	preflight(t, never, "", aicr(t), func(p Preflight, err error) {
		if err == nil || !strings.Contains(err.Error(), "timeout") {
			t.Errorf("a server that never answers: %v", err)
		}
	})
}

func TestPreflightModels(t *testing.T) {
	two := `{"data":[{"id":"a"},{"id":"b"}]}`
	for _, c := range []struct {
		name, models string
		status       int
		model        string
		want         string // model, or text of the error
		bad          bool   // a mistake of the user
	}{
		{"served", two, 0, "b", "b", false},
		{"one of several needed", two, 0, "", "a, b", true},
		{"not served", two, 0, "c", "serves a, b", true},
		{"none yet", `{"data":[]}`, 0, "a", "no model yet", false},
		{"no list, named", "", 404, "a", "a", false},
		{"no list, not named", "", 404, "", "name the model", false},
		{"no key", `{"error":"Unauthorized: sk-canary"}`, 401, "a", "API key", false},
		{"loading", `{"error":{"message":"Loading model","code":503}}`, 503, "a", "Loading model", false},
		{"not json", "<html>", 0, "a", "status 200 without a list", false},
		{"redirected", "", 302, "a", "status 302 without a list", false},
		{"endless", `{"data":[` + strings.Repeat(`{"id":"x"},`, 500000), 0, "a", "status 200 without a list", false},
		{"a crowd", `{"data":[{"id":"y"}` + strings.Repeat(`,{"id":"x"}`, 1000) + "]}", 0, "", "x and 991 more", true},
		{"a control sequence", `{"data":[{"id":"m\u001b[31m"}]}`, 0, "", "not plain text", false},
		{"a name that fills the screen", `{"data":[{"id":"` + strings.Repeat("m", 5000) + `"}]}`, 0, "", "longer than", false},
		{"nothing but control characters", `{"data":[{"id":"\u001b\u0007"}]}`, 0, "", "not plain text", false},
		{"an odd one aside", `{"data":[{"id":"m\u202e"},{"id":"m"}]}`, 0, "", "m", false},
	} {
		h := &host{engine: engine{ttft: time.Millisecond}, perWord: 1, models: c.models + " ", status: c.status}
		preflight(t, h, c.model, aicr(t), func(p Preflight, err error) {
			if err == nil {
				if p.Model != c.want {
					t.Errorf("%s: model %q", c.name, p.Model)
				}
				return
			}
			if !strings.Contains(err.Error(), c.want) || isBadInput(err) != c.bad || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		})
	}
}

func TestPreflightServersWithLimits(t *testing.T) {
	for _, legacy := range []string{"refuses", "ignores"} {
		h := &host{engine: engine{ttft: time.Millisecond}, perWord: 1, legacy: legacy}
		preflight(t, h, "", aicr(t), func(p Preflight, err error) {
			if err != nil || p.OutputLimitField != legacyLimit || len(p.Warnings) != 1 || p.OutputTokens != h.outputTokens {
				t.Fatalf("%s: %+v, %v", legacy, p, err)
			}
			w, err := NewWorkload(aicr(t), p)
			if err != nil {
				t.Fatal(err)
			}
			if body := w.bodies(&Config{Model: "m"}).body(0).body; parsed(t, body)["max_tokens"] != 128.0 || parsed(t, body)["max_completion_tokens"] != nil {
				t.Errorf("%s: %s", legacy, body)
			}
		})
	}
	preflight(t, &host{noUsage: true}, "", aicr(t), func(p Preflight, err error) {
		if err == nil || !strings.Contains(err.Error(), "usage") {
			t.Errorf("no usage: %v", err)
		}
	})
	preflight(t, &host{engine: engine{ttft: time.Millisecond}, perWord: 0, overhead: 9}, "", aicr(t), func(p Preflight, err error) {
		if err != nil || p.WordsPerToken != 1 || len(p.Warnings) != 1 {
			t.Errorf("a server that counts no words: %+v, %v", p, err)
		}
	})
	eos := WorkloadSpec{Name: Synthetic, ISL: 64, OSL: 32, Seed: 1, IgnoreEOS: true}
	preflight(t, &host{perWord: 1, legacy: "refuses ignore_eos"}, "", eos, func(p Preflight, err error) {
		if err == nil || !strings.Contains(err.Error(), "--ignore-eos=false") {
			t.Errorf("ignore_eos refused: %v", err)
		}
	})
	preflight(t, &host{engine: engine{ttft: time.Millisecond}, perWord: 1, legacy: "stops early"}, "", eos, func(p Preflight, err error) {
		if err != nil || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "16 of 32 output tokens though ignore_eos was sent") {
			t.Errorf("ignore_eos not honoured: %q, %v", p.Warnings, err)
		}
	})
	if _, err := RunPreflight(t.Context(), Config{BaseURL: "http://u:s3cret@h"}, aicr(t)); !isBadInput(err) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("credentials in the URL: %v", err)
	}
}

// TestPreflightUnreachable over a real socket that nothing listens on.
func TestPreflightUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	_, err = RunPreflight(t.Context(), Config{BaseURL: "http://" + addr}, aicr(t))
	var bad *BadInputError
	if err == nil || errors.As(err, &bad) || !strings.Contains(err.Error(), addr) || !strings.Contains(err.Error(), "is the server up") {
		t.Errorf("%v", err)
	}
}

func TestParseBaseURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://h:8000": "http://h:8000", "http://h:8000/": "http://h:8000", "http://h/v1": "http://h", "http://h/v1/": "http://h",
		"https://h/base/v1": "https://h/base", "https://h/base//": "https://h/base", " http://[::1]:80/v1 ": "http://[::1]:80",
		"http://h/v1x": "http://h/v1x", "HTTP://h": "http://h", "http://h/a%2Fb/v1": "http://h/a%2Fb",
	} {
		if got, err := ParseBaseURL(in); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", "h:8000", "h", "ftp://h", "http://", "http://:80", "http://h?key=s3cret", "http://h/#s3cret", "http://h?",
		"http://alice:s3cret@h", "http://s3cret@h", "http://h:s3cret", "http://h:0", "http://http:/alice:s3cret@h", "http://https//alice:s3cret@h", "http://h:65536", "https://[::1]:99999999999999999999", "http://alice:s3cret@h:x y", "http://h/\x00s3cret",
	} {
		got, err := ParseBaseURL(in)
		if got != "" || !isBadInput(err) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

// TestPreflightKeyWithLineEnd: a key read from a file often ends in one.
func TestPreflightKeyWithLineEnd(t *testing.T) {
	_, err := RunPreflight(t.Context(), Config{BaseURL: "http://engine", APIKey: "sk-canary\n"}, aicr(t))
	if !isBadInput(err) || !strings.Contains(err.Error(), "control character") || strings.Contains(err.Error(), "canary") {
		t.Error(err)
	}
}
