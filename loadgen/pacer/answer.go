package pacer

import (
	"fmt"
	"strconv"
)

// answer is one stream on its way out. Until it has ended only its shard
// touches it.
type answer struct {
	h      *handler
	place  int   // in the shard's queue
	due    int64 // when the next token leaves
	first  int64 // when the first was due
	prompt int
	tokens int
	id     string
	model  string
	chunk  []byte // one token, framed: every write of a stream has the same bytes
	record record
}

// record is the truth about one request; times are since the server's start.
type record struct {
	number          uint64
	received        int64
	first, last     int64 // just before the writes of the first and the last token
	tokens          int64 // written
	whole           bool
	prompt, planned int
}

func newAnswer(h *handler, o *order, received int64) *answer {
	a := &answer{h: h, prompt: o.words(), tokens: o.tokens(), model: quote(o.Model)}
	a.record = record{number: h.srv.number(), received: received, prompt: a.prompt, planned: a.tokens}
	a.first = received + int64(h.srv.p.TTFT)
	a.due = a.first
	a.id = fmt.Sprintf("chatcmpl-%012d", a.record.number)
	h.buf = frame(h.buf[:0], a.event(`{"index":0,"delta":{"content":" word","role":"assistant"},"finish_reason":null}`, ""))
	a.chunk = h.buf
	return a
}

// event is one SSE event.
func (a *answer) event(choice, more string) string {
	return `data: {"id":"` + a.id + `","object":"chat.completion.chunk","created":1,"model":` + a.model + `,"choices":[` + choice + `]` + more + "}\n\n"
}

// frame appends text as one chunk of HTTP's chunked coding.
func frame(dst []byte, text string) []byte {
	dst = strconv.AppendInt(dst, int64(len(text)), 16)
	dst = append(dst, "\r\n"...)
	dst = append(dst, text...)
	return append(dst, "\r\n"...)
}

// step writes the token that is due; it reports whether more follow. The last
// token, the finish reason, usage and the end share a write, as they do on a
// healthy server.
func (a *answer) step(l *lateness) bool {
	now := a.h.srv.now()
	if a.h.srv.p.ITL > 0 || a.record.tokens == 0 {
		l.add(now - a.due)
	}
	if a.record.tokens == 0 {
		a.record.first = now
	}
	a.record.last = now
	out := a.chunk
	last := a.record.tokens+1 == int64(a.tokens)
	if last {
		out = append(out, a.tail()...)
	}
	if last {
		// Before the write: the client may act on it before it returns.
		a.record.tokens++
		a.record.whole = true
	}
	if _, err := a.h.conn.Write(out); err != nil {
		a.record.whole = false
		a.close(false)
		return false
	}
	if last {
		a.close(true)
		return false
	}
	a.record.tokens++
	a.due = a.first + a.record.tokens*int64(a.h.srv.p.ITL)
	return true
}

// tail is all that follows the last token. The timing is in Dynamo's form, so
// that a client can hold its own TTFT against this one request by request.
func (a *answer) tail() []byte {
	timing := fmt.Sprintf(`,"nvext":{"timing":{"ttft_ms":%.6f,"total_time_ms":%.6f}}`,
		float64(a.record.first-a.record.received)/1e6, float64(a.record.last-a.record.received)/1e6)
	usage := fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, a.prompt, a.tokens, a.prompt+a.tokens)
	text := a.event(`{"index":0,"delta":{},"finish_reason":"length"}`, timing) + a.event("", usage) + "data: [DONE]\n\n"
	return append(frame(nil, text), "0\r\n\r\n"...)
}

// close files the record and lets the connection take its next request.
func (a *answer) close(whole bool) {
	a.h.srv.file(a.record)
	a.h.ended <- whole
}
