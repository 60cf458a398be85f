package loadgen

import (
	"context"
	"mime"
	"net/http"

	"github.com/perfsweep/perfsweep/loadgen/internal/http1"
	"github.com/perfsweep/perfsweep/loadgen/internal/stream"
)

// isStream reports that a head announces an event stream.
func isStream(h http1.Head) bool {
	return h.Status == http.StatusOK && media(h) == "text/event-stream" && !compressed(h)
}

func media(h http1.Head) string {
	m, _, _ := mime.ParseMediaType(h.ContentType) // what cannot be parsed is of no type
	return m
}

func compressed(h http1.Head) bool { return h.ContentEncoding != "" && h.ContentEncoding != "identity" }

// streamed judges a stream that ended with err.
func (e *exchange) streamed(ctx context.Context, err error) (Outcome, string) {
	o, text := e.script.end(err)
	if o == Truncated {
		return byCause(ctx, o, text)
	}
	return o, text
}

// refused judges an answer that is no stream, by its head and what came of its
// body.
func (e *exchange) refused(h http1.Head, whole []byte) (Outcome, string) {
	words := string(whole)
	if len(whole) >= maxBody {
		words = withoutBeginning(words, e.secrets)
	}
	chunk, err := stream.Decode(whole)
	if err == nil {
		if chunk.Kind&stream.Usage != 0 {
			e.script.usage = chunk.Usage
		}
		if chunk.Failed() {
			words = chunk.ErrText
		}
	}
	switch {
	case h.Status == http.StatusOK && chunk.Failed():
		return InBand, words
	case h.Status == http.StatusOK && compressed(h):
		return Protocol, "the answer is compressed (" + h.ContentEncoding + ") though that was refused"
	case h.Status == http.StatusOK:
		return Protocol, "status 200, but the answer is of type \"" + media(h) + "\" instead of an event stream: " + words
	}
	text := "status " + h.Line
	if h.RetryAfter != "" {
		text += ": Retry-After " + h.RetryAfter
	}
	if words != "" {
		text += ": " + words
	}
	return statusOutcome(h.Status), text
}
