package stream

import (
	"encoding/json"
	"unicode/utf8"
)

// ending decodes what nearly every stream ends with: one choice that finishes,
// a usage object, or both. It answers as decode does, or not at all: anything
// unusual, and any name that comes twice, is decode's. Streams that started
// together end together, and then thousands of these chunks stand between a
// token's arrival and its reading; a map for each object in them costs six to
// ten times this (BenchmarkDecodeEnding).
func ending(b []byte) (c Chunk, ok bool) {
	kind := Scan(b)
	if kind&^(Choices|Finish|Usage|Token|Visible) != 0 || !json.Valid(b) {
		return Chunk{}, false
	}
	var choices, tokens []byte
	ok = members(skipSpaces(b), func(name, value []byte) bool {
		switch string(name) {
		case "choices":
			return once(&choices, value)
		case "usage":
			return once(&tokens, value)
		}
		return true
	})
	c.Kind = kind & (Token | Visible)
	ok = ok && c.onlyChoice(choices) && c.counts(tokens)
	return c, ok && c.Kind == kind
}

// once keeps a value and refuses a second one.
func once(at *[]byte, value []byte) bool {
	first := *at == nil
	*at = value
	return first
}

// onlyChoice reads a choices array of at most one element with index 0.
func (c *Chunk) onlyChoice(b []byte) bool {
	if b == nil {
		return true
	}
	if b[0] != '[' {
		return false
	}
	c.Kind |= Choices
	b = skipSpaces(b[1:])
	if b[0] == ']' {
		return true
	}
	end := valueEnd(b, 0)
	if b[0] != '{' || skipSpaces(b[end:])[0] != ']' {
		return false
	}
	var index, reason, text, delta []byte
	if !members(b, func(name, value []byte) bool {
		switch string(name) {
		case "index":
			return once(&index, value)
		case "finish_reason":
			return once(&reason, value)
		case "text":
			return once(&text, value)
		case "delta":
			return once(&delta, value) && (value[0] != '{' || distinct(value))
		}
		return true
	}) || index != nil && string(index) != "0" {
		return false
	}
	c.Seen = []int{0}
	switch {
	case reason == nil, string(reason) == "null", string(reason) == `""`:
		return true
	case reason[0] != '"' || !isPlain(reason) || !utf8.Valid(reason):
		return false
	}
	c.Kind |= Finish
	c.Finished = c.Seen
	c.Reason = string(reason[1 : len(reason)-1])
	if !Complete(c.Reason) {
		c.Broken = c.Reason
	}
	return true
}

// distinct reports that no two names of a delta mean the same, of which the
// last would count.
func distinct(b []byte) bool {
	var met uint32
	return members(b, func(name, _ []byte) bool {
		key := keyOf(inDelta, name)
		again := key != noKey && met&(1<<key) != 0
		met |= 1 << key
		return !again
	})
}

// counts reads a usage object of whole numbers.
func (c *Chunk) counts(b []byte) bool {
	if b == nil || string(b) == "null" {
		return true
	}
	if b[0] != '{' {
		return false
	}
	c.Kind |= Usage
	var prompt, completion, ofPrompt, ofCompletion []byte
	return members(b, func(name, value []byte) bool {
		switch string(name) {
		case "prompt_tokens":
			return once(&prompt, value) && whole(value, &c.Usage.Prompt)
		case "completion_tokens":
			return once(&completion, value) && whole(value, &c.Usage.Completion)
		case "prompt_tokens_details":
			return once(&ofPrompt, value) && part(value, "cached_tokens", &c.Usage.Cached, &c.Usage.CachedTold)
		case "completion_tokens_details":
			return once(&ofCompletion, value) && part(value, "reasoning_tokens", &c.Usage.Reasoning, &c.Usage.ReasoningTold)
		}
		return true
	})
}

// part reads one count of a details object, which may lack it or be null.
func part(b []byte, want string, n *int64, told *bool) bool {
	if string(b) == "null" {
		return true
	}
	return b[0] == '{' && members(b, func(name, value []byte) bool {
		switch {
		case string(name) != want:
			return true
		case *told:
			return false
		}
		*told = true
		return whole(value, n)
	})
}

// whole reads a number of up to 18 digits.
func whole(b []byte, n *int64) bool {
	if len(b) > 18 {
		return false
	}
	*n = 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
		*n = *n*10 + int64(c-'0')
	}
	return true
}
