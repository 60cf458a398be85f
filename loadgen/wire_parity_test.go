package loadgen

import (
	"bufio"
	"bytes"
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
)

// scripted serves connections of p: it reads a request, writes the pieces of
// the answer, and goes on unless the answer ends with its connection.
type scripted struct {
	pieces []string
	hangUp bool // closes after the answer

	mu       sync.Mutex
	requests []*http.Request
	conns    int
}

func (s *scripted) serve(p *pipes) {
	var conns sync.WaitGroup
	defer conns.Wait()
	for {
		c, err := p.Accept()
		if err != nil {
			return
		}
		s.conns++
		conns.Go(func() {
			defer func() { _ = c.Close() }()
			for r := bufio.NewReader(c); ; {
				req, err := http.ReadRequest(r)
				if err != nil {
					return
				}
				if _, err := io.Copy(io.Discard, req.Body); err != nil {
					return
				}
				s.mu.Lock()
				s.requests = append(s.requests, req)
				s.mu.Unlock()
				for _, piece := range s.pieces {
					time.Sleep(10 * time.Millisecond)
					if _, err := io.WriteString(c, piece); err != nil {
						return
					}
				}
				if s.hangUp {
					return
				}
			}
		})
	}
}

// twice makes two requests, over our own HTTP/1.1 or over net/http.
func twice(t *testing.T, s *scripted, own, once bool, cfg Config) (replies [2]reply) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		ended := make(chan struct{})
		go func() { defer close(ended); s.serve(p) }()
		run := &clock{start: time.Now()}
		cfg.Limits = Limits{RequestTimeout: 20 * time.Second}.withDefaults(1)
		c, err := newClient(&cfg, "http://engine/base", run)
		if err != nil {
			t.Fatal(err)
		}
		l := &link{dial: p.Dial, raw: true, once: once}
		l.protocols.SetHTTP1(true)
		e, hangUp := l.exchange(t.Context(), c, &netStats{}, time.Second)
		if e.wire == nil {
			t.Fatal("our own HTTP/1.1 is not used")
		}
		if !own {
			transport := newTransport(l, run, &netStats{}, time.Second)
			e, hangUp = newExchange(t.Context(), c, transport), transport.CloseIdleConnections
		}
		for i := range replies {
			replies[i] = e.do([]byte(`{"a":1}`))
			time.Sleep(100 * time.Millisecond) // net/http notices a close meanwhile
		}
		hangUp()
		_ = p.Close()
		<-ended
	})
	return replies
}

