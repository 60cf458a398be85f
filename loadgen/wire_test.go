package loadgen

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// canned serves an answer to every request of a connection, until one that says
// so was given, and counts the connections.
func canned(t *testing.T, text string, last bool) (base string, dials *atomic.Int64) {
	t.Helper()
	dials = &atomic.Int64{}
	base, stop := raw(t, func(c net.Conn) {
		dials.Add(1)
		for r := bufio.NewReader(c); ; {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			if _, err = io.WriteString(c, text); err != nil || last {
				return
			}
		}
	})
	t.Cleanup(stop)
	return base, dials
}

// loaded makes some requests, one after the other, over real sockets.
func loaded(t *testing.T, base string, kind TransportKind, n int64) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := Run(ctx, Config{
		BaseURL: base, Model: "m", Concurrency: 1, Kind: Gate, Transport: kind, Workload: workload(t, tokens(1, 0)),
		Limits: Limits{MinRequests: n, WarmUpRequests: -1, RequestTimeout: 20 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestKnownLengthEndsAtItsLastByte: an answer with a Content-Length is over
// with its last byte. Nothing waits for more, and the connection is kept; a
// server that sheds its load would else be measured as slow to do so.
func TestKnownLengthEndsAtItsLastByte(t *testing.T) {
	body := chat("a") + finish + usageOf("1") + done
	sized := func(status, kind, body string) string {
		return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", status, kind, len(body), body)
	}
	for name, c := range map[string]struct {
		answer string
		want   Outcome
	}{
		"a stream":    {sized("200 OK", "text/event-stream", body), OK},
		"shed":        {sized("429 Too Many Requests", "application/json", `{"error":{"message":"busy"}}`), Shed},
		"no stream":   {sized("200 OK", "text/html", "<html>"), Protocol},
		"one byte":    {sized("500 Broken", "text/plain", "x"), HTTPStatus},
		"without any": {sized("500 Broken", "text/plain", ""), HTTPStatus},
	} {
		t.Run(name, func(t *testing.T) {
			base, dials := canned(t, c.answer, false)
			r := loaded(t, base, Native, 3)
			if r.All[c.want] != 3 || dials.Load() != 1 {
				t.Errorf("%v, %v, %d connections", r.All, r.Errors, dials.Load())
			}
		})
	}
}

// TestUpgradeEnds: 101 has no body, and ends its request at once, whatever the
// server then does with the connection.
func TestUpgradeEnds(t *testing.T) {
	answer := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
	for _, kind := range []TransportKind{Native, GoOpenAI} {
		base, _ := canned(t, answer, false)
		r := loaded(t, base, kind, 2)
		if r.All[HTTPStatus] != 2 || !strings.Contains(r.Errors[HTTPStatus][0], "101") {
			t.Errorf("%s: %v, %v", kind, r.All, r.Errors)
		}
	}
	body := errorBody{}
	if r, _ := send(t, roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 101, Status: "101 Switching Protocols", Body: &body}, nil
	}), ""); r.outcome != HTTPStatus || body.reads > 0 || !body.closed {
		t.Errorf("through net/http: %s, %q, %+v", r.outcome, r.text, body)
	}
	base, _ := canned(t, answer, false)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := RunPreflight(ctx, Config{BaseURL: base, Model: "m"}, tokens(1, 0))
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "101") {
		t.Errorf("the list of models: %v", err)
	}
}

// errorBody is a body that nobody should read.
type errorBody struct {
	reads  int
	closed bool
}

func (b *errorBody) Read([]byte) (int, error) { b.reads++; return 0, io.ErrUnexpectedEOF }
func (b *errorBody) Close() error             { b.closed = true; return nil }

// TestStrayBytes: what follows an answer is never taken for the next one, and
// the run says that there was such.
func TestStrayBytes(t *testing.T) {
	body := chat("a") + finish + usageOf("1") + done
	whole := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	base, dials := canned(t, whole+"HTTP/1.1 200 OK\r\n", false)
	r := loaded(t, base, Native, 3)
	if r.All[OK] != 3 || dials.Load() != 3 || !strings.Contains(strings.Join(r.Warnings, "\n"), "3 answers were followed by bytes of no answer") {
		t.Errorf("%v, %v, %d connections, %q", r.All, r.Errors, dials.Load(), r.Warnings)
	}
}
