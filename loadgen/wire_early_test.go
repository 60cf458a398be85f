package loadgen

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestAnswerBeforeItsRequest: an answer that was whole before a server had the
// request is no measurement; a refusal of it is one.
func TestAnswerBeforeItsRequest(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
	for _, c := range []struct {
		answer string
		want   Outcome
	}{
		{head + chat("a") + finish + usageOf("1") + done, Protocol},
		{"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig", HTTPStatus},
		{"", Connect},
	} {
		synctest.Test(t, func(t *testing.T) { // nobody is late
			dial := func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() {
					defer theirs.Close()
					_, _ = io.ReadFull(theirs, make([]byte, 1000))
					if _, err := io.WriteString(theirs, c.answer); err == nil && c.answer != "" {
						<-time.After(time.Second)
					}
				}()
				return ours, nil
			}
			spec := tokens(1, 0)
			spec.ISL = 50000
			r, err := Run(t.Context(), Config{
				BaseURL: "http://engine", Model: "m", Concurrency: 1, Kind: Gate, Dial: dial, Workload: workload(t, spec),
				Limits: Limits{MinRequests: 2, WarmUpRequests: -1},
			})
			if err != nil || r.All[c.want] != 2 {
				t.Errorf("%.20q: %v, %v, %v", c.answer, err, r.All, r.Errors)
			}
			<-time.After(time.Minute) // the servers end
		})
	}
}

// TestEndlessAnswer: tokens without end are left soon after those asked for,
// not at the request's timeout.
func TestEndlessAnswer(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	base, stop := raw(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096))
		_, err := io.WriteString(c, head)
		for err == nil {
			_, err = io.WriteString(c, chat("a"))
		}
	})
	defer stop()
	if r := loaded(t, base, Native, 1); r.All[Protocol] != 1 || r.Errors[Protocol][0] != "more than 1040 chunks in one answer" {
		t.Errorf("%v, %v", r.All, r.Errors)
	}
}