// TestWireIsNetHTTP: whatever a server answers, our own HTTP/1.1 measures and
// judges as over net/http, sends the same, and keeps or drops the connection
// alike.
func TestWireIsNetHTTP(t *testing.T) {
	whole := chat("a") + chat("b") + finish + usage2 + done
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	status := "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nfull"
	for name, s := range map[string]*scripted{
		"chunks":                {pieces: []string{head + "Transfer-Encoding: chunked\r\n\r\n", chunk(chat("a")), chunk(chat("b") + finish), chunk(usage2+done) + "0\r\n\r\n"}},
		"a late last chunk":     {pieces: []string{head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(whole), "0\r\n\r\n"}},
		"length":                {pieces: []string{head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(whole)), whole[:200], whole[200:]}},
		"to the close":          {pieces: []string{head + "\r\n", whole}, hangUp: true},
		"announced close":       {pieces: []string{head + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(whole) + "0\r\n\r\n"}, hangUp: true},
		"close in silence":      {pieces: []string{head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(whole) + "0\r\n\r\n"}, hangUp: true},
		"1.0":                   {pieces: []string{"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", whole}, hangUp: true},
		"100 first":             {pieces: []string{"HTTP/1.1 100 Continue\r\n\r\n", head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(whole) + "0\r\n\r\n"}},
		"a head in pieces":      {pieces: []string{head[:20], head[20:] + "Transfer-Encoding: chu", "nked\r\n\r\n" + chunk(whole) + "0\r\n\r\n"}},
		"cut in a chunk":        {pieces: []string{head + "Transfer-Encoding: chunked\r\n\r\n", chunk(chat("a")), chunk(chat("b"))[:20]}, hangUp: true},
		"cut between chunks":    {pieces: []string{head + "Transfer-Encoding: chunked\r\n\r\n", chunk(chat("a"))}, hangUp: true},
		"cut after DONE":        {pieces: []string{head + "Transfer-Encoding: chunked\r\n\r\n", chunk(whole)}, hangUp: true},
		"no end after DONE":     {pieces: []string{head + "Transfer-Encoding: chunked\r\n\r\n", chunk(whole)}},
		"a bad chunk":           {pieces: []string{head + "Transfer-Encoding: chunked\r\n\r\n", chunk(chat("a")) + "x\r\n"}, hangUp: true},
		"finished by an error":  {pieces: []string{head + "Transfer-Encoding: chunked\r\n\r\n", chunk(chat("a")), chunk(finishAs("error")), chunk(usage2+done) + "0\r\n\r\n"}},
		"cut in the head":       {pieces: []string{head}, hangUp: true},
		"nothing":               {hangUp: true},
		"not HTTP":              {pieces: []string{"SSH-2.0-OpenSSH_9.6\r\n"}, hangUp: true},
		"503":                   {pieces: []string{status}},
		"500 to the close":      {pieces: []string{"HTTP/1.1 500 Oh\r\n\r\n", "no"}, hangUp: true},
		"500 without end":       {pieces: []string{"HTTP/1.1 500 Oh\r\nContent-Length: 9\r\n\r\n", "no"}},
		"an error in 200":       {pieces: []string{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n", `{"error":"full"}`[:15]}},
		"204":                   {pieces: []string{"HTTP/1.1 204 No Content\r\n\r\n"}},
		"compressed":            {pieces: []string{head + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx"}},
		"bytes after the end":   {pieces: []string{head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(whole)) + whole + "more"}},
		"silence":               {pieces: nil},
		"silence after a token": {pieces: []string{head + "Transfer-Encoding: chunked\r\n\r\n", chunk(chat("a"))}},
	} {
		for _, once := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, once %t", name, once), func(t *testing.T) {
				cfg := Config{APIKey: "k", Network: Network{Header: map[string]string{"X-B": "c", "X-A": "d"}}}
				ours, theirs := &scripted{pieces: s.pieces, hangUp: s.hangUp}, &scripted{pieces: s.pieces, hangUp: s.hangUp}
				got, want := twice(t, ours, true, once, cfg), twice(t, theirs, false, once, cfg)
				for i := range got {
					g, w := got[i], want[i]
					// What an error of the connection is called is each one's own.
					if g.outcome == w.outcome && (g.outcome == Connect || g.outcome == Protocol || g.outcome == Truncated) {
						g.text, w.text = "", ""
					}
					if fmt.Sprintf("%+v", g) != fmt.Sprintf("%+v", w) {
						t.Errorf("request %d:\n%+v, net/http:\n%+v", i, got[i], want[i])
					}
				}
				if ours.conns != theirs.conns || len(ours.requests) != len(theirs.requests) {
					t.Fatalf("%d requests on %d connections, net/http %d on %d", len(ours.requests), ours.conns, len(theirs.requests), theirs.conns)
				}
				for i, r := range ours.requests {
					o := theirs.requests[i]
					if fmt.Sprint(r.Method, r.RequestURI, r.Host, r.Proto, r.Header, r.ContentLength, r.Close) != fmt.Sprint(o.Method, o.RequestURI, o.Host, o.Proto, o.Header, o.ContentLength, o.Close) {
						t.Errorf("sent %+v, net/http %+v", r, o)
					}
				}
			})
		}
	}
}

// TestWireLargeRequest: a server that answers before it has read all of a
// large request is heard, and one that reads it all keeps its connection.
func TestWireLargeRequest(t *testing.T) {
	body := bytes.Repeat([]byte{'x'}, 8<<20)
	for _, reads := range []bool{false, true} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan int, 1)
		go func() {
			n := 0
			defer func() { served <- n }()
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				n++
				defer func() { _ = c.Close() }()
				for r := bufio.NewReader(c); ; {
					req, err := http.ReadRequest(r)
					if err != nil {
						break
					}
					if reads {
						_, _ = io.Copy(io.Discard, req.Body)
					}
					_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
					if !reads {
						break
					}
				}
			}
		}()
		cfg := Config{Limits: Limits{RequestTimeout: 20 * time.Second}.withDefaults(1)}
		c, err := newClient(&cfg, "http://"+l.Addr().String(), &clock{start: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		link, err := cfg.link("http://" + l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		e, hangUp := link.exchange(context.Background(), c, &netStats{}, time.Minute)
		for range 3 {
			if r := e.do(body); r.outcome != HTTPStatus || !strings.HasPrefix(r.text, "status 413") {
				t.Errorf("reads %t: %s, %s", reads, r.outcome, r.text)
			}
		}
		hangUp()
		_ = l.Close()
		if n := <-served; reads == (n == 3) {
			t.Errorf("reads %t: %d connections", reads, n)
		}
	}
}
