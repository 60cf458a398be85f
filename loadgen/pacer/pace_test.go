package pacer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

const (
	ttft = 50 * time.Millisecond
	itl  = 20 * time.Millisecond
)

func start(t *testing.T, p Params) *Server {
	t.Helper()
	s, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pipe connects to the server in memory.
func pipe(s *Server) net.Conn {
	mine, its := net.Pipe()
	s.ServeConn(its)
	return mine
}

func ask(t *testing.T, c net.Conn, tokens int) *http.Response {
	t.Helper()
	body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"one two three"}],"max_tokens":%d,"stream":true}`, tokens)
	_, _ = fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// arrivals reads an answer to its end and returns when its tokens came. After
// token pauseAt it does not read for a while.
func arrivals(t *testing.T, r *http.Response, from time.Time, pauseAt int, pause time.Duration) []time.Duration {
	t.Helper()
	var out []time.Duration
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		if !strings.Contains(lines.Text(), `"content":" word"`) {
			continue
		}
		out = append(out, time.Since(from))
		if len(out) == pauseAt {
			time.Sleep(pause)
		}
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	return out
}

// TestDeadlines: every token leaves at its own absolute time.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Params{TTFT: ttft, ITL: itl})
		c := pipe(s)
		for range 2 { // kept alive
			from := time.Now()
			got := arrivals(t, ask(t, c, 10), from, 0, 0)
			if len(got) != 10 {
				t.Fatalf("%d tokens", len(got))
			}
			for k, at := range got {
				if want := ttft + time.Duration(k)*itl; at != want {
					t.Errorf("token %d at %s, want %s", k, at, want)
				}
			}
		}
		synctest.Wait()
		got := s.Truth(0)
		want := Truth{
			Requests: 2, Whole: 2, Connections: 1, Tokens: 20, KernelTime: kernelTimes, Seconds: .46, TokPerSec: 20 / .46,
			InFlightMax: 1, InFlightMean: 1, TTFTP50MS: 50, TTFTP99MS: 50,
			FirstRequestUnixNS: got.FirstRequestUnixNS, LastTokenUnixNS: got.FirstRequestUnixNS + 460e6,
		}
		if got != want {
			t.Errorf("truth %+v\nwant  %+v", got, want)
		}
		if one := s.Truth(1); one.Requests != 1 || one.Tokens != 10 {
			t.Errorf("without the first: %+v", one)
		}
		_ = c.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestLatenessDoesNotAddUp: a reader that stands still delays the tokens of
// that time and none after it.
func TestLatenessDoesNotAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Params{TTFT: ttft, ITL: itl})
		c := pipe(s)
		from := time.Now()
		got := arrivals(t, ask(t, c, 20), from, 5, 110*time.Millisecond)
		if len(got) != 20 {
			t.Fatalf("%d tokens", len(got))
		}
		held := ttft + 4*itl + 110*time.Millisecond
		for k, at := range got {
			want := ttft + time.Duration(k)*itl
			if k > 4 {
				want = max(want, held)
			}
			if at != want {
				t.Errorf("token %d at %s, want %s", k, at, want)
			}
		}
		_ = c.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if late := s.Truth(0).LateMaxMS; late != 70 { // token 6 was due at 150 ms, token 5 let go at 240
			t.Errorf("late by up to %g ms", late)
		}
	})
}

// TestHeldInLoop: what a closed loop of the real generator reports agrees with
// the truth to the token and to the nanosecond, and never exceeds its streams.
func TestHeldInLoop(t *testing.T) {
	for _, kind := range []loadgen.RunKind{loadgen.Steady, loadgen.Gate} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const streams, tokens = 16, 8
				s := start(t, Params{TTFT: ttft, ITL: itl})
				w, err := loadgen.NewWorkload(loadgen.WorkloadSpec{Name: loadgen.Synthetic, ISL: 8, OSL: tokens, Seed: 1}, loadgen.Preflight{WordsPerToken: 1})
				if err != nil {
					t.Fatal(err)
				}
				r, err := loadgen.Run(t.Context(), loadgen.Config{
					BaseURL: "http://paced.invalid", Model: "paced", Concurrency: streams, Kind: kind, Workload: w,
					OnRequest: func(q loadgen.Request) {
						if got := q.FirstToken - q.Sent; got != ttft || q.ServerTTFT != ttft {
							t.Errorf("request %d: TTFT %s, the server's own %s", q.Number, got, q.ServerTTFT)
						}
					},
					Limits: loadgen.Limits{MinRequests: 4 * streams, Ramp: 90 * time.Millisecond},
					Dial:   func(context.Context, string, string) (net.Conn, error) { return pipe(s), nil },
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				truth := s.Truth(0)
				if int64(truth.Whole) != r.All.Total() || r.All.Bad() != 0 || truth.Tokens != r.TotalOutputTokens || truth.Tokens != tokens*r.All.Total() {
					t.Errorf("client %v with %d tokens, server %+v", r.All, r.TotalOutputTokens, truth)
				}
				if truth.InFlightMax != streams || truth.InFlightMean < streams-1e-9 {
					t.Errorf("%d in flight at most, %g on average", truth.InFlightMax, truth.InFlightMean)
				}
				if r.WholeRun.TTFTP50MS != 50 || r.WholeRun.TTFTP99MS != 50 || truth.TTFTP99MS != 50 || truth.LateMaxMS != 0 {
					t.Errorf("TTFT %g and %g ms, truth %+v", r.WholeRun.TTFTP50MS, r.WholeRun.TTFTP99MS, truth)
				}
			})
		})
	}
}

// TestManyConnections: each stream keeps its own times.
func TestManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Params{TTFT: ttft, ITL: itl})
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 3 * time.Millisecond)
				c := pipe(s)
				defer c.Close()
				from := time.Now()
				got := arrivals(t, ask(t, c, 1+i%7), from, 0, 0)
				if want := ttft + time.Duration(i%7)*itl; len(got) != 1+i%7 || got[i%7] != want {
					t.Errorf("stream %d: %v, want %d tokens and the last at %s", i, got, 1+i%7, want)
				}
			})
		}
		all.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestUnpaced: without an interval all tokens leave at once.
func TestUnpaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Params{TTFT: ttft})
		c := pipe(s)
		defer c.Close()
		from := time.Now()
		got := arrivals(t, ask(t, c, 1000), from, 0, 0)
		if len(got) != 1000 || got[0] != ttft || got[999] != ttft {
			t.Errorf("%d tokens from %s to %s", len(got), got[0], got[len(got)-1])
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestTiming: the server tells its own TTFT in Dynamo's form, with usage.
func TestTiming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Params{TTFT: ttft, ITL: itl})
		c := pipe(s)
		defer c.Close()
		b, err := io.ReadAll(ask(t, c, 3).Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			`"nvext":{"timing":{"ttft_ms":50.000000,"total_time_ms":90.000000}}`,
			`"usage":{"prompt_tokens":3,"completion_tokens":3,"total_tokens":6}`, `"finish_reason":"length"`,
		} {
			if !strings.Contains(string(b), want) {
				t.Errorf("no %s in\n%s", want, b)
			}
		}
		if !strings.HasSuffix(string(b), "data: [DONE]\n\n") {
			t.Errorf("it ends in %q", b[max(0, len(b)-40):])
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
