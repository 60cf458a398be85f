package stream

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Chunk is a decoded chunk. Only chunks with usage, a finish, an error or an
// oddity are decoded: a few of each stream.
type Chunk struct {
	Kind     Kind
	Usage    Tokens
	Seen     []int  // indices of the choices
	Finished []int  // those with a finish_reason
	Reason   string // the finish_reason of choice 0, unbounded and unclean
	Broken   string // the first finish_reason of any choice that is none of a complete answer
	ErrText  string // the server's words, unbounded and unclean
	// ServerTTFT is nvext.timing.ttft_ms, which Dynamo's frontend sends with
	// the finish_reason when asked to; 0 without it. Beside it stand the ids of
	// the workers that served the request (nvext.worker_id), 0 where not told.
	ServerTTFT         time.Duration
	Prefiller, Decoder uint64
}

type object = map[string]json.RawMessage

// Decode parses a chunk fully. It takes what Scan calls Odd; an error means
// that the payload is not a JSON object.
func Decode(b []byte) (Chunk, error) {
	if c, ok := ending(b); ok {
		return c, nil
	}
	return decode(b)
}

// decode is Decode by encoding/json, the reference for Scan and ending.
func decode(b []byte) (Chunk, error) {
	var top object
	if err := json.Unmarshal(b, &top); err != nil {
		return Chunk{}, err
	}
	if top == nil {
		return Chunk{}, fmt.Errorf("null is not a chunk")
	}
	var c Chunk
	var choices []json.RawMessage
	if json.Unmarshal(top["choices"], &choices) == nil && choices != nil {
		c.Kind |= Choices
	}
	for _, raw := range choices {
		c.choice(raw)
	}
	var bad error
	if raw := top["usage"]; len(raw) > 0 && raw[0] == '{' {
		c.Kind |= Usage
		c.Usage, bad = usage(raw)
	}
	c.timing(top["nvext"])
	if text(top["message"]) != "" || text(top["detail"]) != "" {
		c.Kind |= Message
	}
	if truthy(top["error"]) || text(top["object"]) == "error" {
		c.Kind |= Error
	}
	if c.Failed() {
		c.ErrText = errorText(top, b)
		if bad != nil {
			c.Kind &^= Usage
		}
	} else if bad != nil {
		return Chunk{}, fmt.Errorf("usage: %w", bad)
	}
	return c, nil
}

// Model is the name of the model that a chunk tells; "" without one.
func Model(b []byte) string {
	var top object
	if json.Unmarshal(b, &top) != nil {
		return ""
	}
	return text(top["model"])
}

// Complete reports a finish_reason of an answer that came to its end: those of
// the OpenAI API but content_filter, and the two that TGI adds. Whatever else a
// server says is not known to be one: abort, error and repetition of vLLM, abort
// of SGLang, timeout and cancelled of TensorRT-LLM are ends of another kind.
func Complete(reason string) bool {
	switch reason {
	case "stop", "length", "tool_calls", "function_call", "eos_token", "stop_sequence":
		return true
	}
	return false
}

// Failed reports whether the chunk is an error: one that says so, or one that
// has a message where choices or usage belong.
func (c Chunk) Failed() bool { return c.Kind.Failed() }

// Failed is Chunk.Failed on the answer of Scan.
func (k Kind) Failed() bool {
	return k&Error != 0 || k&Message != 0 && k&(Choices|Usage) == 0
}

func (c *Chunk) choice(raw json.RawMessage) {
	var choice, delta object
	if json.Unmarshal(raw, &choice) != nil || choice == nil {
		return
	}
	var index int
	if raw := choice["index"]; len(raw) > 0 {
		_ = json.Unmarshal(raw, &index) // an index that is no integer counts as 0, as one below does
		index = max(index, 0)
		if raw[0] != '0' && raw[0] != 'n' && raw[0] != '"' && raw[0] != '{' && raw[0] != '[' {
			c.Kind |= Multi
		}
	}
	c.Seen = append(c.Seen, index)
	if reason := text(choice["finish_reason"]); reason != "" {
		c.Kind |= Finish
		c.Finished = append(c.Finished, index)
		if index == 0 && c.Reason == "" {
			c.Reason = reason
		}
		if c.Broken == "" && !Complete(reason) {
			c.Broken = reason
		}
	}
	_ = json.Unmarshal(choice["delta"], &delta) // a delta that is no object carries nothing
	for _, name := range []string{"reasoning", "reasoning_content"} {
		if text(delta[name]) != "" || filled(delta[name]) {
			c.Kind |= Token
		}
	}
	var call object
	switch {
	case text(choice["text"]) != "",
		text(delta["content"]) != "", filled(delta["content"]),
		text(delta["refusal"]) != "", filled(delta["refusal"]),
		filled(delta["tool_calls"]),
		json.Unmarshal(delta["function_call"], &call) == nil && len(call) > 0:
		c.Kind |= Token | Visible
	}
}

// errorText finds the server's own words in the forms that engines use.
func errorText(top object, whole []byte) string {
	var inner object
	words := ""
	code := top["code"]
	switch err := top["error"]; {
	case text(err) != "":
		words = text(err)
	case json.Unmarshal(err, &inner) == nil && inner != nil:
		words, code = text(inner["message"]), inner["code"]
		if words == "" {
			words = string(err)
		}
	default:
		if words = text(top["message"]); words == "" {
			words = text(top["detail"])
		}
	}
	if words == "" {
		words = string(whole)
	}
	if s := string(code); s != "" && s != "null" {
		if n, err := strconv.Unquote(s); err == nil {
			s = n
		}
		return s + ": " + words
	}
	return words
}

func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// filled reports an array with elements.
func filled(raw json.RawMessage) bool {
	var a []json.RawMessage
	return len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &a) == nil && len(a) > 0
}

// truthy reports a value that a server would only send to tell of an error.
func truthy(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`:
		return false
	}
	return true
}
