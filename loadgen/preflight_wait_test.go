package loadgen

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// listOne answers a question for the models.
func listOne(w http.ResponseWriter, r *http.Request) bool {
	_, _ = io.Copy(io.Discard, r.Body) // only then does a server see its client go
	if r.URL.Path == "/v1/models" {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
		return true
	}
	return false
}

// TestPreflightWaits: against a server that does not answer a preflight is
// bounded, says every five seconds what it waits for, and ends with what the
// bound was and how to change it.
func TestPreflightWaits(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	said := func(what string, seconds ...int) (out []string) {
		for _, s := range seconds {
			out = append(out, fmt.Sprintf("%s %ds", what, s))
		}
		return out
	}
	for name, c := range map[string]struct {
		serve  http.HandlerFunc
		limits Limits
		took   time.Duration
		want   string
		waits  []string // one more may come at the very end
	}{
		"a silent port": {hang, Limits{}, modelsTimeout, "no answer from http://engine to GET /v1/models within 10s", said("the list of models", 5)},
		"a hanging chat": {func(w http.ResponseWriter, r *http.Request) {
			if !listOne(w, r) {
				hang(w, r)
			}
		}, Limits{}, time.Minute, "the bound is 1m0s, and a cold engine may need longer: allow it with --first-token-timeout",
			said("the answer to single request 1", 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55)},
		"a bound of the user's": {func(w http.ResponseWriter, r *http.Request) {
			if !listOne(w, r) {
				hang(w, r)
			}
		}, Limits{FirstTokenTimeout: 12 * time.Second}, 12 * time.Second, "the bound is 12s", said("the answer to single request 1", 5, 10)},
		"comments instead of tokens": {func(w http.ResponseWriter, r *http.Request) {
			if !listOne(w, r) {
				saying(w, r, time.Second, func(int) string { return ": ping\n\n" })
			}
		}, Limits{FirstTokenTimeout: 7 * time.Second}, 7 * time.Second, "the bound is 7s", said("the answer to single request 1", 5)},
		"silence inside an answer": {func(w http.ResponseWriter, r *http.Request) {
			if !listOne(w, r) {
				saying(w, r, time.Hour, func(int) string { return chat("a") })
			}
		}, Limits{IdleTimeout: 9 * time.Second}, 9 * time.Second, "--idle-timeout", said("the answer to single request 1", 5)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				s := &http.Server{Handler: c.serve}
				ended := make(chan struct{})
				go func() { defer close(ended); _ = s.Serve(p) }()
				began := time.Now()
				var waits []string
				_, err := RunPreflight(t.Context(), Config{BaseURL: "http://engine", Dial: p.Dial, Limits: c.limits, Waiting: func(what string, since time.Duration) {
					waits = append(waits, fmt.Sprintf("%s %ds", what, int(since.Seconds())))
				}}, tokens(8, 0))
				took := time.Since(began)
				_ = s.Close()
				<-ended
				if err == nil || !strings.Contains(err.Error(), c.want) || took != c.took || len(waits) < len(c.waits) || len(waits) > len(c.waits)+1 || !slices.Equal(waits[:len(c.waits)], c.waits) {
					t.Errorf("after %v: %v; said %q", took, err, waits)
				}
			})
		})
	}
}

// TestPreflightOfNobody: a dial without an end is bounded like any other step,
// and the message names the step and its own limit: not the answer that nobody
// waited for yet.
func TestPreflightOfNobody(t *testing.T) {
	for name, c := range map[string]struct {
		fails func(error) error
		want  string
	}{
		"a silent address": {func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }, "no answer from http://engine: no connection to engine:80 within 8s; is the server up and the address right?"},
		"a silent name server": {func(err error) error {
			return &net.OpError{Op: "dial", Err: &net.DNSError{Name: "engine", Err: "i/o timeout", UnwrapErr: err, IsTimeout: true}}
		}, "the name server did not tell the address of engine within 8s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				_, err := RunPreflight(t.Context(), Config{BaseURL: "http://engine", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
					<-ctx.Done()
					return nil, c.fails(ctx.Err())
				}}, tokens(8, 0))
				if err == nil || !strings.Contains(err.Error(), c.want) || time.Since(began) != preflightConnectTimeout {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
			})
		})
	}
}

// TestPreflightSlowName: one lost answer of a name server, which costs 5 s
// (resolv.conf(5)), does not end a calibration.
func TestPreflightSlowName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !listOne(w, r) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, chat("a")+finish+usage2+done)
			}
		})}
		ended := make(chan struct{})
		go func() { defer close(ended); _ = s.Serve(p) }()
		first := true
		_, err := RunPreflight(t.Context(), Config{BaseURL: "http://engine", Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if first {
				first = false
				select {
				case <-time.After(5 * time.Second):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			return p.Dial(ctx, network, addr)
		}}, tokens(8, 0))
		_ = s.Close()
		<-ended
		if err != nil {
			t.Error(err)
		}
	})
}
