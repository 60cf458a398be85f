package loadgen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	openai "github.com/sashabaranov/go-openai"

	"github.com/perfsweep/perfsweep/loadgen/internal/stream"
)

// openAISide is what the go-openai clients of a run have in common.
type openAISide struct {
	base, key, model string
	endpoint         Endpoint
}

// crossCheck carries the requests of one stream through go-openai as it comes:
// its reader, its notion of an end, its release of connections; and its times
// are those of a caller of that library, from the call to the return of a
// decoded chunk. Only the body of a request is ours: two transports that send
// different requests could not be compared.
type crossCheck struct {
	*exchange
	client *openai.Client
	send   []byte
}

// goOpenAIWarning marks every result of the transport.
const goOpenAIWarning = "measured through go-openai, for a cross-check only: no kernel timestamps, connects and decoding are in TTFT, broken streams count as answers"

func newCrossCheck(e *exchange) *crossCheck {
	x := &crossCheck{exchange: e}
	config := openai.DefaultConfig(e.openAI.key)
	config.BaseURL = e.openAI.base + "/v1"
	config.HTTPClient = x
	x.client = openai.NewClientWithConfig(config)
	return x
}

// maxAnswer bounds an answer: go-openai itself bounds neither a line nor the
// body of an error.
const maxAnswer = 64 << 20

// Do is the HTTP side of go-openai.
func (x *crossCheck) Do(r *http.Request) (*http.Response, error) {
	adopt(r, x.template.Header)
	r.ContentLength = int64(len(x.send))
	r.Body = io.NopCloser(bytes.NewReader(x.send))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.send)), nil }
	resp, err := heads(x.transport, r)
	if err != nil {
		return nil, err
	}
	x.conn = nil // its stamps are those of the native transport
	x.arrived()
	x.marks.headers = x.at
	x.body, x.budget = resp.Body, maxAnswer
	resp.Body = struct {
		io.Reader
		io.Closer
	}{x.exchange, resp.Body}
	return resp, nil
}

// openAIStream is either kind of go-openai's streams.
type openAIStream interface {
	recv() (said, error)
	Close() error
}

// said is what one chunk told, as far as go-openai shows it.
type said struct {
	token, visible bool
	finish         string
	usage          *openai.Usage
}

// finishes keeps the reason of one choice of a chunk: a broken one before others.
func (s *said) finishes(reason string) {
	if s.finish == "" || stream.Complete(s.finish) {
		s.finish = reason
	}
}

// post sends a body and reads the answer as a program on go-openai would.
func (x *crossCheck) post(ctx context.Context, body []byte) (Outcome, string) {
	x.send = body
	s, err := x.open(ctx)
	x.marks.sent = x.marks.wanted // a caller knows of no dial
	x.conn = nil
	if err != nil {
		o, text := openFailure(err)
		return byCause(ctx, o, text)
	}
	defer func() { _ = s.Close() }() // go-openai leaves the end of the answer unread
	t := &x.script
	for {
		chunk, err := s.recv()
		now := x.clock.now()
		if errors.Is(err, io.EOF) {
			x.marks.end = now
			if t.fault != "" {
				return t.fault, t.text
			}
			return OK, "" // it tells no broken stream from a whole one
		}
		if err != nil {
			o, text := streamFailure(err)
			return byCause(ctx, o, text)
		}
		t.events++
		if x.fresh {
			x.fresh = false
			x.eventReads++
		}
		t.hear(chunk, now)
		if t.fault != "" && t.fault != Unfinished { // after which there is usage to come
			return t.fault, t.text
		}
		if chunk.token && len(t.times) == 1 {
			x.limit.firstToken()
		}
		if chunk.token && x.heard != nil {
			x.heard.Store(now)
		}
	}
}

// hear takes one chunk that was decoded at the given time.
func (t *transcript) hear(c said, at int64) {
	if c.token {
		kind := stream.Token
		if c.visible {
			kind |= stream.Visible
		}
		t.token(kind, at)
	}
	if c.finish != "" && t.finishReason == "" {
		t.finishReason = t.bounded(c.finish, maxText)
	}
	if c.finish != "" && !stream.Complete(c.finish) {
		t.unfinished(c.finish)
	}
	if u := c.usage; u != nil {
		t.hasUsage = true
		t.usage = stream.Tokens{Prompt: int64(u.PromptTokens), Completion: int64(u.CompletionTokens)}
		if d := u.PromptTokensDetails; d != nil {
			t.usage.Cached, t.usage.CachedTold = int64(d.CachedTokens), true
		}
		if d := u.CompletionTokensDetails; d != nil {
			t.usage.Reasoning, t.usage.ReasoningTold = int64(d.ReasoningTokens), true
		}
	}
}

func (x *crossCheck) open(ctx context.Context) (openAIStream, error) {
	// What it would make of these is replaced by our own bytes in Do; a fuller
	// request would only meet its checks of model names.
	if x.openAI.endpoint == Completions {
		s, err := x.client.CreateCompletionStream(ctx, openai.CompletionRequest{Model: x.openAI.model, Prompt: ""})
		return completionStream{s}, err
	}
	s, err := x.client.CreateChatCompletionStream(ctx, openai.ChatCompletionRequest{Model: x.openAI.model})
	return chatStream{s}, err
}

type chatStream struct{ *openai.ChatCompletionStream }

func (s chatStream) recv() (said, error) {
	r, err := s.Recv()
	out := said{usage: r.Usage}
	for _, c := range r.Choices {
		d := c.Delta
		visible := d.Content != "" || d.FunctionCall != nil || len(d.ToolCalls) > 0
		out.visible = out.visible || visible
		out.token = out.token || visible || d.ReasoningContent != ""
		if c.FinishReason != "" && c.FinishReason != openai.FinishReasonNull {
			out.finishes(string(c.FinishReason))
		}
	}
	return out, err
}

type completionStream struct{ *openai.CompletionStream }

func (s completionStream) recv() (said, error) {
	r, err := s.Recv()
	out := said{usage: r.Usage}
	for _, c := range r.Choices {
		out.visible = out.visible || c.Text != ""
		if c.FinishReason != "" {
			out.finishes(c.FinishReason)
		}
	}
	out.token = out.visible
	return out, err
}

// openFailure classifies a request that go-openai did not open a stream for.
func openFailure(err error) (Outcome, string) {
	status := 0
	var api *openai.APIError
	var request *openai.RequestError
	switch {
	case errors.As(err, &request):
		status = request.HTTPStatusCode
	case errors.As(err, &api):
		status = api.HTTPStatusCode
	}
	if status != 0 {
		return statusOutcome(status), err.Error()
	}
	return sendFailure(err)
}

// streamFailure classifies what go-openai says inside a stream.
func streamFailure(err error) (Outcome, string) {
	var api *openai.APIError
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &api):
		return InBand, err.Error()
	case errors.As(err, &syntax), errors.As(err, &kind), errors.Is(err, openai.ErrTooManyEmptyStreamMessages):
		return Protocol, err.Error()
	}
	return Truncated, "the connection broke inside the stream: " + err.Error()
}
