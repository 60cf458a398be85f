package enginesim

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// writer makes the bytes of one answer in the layout of the Dynamo 1.6.1
// frontend: the role with the first content, a finish chunk of its own, then
// usage with no choices, then [DONE].
type writer struct {
	o       order
	number  uint64
	id      string
	model   string // as a JSON string
	created int64
	buf     []byte
}

func newWriter(o order, s *stream, p Params, created int64) *writer {
	prefix := "cmpl-"
	if o.chat {
		prefix = "chatcmpl-"
	}
	high, low := mix(p.Seed, forID, 2*s.number), mix(p.Seed, forID, 2*s.number+1)
	return &writer{o: o, number: s.number, model: quote(p.Model), created: created,
		id: fmt.Sprintf("%s%08x-%04x-4%03x-a%03x-%012x", prefix, high>>32, high>>16&0xffff, high&0xfff, low>>52, low&0xffffffffffff)}
}

// quote never fails: a string has a JSON form.
func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// take returns what was written since the last call.
func (w *writer) take() []byte {
	b := w.buf
	w.buf = w.buf[:0]
	return b
}

func (w *writer) str(parts ...string) {
	for _, p := range parts {
		w.buf = append(w.buf, p...)
	}
}

func (w *writer) num(n int64) { w.buf = strconv.AppendInt(w.buf, n, 10) }

// text appends tokens from+1 to to: a token is one word, numbered in 1000 to 1999.
func (w *writer) text(from, to int) {
	for i := from; i < to; i++ {
		w.str(" w")
		w.num(1000 + int64((w.number*31+uint64(i)*7)%1000))
	}
}

// chunk is one event that carries tokens from+1 to to.
func (w *writer) chunk(from, to int) {
	w.str(`data: {"id":"`, w.id)
	if w.o.chat {
		w.str(`","choices":[{"index":0,"delta":{"content":"`)
		w.text(from, to)
		if from == 0 {
			w.str(`","role":"assistant`)
		}
		w.str(`"},"finish_reason":null,"logprobs":null}]`)
	} else {
		w.str(`","choices":[{"text":"`)
		w.text(from, to)
		w.str(`","index":0}]`)
	}
	w.tail(to, w.o.continuous)
	w.str("\n\n")
}

// finish is all that follows the last token.
func (w *writer) finish(tokens int) {
	w.str(`data: {"id":"`, w.id)
	if w.o.chat {
		w.str(`","choices":[{"index":0,"delta":{},"finish_reason":"length","logprobs":null}]`)
	} else {
		w.str(`","choices":[{"text":"","index":0,"finish_reason":"length"}]`)
	}
	w.tail(tokens, w.o.continuous)
	w.str("\n\n")
	if w.o.usage {
		w.str(`data: {"id":"`, w.id, `","choices":[]`)
		w.tail(tokens, true)
		w.str("\n\n")
	}
	w.str("data: [DONE]\n\n")
}

// broken is a worker's death as the frontend reports it: inside a 200.
func (w *writer) broken() {
	w.str(`data: {"error":{"message":"Service temporarily unavailable","type":"service_unavailable","code":503}}`,
		"\n\ndata: [DONE]\n\n")
}

func (w *writer) tail(tokens int, usage bool) {
	object := "text_completion"
	if w.o.chat {
		object = "chat.completion.chunk"
	}
	w.fields(object)
	switch {
	case usage:
		w.usage(tokens)
	case !w.o.chat:
		w.str(`,"usage":null`)
	}
	w.str("}")
}

func (w *writer) fields(object string) {
	w.str(`,"created":`)
	w.num(w.created)
	w.str(`,"model":`, w.model)
	if !w.o.chat {
		w.str(`,"system_fingerprint":null`)
	}
	w.str(`,"object":"`, object, `"`)
}

func (w *writer) usage(tokens int) {
	w.str(`,"usage":{"prompt_tokens":`)
	w.num(int64(w.o.prompt))
	w.str(`,"completion_tokens":`)
	w.num(int64(tokens))
	w.str(`,"total_tokens":`)
	w.num(int64(w.o.prompt + tokens))
	if w.o.chat {
		w.str(`,"prompt_tokens_details":{"cached_tokens":0}}`)
	} else {
		w.str(`,"prompt_tokens_details":{"audio_tokens":null,"cached_tokens":0}}`)
	}
}

// whole is an answer that is not streamed.
func (w *writer) whole(tokens int) {
	object := "text_completion"
	w.str(`{"id":"`, w.id)
	if w.o.chat {
		object = "chat.completion"
		w.str(`","choices":[{"index":0,"message":{"content":"`)
		w.text(0, tokens)
		w.str(`","refusal":null,"role":"assistant"},"finish_reason":"length","logprobs":null}]`)
	} else {
		w.str(`","choices":[{"text":"`)
		w.text(0, tokens)
		w.str(`","index":0,"finish_reason":"length"}]`)
	}
	w.fields(object)
	w.usage(tokens)
	w.str("}")
}
