package loadgen

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// taken keeps what a client sent and answers it with a whole stream.
type taken struct {
	body   []byte
	header http.Header
}

func (k *taken) Do(r *http.Request) (*http.Response, error) {
	k.body, _ = io.ReadAll(r.Body)
	k.header = r.Header
	return events(200, chat("a")+finish+usage2+done)(&http.Request{Method: r.Method})
}

func (k *taken) keys(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(k.body, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestGoOpenAIRequests: F9 to F12, what the library cannot ask for. The
// cross-check therefore sends the native transport's own bytes.
func TestGoOpenAIRequests(t *testing.T) {
	k := &taken{}
	config := openai.DefaultConfig("")
	config.HTTPClient = k
	client := openai.NewClientWithConfig(config)
	var ask openai.ChatCompletionRequest
	if err := json.Unmarshal([]byte(`{"model":"m","max_tokens":8,"temperature":0,"messages":[{"role":"user","content":""}]}`), &ask); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateChatCompletionStream(t.Context(), ask); err != nil {
		t.Fatal(err)
	}
	theirs := k.keys(t)
	spec := tokens(8, 0)
	spec.IgnoreEOS = true
	w := workload(t, spec)
	extra := map[string]json.RawMessage{"nvext": json.RawMessage(`{}`)}
	k.body = w.bodies(&Config{Model: "m", Network: Network{Body: extra}}).body(0).body
	ours := k.keys(t)
	for _, key := range []string{"temperature", "ignore_eos", "nvext"} { // F10, F9
		if _, both := theirs[key]; both || ours[key] == nil {
			t.Errorf("%s: go-openai sent %v, the native transport %v", key, theirs[key], ours[key])
		}
	}
	if m := theirs["messages"].([]any)[0].(map[string]any); len(m) != 1 { // F10
		t.Errorf("an empty content was sent: %v", m)
	}
	for _, name := range []string{"o1-mini-llama", "o3x", "gpt-5-foo"} { // F11
		ask.Model = name
		if _, err := client.CreateChatCompletionStream(t.Context(), ask); err == nil {
			t.Errorf("model %s is no longer refused", name)
		}
		if r, _ := viaModel(t, name); r.outcome != OK {
			t.Errorf("model %s through the cross-check: %s, %s", name, r.outcome, r.text)
		}
	}
	_, err := client.CreateCompletionStream(t.Context(), openai.CompletionRequest{Model: "m", Prompt: []int{1, 2}}) // F12
	if !errors.Is(err, openai.ErrCompletionRequestPromptTypeNotSupported) {
		t.Errorf("a prompt of token ids: %v", err)
	}
}

func viaModel(t *testing.T, model string) (reply, []int64) {
	t.Helper()
	cfg := Config{Transport: GoOpenAI, Model: model, Limits: Limits{}.withDefaults(1)}
	c, err := newClient(&cfg, "http://engine", &clock{start: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	e := newExchange(t.Context(), c, events(200, chat("a")+finish+usage2+done))
	return e.do([]byte(`{}`)), e.script.times
}

// TestGoOpenAIRedials: F13. A server ends its answer a millisecond after
// [DONE]; go-openai has closed the connection by then.
func TestGoOpenAIRedials(t *testing.T) {
	for kind, want := range map[TransportKind]int64{Native: 2, GoOpenAI: 16} {
		e := &engine{special: func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, chat("a"), finish, usage2, done)
			_ = http.NewResponseController(w).Flush()
			<-time.After(time.Millisecond)
			return true
		}}
		cfg := Config{Concurrency: 2, Kind: Gate, Transport: kind, Limits: Limits{MinRequests: 14}}
		inBubble(t, e, cfg, func(r Result, err error) {
			<-time.After(time.Second) // handlers of closed connections end
			if err != nil || r.All[OK] != 16 || r.Health.Dials != want {
				t.Errorf("%s: %v %v, %d dials, want %d", kind, err, r.All, r.Health.Dials, want)
			}
		})
	}
}

// TestGoOpenAILongStream: F16. A time limit on an http.Client covers the body
// and would cut a stream of an hour; ours are on requests, and only when asked.
func TestGoOpenAILongStream(t *testing.T) {
	for _, kind := range []TransportKind{Native, GoOpenAI} {
		for limit, want := range map[time.Duration]Outcome{2 * time.Hour: OK, 30 * time.Minute: Timeout} {
			e := &engine{ttft: time.Minute, itl: 10 * time.Minute}
			cfg := Config{Concurrency: 1, Kind: Gate, Transport: kind, Workload: workload(t, tokens(8, 0)), Limits: Limits{MinRequests: 2, RequestTimeout: limit, DrainTimeout: 3 * time.Hour}}
			inBubble(t, e, cfg, func(r Result, err error) {
				if err != nil || r.All[want] != r.All.Total() {
					t.Errorf("%s within %v: %v %v", kind, limit, err, r.All)
				}
			})
		}
	}
}

// TestGoOpenAIMarked: F16 and F17. With the client that go-openai brings, a
// server may compress; through ours it may not. There are no kernel times, and
// the result says what it is.
func TestGoOpenAIMarked(t *testing.T) {
	e := &engine{ttft: time.Millisecond, itl: time.Millisecond}
	var mu sync.Mutex
	var encodings []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		encodings = append(encodings, r.Header.Get("Accept-Encoding"))
		mu.Unlock()
		e.ServeHTTP(w, r)
	}))
	defer s.Close()
	linux := kernelTimes(t)
	for _, kind := range []TransportKind{Native, GoOpenAI} {
		r, err := Run(t.Context(), Config{
			BaseURL: s.URL, Model: "m", Concurrency: 4, Kind: Gate, Transport: kind, Workload: workload(t, tokens(8, 0)), Limits: Limits{MinRequests: 12},
		})
		if err != nil || r.All[OK] != 16 || r.OutputTokensPerRequest != 8 {
			t.Fatalf("%s: %v, %v, %v", kind, err, r.All, r.Errors)
		}
		if r.Health.KernelTime != (linux && kind == Native) || (r.Health.LagMaxMS > 0) != r.Health.KernelTime {
			t.Errorf("%s: health %+v", kind, r.Health)
		}
		if slices.Contains(r.Warnings, goOpenAIWarning) != (kind == GoOpenAI) {
			t.Errorf("%s: warnings %q", kind, r.Warnings)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, got := range encodings {
		if got != "identity" {
			t.Fatalf("Accept-Encoding %q", got)
		}
	}
	stock := make(chan string, 1)
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stock <- r.Header.Get("Accept-Encoding")
		fmt.Fprint(w, done)
	}))
	defer own.Close()
	config := openai.DefaultConfig("")
	config.BaseURL = own.URL + "/v1"
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(t.Context(), openai.ChatCompletionRequest{Model: "m", MaxCompletionTokens: 2})
	if err != nil {
		t.Fatal(err)
	}
	_ = stream.Close()
	if got := <-stock; !strings.Contains(got, "gzip") {
		t.Errorf("go-openai's own client: Accept-Encoding %q", got)
	}
}
