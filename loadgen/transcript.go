package loadgen

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen/internal/stream"
)

// maxChunks bounds the arrival times kept of one request.
const maxChunks = 1 << 20

// chunksFor bounds the chunks with output of an answer of some tokens: a server
// that sends one a character stays far below, one that never ends does not.
func chunksFor(tokens int) int { return min(maxChunks, 1024+16*tokens) }

// transcript gathers what one stream has said so far and judges it at its end.
// It is reused: its slices belong to a worker.
type transcript struct {
	times   []int64 // arrivals of token-bearing chunks, reasoning included
	visible int64   // arrival of the first with text or a tool call; 0 = none
	events  int64   // data events, [DONE] included
	// What the stream says of its own end.
	done           bool
	seen, finished uint64 // bit per choice, the last for all above; choice 0 need not be in seen
	finishReason   string // of choice 0, bounded but not clean
	// usage is the last object seen; loose is the sum of those that came
	// alone, without a choice: llama.cpp sends one for each choice.
	usage, loose stream.Tokens
	hasUsage     bool
	looseCount   int
	looseAt      int64 // the event that brought the last of them
	usageFell    bool  // a later count of the same choice was below an earlier one
	serverTTFT   time.Duration
	prefiller    uint64 // ids of the workers that served it, beside the time
	decoder      uint64
	malformed    int64
	fault        Outcome
	text         string
	scanner      stream.Scanner
	secrets      []string
	most         int    // chunks with output; 0 = maxChunks
	naming       bool   // look for the model's name in chunks
	model        string // that some chunk says, bounded but not clean
}

func (t *transcript) reset() {
	*t = transcript{times: t.times[:0], scanner: t.scanner, secrets: t.secrets, most: t.most, naming: t.naming}
}

// bounded cuts a server's words, and with them what may begin a secret.
func (t *transcript) bounded(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return withoutBeginning(s[:most], t.secrets)
}

// over reports that nothing more is expected but the end of the body.
func (t *transcript) over() bool { return t.done || t.fault != "" }

// fail notes the first fault of a stream.
func (t *transcript) fail(o Outcome, text string) {
	if t.fault == "" {
		t.fault, t.text = o, text
	}
}

// event takes one event that arrived at the given time.
func (t *transcript) event(ev stream.Event, at int64) {
	if t.done {
		return
	}
	if ev.Error {
		t.fail(InBand, t.errorEventText(ev))
		return
	}
	if t.naming && t.model == "" {
		t.model = t.bounded(stream.Model(ev.Data), maxText)
	}
	kind := t.scanner.Scan(ev.Data)
	if kind.Plain() {
		t.events++
		t.token(kind, at)
		return
	}
	t.special(ev, kind, at)
}

func (t *transcript) token(kind stream.Kind, at int64) {
	if most := cmp.Or(t.most, maxChunks); len(t.times) >= most {
		t.fail(Protocol, fmt.Sprintf("more than %s in one answer", plural.Of(most, "chunk")))
		return
	}
	t.times = append(t.times, at)
	if t.visible == 0 && kind&stream.Visible != 0 {
		t.visible = at
	}
}

// special handles everything but a plain token: once or twice a stream.
func (t *transcript) special(ev stream.Event, kind stream.Kind, at int64) {
	data := bytes.TrimSpace(ev.Data)
	if len(data) == 0 {
		return // a heartbeat of some relays
	}
	t.events++
	if string(data) == "[DONE]" {
		t.done = true
		return
	}
	if kind == stream.Choices {
		return
	}
	c, err := stream.Decode(ev.Data)
	if err != nil {
		t.unreadable(ev, err)
		return
	}
	if c.Failed() {
		t.fail(InBand, c.ErrText)
	}
	if c.Kind&stream.Token != 0 {
		t.token(c.Kind, at)
	}
	if c.Broken != "" {
		t.unfinished(c.Broken)
	}
	for _, i := range c.Seen {
		t.seen |= indexBit(i)
	}
	for _, i := range c.Finished {
		t.finished |= indexBit(i)
	}
	if t.finishReason == "" {
		t.finishReason = t.bounded(c.Reason, maxText)
	}
	if c.ServerTTFT > 0 {
		t.serverTTFT = c.ServerTTFT
	}
	if c.Decoder != 0 {
		t.prefiller, t.decoder = c.Prefiller, c.Decoder
	}
	if c.Kind&stream.Usage != 0 {
		t.count(c)
	}
}

