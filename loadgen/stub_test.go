package loadgen

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// part is a piece of a body: what is read in one go, after a wait.
type part struct {
	wait time.Duration
	text string
	err  error // ends the body in place of text
}

// script is a body that comes in parts.
type script struct {
	parts []part
	r     *http.Request
}

func (s *script) Read(b []byte) (int, error) {
	for {
		if len(s.parts) == 0 {
			return 0, io.EOF
		}
		p := &s.parts[0]
		if p.wait > 0 {
			select {
			case <-time.After(p.wait):
			case <-s.r.Context().Done():
				return 0, s.r.Context().Err()
			}
			p.wait = 0
		}
		if p.err != nil {
			return 0, p.err
		}
		if p.text == "" {
			s.parts = s.parts[1:]
			continue
		}
		n := copy(b, p.text)
		p.text = p.text[n:]
		return n, nil
	}
}

func (s *script) Close() error { return nil }

// answer is a canned response; header pairs replace the usual content type.
func answer(status int, header http.Header, parts ...part) roundTrip {
	if header == nil {
		header = http.Header{"Content-Type": {"text/event-stream"}}
	}
	return func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		body := &script{parts: append([]part(nil), parts...), r: r}
		return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: header, Body: body, Request: r}, nil
	}
}

// send makes one request against a transport and returns what was measured,
// with the arrival times of token-bearing chunks.
func send(t *testing.T, rt http.RoundTripper, secret string) (reply, []int64) {
	t.Helper()
	e, r := exchanged(t, rt, secret)
	return r, e.script.times
}

// exchanged is send, for what else is kept of a request.
func exchanged(t *testing.T, rt http.RoundTripper, secret string) (*exchange, reply) {
	t.Helper()
	cfg := Config{APIKey: secret, Limits: Limits{}.withDefaults(1)}
	c, err := newClient(&cfg, "http://engine", &clock{start: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	e := newExchange(t.Context(), c, rt)
	return e, e.do([]byte(`{}`))
}

// chat is a chunk with content, as D(x) in the captures' notes.
func chat(text string) string {
	return `data: {"id":"x","choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":null}]}` + "\n\n"
}

const (
	finish = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\n"
	usage2 = `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\n"
	done   = "data: [DONE]\n\n"
)

func finishAs(reason string) string { return strings.Replace(finish, "length", reason, 1) }

func usageOf(n string) string { return strings.Replace(usage2, `s":2}`, `s":`+n+`}`, 1) }
