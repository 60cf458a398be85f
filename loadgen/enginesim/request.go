package enginesim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode"
)

const (
	maxBody = 16 << 20
	// contextWindow bounds prompt and answer together.
	contextWindow = 131072
	// defaultTokens is the length of an answer that nobody bounded.
	defaultTokens = 128
)

// order is a request as the engine needs it.
type order struct {
	chat       bool
	stream     bool
	usage      bool // include_usage
	continuous bool // continuous_usage_stats
	prompt     int  // tokens
	tokens     int
}

// refusal is an error answer in Dynamo's words.
type refusal struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    int    `json:"code"`
}

func (r *refusal) Error() string { return r.Message }

func refuse(code int, kind, format string, args ...any) error {
	return &refusal{Message: fmt.Sprintf(format, args...), Type: kind, Code: code}
}

func invalid(format string, args ...any) error {
	return refuse(http.StatusBadRequest, "Bad Request", "Validation: "+format, args...)
}

// knownFields are the top-level fields that the frontend accepts; it refuses
// any other with 400.
var knownFields = strings.Fields(`add_special_tokens best_of chat_template_args chat_template_kwargs echo
	frequency_penalty ignore_eos include_stop_str_in_output logit_bias logprobs max_completion_tokens max_tokens
	messages metadata min_p min_tokens model n nvext parallel_tool_calls presence_penalty prompt prompt_logprobs
	reasoning_effort repetition_penalty response_format seed service_tier skip_special_tokens stop stop_token_ids
	store stream stream_options suffix temperature tool_choice tools top_k top_logprobs top_p user`)

// body is the part of a request that the engine reads.
type body struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	MaxTokens           *int64          `json:"max_tokens"`
	MaxCompletionTokens *int64          `json:"max_completion_tokens"`
	N                   *int64          `json:"n"`
	Stream              bool            `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
		Continuous   bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// readOrder reads and checks a request; its error is always a *refusal.
func readOrder(w http.ResponseWriter, r *http.Request, model string, chat bool) (order, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return order{}, refuse(http.StatusUnsupportedMediaType, "Unsupported Media Type",
			"Expected request with Content-Type application/json")
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return order{}, refuse(http.StatusRequestEntityTooLarge, "Payload Too Large",
			"the request body is larger than %d bytes", maxBody)
	}
	if err != nil {
		return order{}, refuse(http.StatusBadRequest, "Bad Request", "reading the request body: %v", err)
	}
	b, err := parseBody(raw)
	if err != nil {
		return order{}, err
	}
	if b.Model != model {
		return order{}, refuse(http.StatusNotFound, "Not Found", "Model not found")
	}
	return b.order(chat)
}

func parseBody(raw []byte) (body, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return body{}, notJSON(err)
	}
	var unknown []string
	for name := range fields {
		if !slices.Contains(knownFields, name) {
			unknown = append(unknown, "`"+name+"`")
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return body{}, invalid("Unsupported parameter(s): %s", strings.Join(unknown, ", "))
	}
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return body{}, notJSON(err)
	}
	return b, nil
}

func notJSON(err error) error {
	return refuse(http.StatusBadRequest, "Bad Request", "Failed to deserialize the JSON body into the target type: %v", err)
}

func (b body) order(chat bool) (order, error) {
	o := order{chat: chat, stream: b.Stream, tokens: defaultTokens}
	if b.StreamOptions != nil {
		if !b.Stream {
			return o, invalid("The 'stream_options' field is only allowed when 'stream' is set to true.")
		}
		o.usage = b.StreamOptions.IncludeUsage || b.StreamOptions.Continuous
		o.continuous = b.StreamOptions.Continuous
	}
	if b.N != nil && *b.N != 1 {
		return o, invalid("n must be 1, got %d", *b.N)
	}
	for _, limit := range []*int64{b.MaxTokens, b.MaxCompletionTokens} { // the newer name wins
		if limit == nil {
			continue
		}
		if *limit < 1 {
			return o, invalid("Max tokens must be greater than 0, got %d", *limit)
		}
		o.tokens = int(min(*limit, contextWindow+1))
	}
	var err error
	if o.prompt, err = b.promptTokens(chat); err != nil {
		return o, err
	}
	if o.prompt+o.tokens > contextWindow {
		return o, invalid("prompt and max tokens together exceed the context window of %d tokens", contextWindow)
	}
	return o, nil
}

// promptTokens is the number of whitespace-separated words, the engine's
// tokenizer: it has no template and adds nothing.
func (b body) promptTokens(chat bool) (int, error) {
	if !chat {
		return completionTokens(b.Prompt)
	}
	if len(b.Messages) == 0 {
		return 0, invalid("The 'messages' field cannot be empty. At least one message is required.")
	}
	total := 0
	for i, m := range b.Messages {
		n, ok := contentWords(m.Content)
		if !ok {
			return 0, invalid("messages[%d].content must be a string or an array of text parts", i)
		}
		total += n
	}
	return total, nil
}

func contentWords(raw json.RawMessage) (int, bool) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return 0, true // an assistant's message may have tool calls only
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return words(text), true
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return 0, false
	}
	total := 0
	for _, p := range parts {
		total += words(p.Text)
	}
	return total, true
}

func completionTokens(raw json.RawMessage) (int, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil && !bytes.Equal(raw, []byte("null")) {
		return words(text), nil
	}
	var ids []int64
	if json.Unmarshal(raw, &ids) == nil && len(ids) > 0 {
		return len(ids), nil
	}
	var one []string
	if json.Unmarshal(raw, &one) == nil && len(one) == 1 {
		return words(one[0]), nil
	}
	return 0, invalid("The 'prompt' field must be a string, one string in an array, or an array of token ids.")
}

func words(s string) int {
	n, inside := 0, false
	for _, r := range s {
		space := unicode.IsSpace(r)
		if !space && !inside {
			n++
		}
		inside = !space
	}
	return n
}