// unfinished notes an answer that says itself that it did not come to its end,
// whatever it says before or after: the tokens of a request that the engine gave
// up are few and fast.
func (t *transcript) unfinished(reason string) {
	t.fail(Unfinished, "the answer did not come to its end: finish_reason "+t.bounded(reason, maxText))
}

// count takes a usage object. Running totals are replaced, never added up.
func (t *transcript) count(c stream.Chunk) {
	alone := len(c.Seen) == 0
	if t.hasUsage && t.seen&^1 == 0 && c.Usage.Completion < t.usage.Completion {
		t.usageFell = true
	}
	t.usage, t.hasUsage = c.Usage, true
	if alone {
		t.looseCount++
		t.looseAt = t.events
		t.loose = t.loose.Plus(c.Usage)
	}
}

func indexBit(i int) uint64 { return 1 << min(i, 63) }

// unreadable judges a payload that is no chunk.
func (t *transcript) unreadable(ev stream.Event, err error) {
	const most = 4 * maxText
	data := strings.TrimSpace(t.bounded(string(ev.Data[:min(len(ev.Data), most+1)]), most))
	lower := strings.ToLower(data)
	switch {
	case strings.HasPrefix(data, ":"):
		t.malformed++ // a comment that a gateway wrapped as data
	case strings.HasPrefix(lower, "error"):
		t.fail(InBand, strings.TrimLeft(data[len("error"):], ": "))
	case ev.AtEnd:
		t.fail(Truncated, "the stream ended inside a chunk")
	default:
		t.fail(Protocol, "a chunk cannot be read: "+data+": "+err.Error())
	}
}

// errorEventText finds the reason of an error event: in its data, else in a
// comment, which is where Dynamo's frontend puts it.
func (t *transcript) errorEventText(ev stream.Event) string {
	if len(ev.Data) > 0 {
		if c, err := stream.Decode(ev.Data); err == nil && c.ErrText != "" {
			return c.ErrText
		}
		return string(ev.Data)
	}
	if len(ev.Comment) > 0 {
		return withoutBeginning(string(ev.Comment), t.secrets) // the reader bounds it
	}
	return "an error event without a reason"
}

// tokens are the usage of the whole answer.
func (t *transcript) tokens() stream.Tokens {
	if t.seen&^1 != 0 && t.looseCount > 1 {
		return t.loose
	}
	return t.usage
}

// end judges the stream after its source ended with err. Neither a status nor
// [DONE] makes a success: that needs usage, no error on the way, and a sign
// that the answer was complete. A server that sends neither [DONE] nor a
// finish_reason gives that sign by its usage, which it knows only at the end.
func (t *transcript) end(err error) (Outcome, string) {
	whole := errors.Is(err, io.EOF)
	finished := t.finished == t.seen|1 // one choice was asked for
	counted := t.finished == 0 && t.looseCount > 0 && t.looseAt == t.events
	complete := t.done || whole && (finished || counted)
	switch {
	case t.fault != "":
		return t.fault, t.text
	case errors.Is(err, stream.ErrTooLong), errors.Is(err, stream.ErrCrowded):
		return Protocol, err.Error()
	case !complete && whole:
		return Truncated, "the stream ended without [DONE], a finish_reason of each choice, or usage at its end"
	case !complete:
		return Truncated, "the connection broke inside the stream: " + err.Error()
	case !t.hasUsage:
		return Protocol, "no usage in the stream: the server ignores stream_options.include_usage"
	case t.tokens().Completion <= 0 || t.tokens().Prompt < 0 || t.tokens().Completion > 1<<40 || t.tokens().Prompt > 1<<40:
		return Protocol, "usage reports no output tokens, or an absurd number"
	}
	return OK, ""
}
