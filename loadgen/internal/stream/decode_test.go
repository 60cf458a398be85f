package stream

import (
	"testing"
	"time"
)

// TestUsage: what a server does not tell is not a zero, and what cannot be a
// count is not taken for one.
func TestUsage(t *testing.T) {
	for in, want := range map[string]Tokens{
		`{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}`: {Prompt: 3, Completion: 4},
		`{"prompt_tokens":3}`:                                                             {Prompt: 3},
		`{"prompt_tokens":null,"completion_tokens":4}`:                                    {Completion: 4},
		`{"Prompt_Tokens":3,"COMPLETION_TOKENS":4}`:                                       {},
		`{"prompt_tokens_details":{"cached_tokens":0}}`:                                   {CachedTold: true},
		`{"prompt_tokens_details":{"cached_tokens":21,"audio_tokens":1}}`:                 {Cached: 21, CachedTold: true},
		`{"prompt_tokens_details":{"cached_tokens":null,"audio_tokens":1}}`:               {},
		`{"prompt_tokens_details":{"cached_tokens":-1}}`:                                  {},
		`{"prompt_tokens_details":{"cached_tokens":1.5}}`:                                 {},
		`{"prompt_tokens_details":{"cached_tokens":"7"}}`:                                 {},
		`{"prompt_tokens_details":null,"completion_tokens_details":null}`:                 {},
		`{"prompt_tokens_details":[],"completion_tokens_details":{"reasoning_tokens":0}}`: {ReasoningTold: true},
		`{"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":5}}`:      {Completion: 9, Reasoning: 5, ReasoningTold: true},
	} {
		c, err := Decode([]byte(`{"choices":[],"usage":` + in + `}`))
		if err != nil || c.Usage != want || c.Kind != Choices|Usage {
			t.Errorf("%s: %+v, %v, want %+v", in, c.Usage, err, want)
		}
	}
	for _, in := range []string{`{"prompt_tokens":"3"}`, `{"completion_tokens":1.5}`, `{"completion_tokens":1e30}`, `{"completion_tokens":{}}`} {
		if c, err := Decode([]byte(`{"choices":[],"usage":` + in + `}`)); err == nil {
			t.Errorf("%s: %+v", in, c.Usage)
		}
		c, err := Decode([]byte(`{"error":"e","usage":` + in + `}`))
		if err != nil || !c.Failed() || c.Kind&Usage != 0 {
			t.Errorf("%s hides an error: %b, %v", in, c.Kind, err)
		}
	}
}

func TestTokensPlus(t *testing.T) {
	a := Tokens{Prompt: 1, Completion: 2, Cached: 3, CachedTold: true}
	b := Tokens{Prompt: 10, Completion: 20, Reasoning: 40, ReasoningTold: true}
	if got, want := a.Plus(b), (Tokens{Prompt: 11, Completion: 22, Cached: 3, CachedTold: true, Reasoning: 40, ReasoningTold: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestServerTTFT reads Dynamo's nvext and believes no nonsense.
func TestServerTTFT(t *testing.T) {
	for in, want := range map[string]time.Duration{
		`{"worker_id":{"decode_worker_id":1670803154388559761},"timing":{"request_received_ms":1795991869886,"ttft_ms":67.5}}`: 67500 * time.Microsecond,
		`{"timing":{"ttft_ms":0}}`:     0,
		`{"timing":{"ttft_ms":-1}}`:    0,
		`{"timing":{"ttft_ms":1e12}}`:  0,
		`{"timing":{"ttft_ms":1e999}}`: 0,
		`{"timing":{"ttft_ms":"6"}}`:   0,
		`{"timing":null}`:              0,
		`{"ttft_ms":5}`:                0,
		`null`:                         0,
		`[]`:                           0,
	} {
		c, err := Decode([]byte(`{"choices":[],"nvext":` + in + `}`))
		if err != nil || c.ServerTTFT != want {
			t.Errorf("%s: %v, %v, want %v", in, c.ServerTTFT, err, want)
		}
	}
}

func TestReason(t *testing.T) {
	for in, want := range map[string]string{
		`{"choices":[{"index":0,"finish_reason":"stop"}]}`:                                      "stop",
		`{"choices":[{"finish_reason":"length"}]}`:                                              "length",
		`{"choices":[{"index":1,"finish_reason":"stop"}]}`:                                      "",
		`{"choices":[{"index":1,"finish_reason":"stop"},{"index":0,"finish_reason":"length"}]}`: "length",
		`{"choices":[{"finish_reason":"stop"},{"finish_reason":"length"}]}`:                     "stop",
		`{"choices":[{"index":0,"finish_reason":null}]}`:                                        "",
		`{"choices":[{"index":0,"finish_reason":7}]}`:                                           "",
	} {
		if c, err := Decode([]byte(in)); err != nil || c.Reason != want {
			t.Errorf("%s: %q, %v, want %q", in, c.Reason, err, want)
		}
	}
}
