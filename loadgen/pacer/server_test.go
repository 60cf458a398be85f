package pacer

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func listen(t *testing.T, p Params) (s *Server, base string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = start(t, p)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s, "http://" + l.Addr().String()
}

func TestNothingIsLeft(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, Params{KernelSleep: true, ITL: ttft})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := ask(t, c, 1000)
	if _, err := bufio.NewReader(r.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // in the middle of an answer
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(r.Body); err == nil {
		t.Error("an answer that was cut looks whole")
	}
	s.ServeConn(c) // after the end: closed, not served
	if _, err := New(Params{ITL: -1}); err == nil {
		t.Error("a negative interval was taken")
	}
}

func TestAnswersToOtherThanStreams(t *testing.T) {
	s, base := listen(t, Params{Model: `a "name"`})
	for _, tt := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/v1/models", "", 200, `"id":"a \"name\""`},
		{"GET", "/v1/chat/completions", "", 404, "only"},
		{"POST", "/v1/completions", "{}", 404, "only"},
		{"POST", "/v1/chat/completions", "{", 400, "not a chat request"},
		{"POST", "/v1/chat/completions", `{"stream":false}`, 400, "streams only"},
		{"POST", "/v1/chat/completions", `{"stream":true,"messages":[{"content":"x y"}],"max_completion_tokens":2}`, 200, `"prompt_tokens":2,"completion_tokens":2`},
		{"POST", "/v1/chat/completions", `{"stream":true}`, 200, `"completion_tokens":128`},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, base+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || r.StatusCode != tt.status || !strings.Contains(string(b), tt.want) {
			t.Errorf("%s %s: %d %s, %v; want %d and %q", tt.method, tt.path, r.StatusCode, b, err, tt.status, tt.want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if err := s.Close(); err != nil { // a record is filed after its last write
		t.Error(err)
	}
	if n := s.Truth(0).Requests; n != 2 {
		t.Errorf("%d requests on record, want the two streams", n)
	}
}

// TestClientLeaves: an answer whose client has gone is not whole.
func TestClientLeaves(t *testing.T) {
	s, base := listen(t, Params{ITL: itl})
	c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	r := ask(t, c, 1000)
	if _, err := bufio.NewReader(r.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	other, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for range 50 { // each takes 80 ms: the writes to the closed one fail meanwhile
		if _, err := io.ReadAll(ask(t, other, 5).Body); err != nil {
			t.Fatal(err)
		}
		if n := s.Truth(0); n.Requests > n.Whole {
			return
		}
	}
	t.Errorf("the client that left is on record as %+v", s.Truth(0))
}

func TestLateness(t *testing.T) {
	for ns := int64(0); ns < 1<<40; ns += 1 + ns/7 {
		b := bucketOf(ns)
		if u := upper(b); u < ns || u > ns+ns/4+1 || bucketOf(u) != b {
			t.Fatalf("%d ns is in bucket %d with the upper end %d", ns, b, u)
		}
	}
	var a, b lateness
	for i := range int64(1000) {
		(&a).add(i * 1000)
	}
	b.add(-5)
	a.merge(&b)
	for q, want := range map[float64]int64{.5: 500e3, .99: 990e3, 1: 999e3} {
		if got := int64(a.quantile(q)); got < want-1000 || got > want+want/4 {
			t.Errorf("quantile %g is %d, want %d", q, got, want)
		}
	}
	if a.n != 1001 || a.max != 999e3 {
		t.Errorf("n %d, max %d", a.n, a.max)
	}
	if got := (&lateness{}).quantile(.5); got != 0 {
		t.Errorf("of nothing: %s", got)
	}
}

func TestInFlight(t *testing.T) {
	req := func(from, to int64) record { return record{received: from, last: to} }
	for _, tt := range []struct {
		name    string
		records []record
		most    int
		mean    float64
	}{
		{"one", []record{req(0, 10)}, 1, 1},
		{"one after the other, at once", []record{req(0, 10), req(10, 20)}, 1, 1},
		{"one after the other, with a gap", []record{req(0, 10), req(20, 30), req(40, 50)}, 1, .5},
		{"two, replaced at once", []record{req(0, 10), req(4, 14), req(10, 20), req(14, 24)}, 2, 2},
		{"two, one of them late", []record{req(0, 10), req(0, 10), req(10, 20), req(15, 25)}, 2, 25. / 15},
		{"failed before a token", []record{req(0, 0), req(5, 10)}, 1, 0},
	} {
		if most, mean := inFlight(tt.records); most != tt.most || fmt.Sprintf("%.9f", mean) != fmt.Sprintf("%.9f", tt.mean) {
			t.Errorf("%s: %d and %g, want %d and %g", tt.name, most, mean, tt.most, tt.mean)
		}
	}
}
