package loadgen

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// reasons are what engines put into finish_reason, and whether the answer came
// to its end: the OpenAI API, vLLM, SGLang, TensorRT-LLM, TGI, llama.cpp, and
// what none of them says.
var reasons = map[string]bool{
	"stop": true, "length": true, "tool_calls": true, "function_call": true, "eos_token": true, "stop_sequence": true,
	"error": false, "abort": false, "content_filter": false, "cancelled": false, "timeout": false, "not_finished": false,
	"repetition": false, "preempt": false, "null": false, "STOP": false, "length ": false, "??": false,
}

// TestFinishReasons: whichever way the answer came, only a reason that is known
// to be one of a complete answer makes it OK; its usage counts in any case.
func TestFinishReasons(t *testing.T) {
	const text = `data: {"choices":[{"index":0,"text":"a","finish_reason":null}]}` + "\n\n"
	for reason, complete := range reasons {
		for api, body := range map[string]string{
			"chat":                    chat("a") + finishAs(reason) + usage2 + done,
			"chat, on the last chunk": strings.Replace(chat("a"), "null", `"`+reason+`"`, 1) + usage2 + done,
			"completions":             text + strings.Replace(text, "null", `"`+reason+`"`, 1) + usage2 + done,
			"changed to stop":         chat("a") + finishAs(reason) + finishAs("stop") + usage2 + done,
			"changed from stop":       chat("a") + finishAs("stop") + finishAs(reason) + usage2 + done,
		} {
			head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n", len(body))
			over := map[string]reply{}
			over["net/http"], _ = via(t, Native, events(200, body))
			over["our own HTTP/1.1"] = twice(t, &scripted{pieces: []string{head + body}}, true, false, Config{})[1]
			// go-openai takes "null" for none; it has no text in its chat chunks.
			if api != "completions" && reason != "null" {
				over["go-openai"], _ = via(t, GoOpenAI, events(200, body))
			}
			for transport, r := range over {
				want, says := OK, ""
				if !complete {
					want, says = Unfinished, "finish_reason "+strings.TrimSpace(reason)
				}
				if r.outcome != want || !strings.HasSuffix(r.text, says) || r.tokens.Completion != 2 {
					t.Errorf("%q, %s, %s: %s with %d tokens, %q; want %s", reason, api, transport, r.outcome, r.tokens.Completion, r.text, want)
				}
			}
		}
	}
}

// TestGoOpenAICompletionReasons: so too on the older API through go-openai.
func TestGoOpenAICompletionReasons(t *testing.T) {
	for reason, complete := range reasons {
		body := `data: {"choices":[{"index":0,"text":"a","finish_reason":"` + reason + `"},{"index":1,"text":"a","finish_reason":"stop"}]}` + "\n\n" + usage2 + done
		c, err := newClient(&Config{Transport: GoOpenAI, Endpoint: Completions, Model: "m", Limits: Limits{}.withDefaults(1)}, "http://engine", &clock{})
		if err != nil {
			t.Fatal(err)
		}
		if r := newExchange(t.Context(), c, events(200, body)).do([]byte(`{}`)); (r.outcome == OK) != complete || !complete && r.outcome != Unfinished {
			t.Errorf("%q: %s, %q", reason, r.outcome, r.text)
		}
	}
}

// TestHostileFinishReason: a reason is a server's text as any other.
func TestHostileFinishReason(t *testing.T) {
	for _, reason := range []string{strings.Repeat("x", 1<<20), `\u001b[31mred\u0000\u202e`, "\xff\xfe", strings.Repeat(`\u202e`, 1<<16), `key-123`} {
		for _, kind := range []TransportKind{Native, GoOpenAI} {
			c, err := newClient(&Config{Transport: kind, Model: "m", APIKey: "key-123", Limits: Limits{}.withDefaults(1)}, "http://engine", &clock{})
			if err != nil {
				t.Fatal(err)
			}
			r := newExchange(t.Context(), c, events(200, chat("a")+finishAs(reason)+usage2+done)).do([]byte(`{}`))
			if r.outcome != Unfinished || len(r.text) > maxText+len("…") || strings.ContainsAny(r.text, "\x1b\x00\u202e") || strings.Contains(r.text, "key-123") {
				t.Errorf("%s, %.20q: %s, %q", kind, reason, r.outcome, r.text)
			}
		}
	}
}

// TestUnfinishedRun: answers that the engine gave up are counted as such in a
// run, with an example; their tokens are in the totals and in no rate.
func TestUnfinishedRun(t *testing.T) {
	for _, kind := range []RunKind{Steady, Gate} {
		e := &engine{ttft: 1e8, itl: 1e7}
		e.special = func(n int64, w http.ResponseWriter, _ *http.Request) bool {
			if n%25 != 3 {
				return false
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, chat("a"), finishAs("error"), usageOf("1"), done)
			e.mu.Lock()
			e.outputTokens++
			e.mu.Unlock()
			return true
		}
		inBubble(t, e, Config{Concurrency: 4, Kind: kind, Limits: Limits{MinRequests: 200}}, func(r Result, err error) {
			if err != nil || r.All[Unfinished] != (e.requests+21)/25 || r.All[Unfinished] < 8 || r.All.Bad() != r.All[Unfinished] || r.TotalOutputTokens != e.outputTokens {
				t.Errorf("%s: %v, %v of %d requests, %d of %d tokens", kind, err, r.All, e.requests, r.TotalOutputTokens, e.outputTokens)
			}
			if texts := r.Errors[Unfinished]; len(texts) == 0 || !strings.HasSuffix(texts[0], "finish_reason error") {
				t.Errorf("%s: %q", kind, r.Errors)
			}
			if r.OutputTokensPerRequest != 20 || r.WholeRun.OutputTokens != float64(20*r.Measured[OK]) {
				t.Errorf("%s: unfinished answers are in the tokens: %+v", kind, r.WholeRun)
			}
		})
	}
}
