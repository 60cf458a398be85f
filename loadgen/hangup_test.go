package loadgen

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// hangUp serves connections of p as llama.cpp's server does: some moments after
// a stream it closes the connection, and what was sent to it meanwhile is lost.
// A head that announces this is a courtesy.
func hangUp(p *pipes, announce bool) {
	var conns sync.WaitGroup
	defer conns.Wait()
	var streams atomic.Int64
	for {
		c, err := p.Accept()
		if err != nil {
			return
		}
		conns.Go(func() { hangUpOnce(c, announce, &streams) })
	}
}

func hangUpOnce(c net.Conn, announce bool, streams *atomic.Int64) {
	defer func() { _ = c.Close() }()
	for r := bufio.NewReader(c); ; {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		if strings.HasSuffix(req.URL.Path, "/models") {
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(oneModel), oneModel)
			continue
		}
		if streams.Add(1) == 1 {
			time.Sleep(time.Second) // cold: a third probe follows
		}
		time.Sleep(20 * time.Millisecond)
		head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
		if announce {
			head += "Connection: close\r\n"
		}
		body := chat("w") + finish + usageOf("1") + done
		_, _ = fmt.Fprintf(c, "%s\r\n%x\r\n%s\r\n0\r\n\r\n", head, len(body), body)
		lost := make(chan struct{})
		go func() { _, _ = io.Copy(io.Discard, r); close(lost) }()
		time.Sleep(time.Millisecond)
		_ = c.Close()
		<-lost
		return
	}
}

// hangUpRun probes and loads such a server; forget leaves the preflight out of
// the run.
func hangUpRun(t *testing.T, announce, forget bool) (p Preflight, r Result) {
	synctest.Test(t, func(t *testing.T) {
		pipes := newPipes()
		ended := make(chan struct{})
		go func() { defer close(ended); hangUp(pipes, announce) }()
		defer func() {
			_ = pipes.Close()
			<-ended
		}()
		spec := tokens(1, 0)
		cfg := Config{BaseURL: "http://engine", Concurrency: 3, Kind: Gate, Dial: pipes.Dial, Limits: Limits{MinRequests: 12}}
		var err error
		if p, err = RunPreflight(t.Context(), cfg, spec); err != nil {
			t.Fatal(err)
		}
		pre := p
		if forget {
			pre = Preflight{}
		}
		cfg.Model = p.Model
		if cfg.Workload, err = NewWorkload(spec, pre); err != nil {
			t.Fatal(err)
		}
		if r, err = Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	})
	return p, r
}

// TestServerThatHangsUp: no request is lost to a connection that its server
// was about to close.
func TestServerThatHangsUp(t *testing.T) {
	p, r := hangUpRun(t, false, false)
	if !p.HangsUp || !strings.Contains(strings.Join(p.Warnings, "\n"), "closes the connection") {
		t.Errorf("preflight did not notice: hangs up %t, warnings %q", p.HangsUp, p.Warnings)
	}
	if r.All.Bad() != 0 || r.Health.Dials != r.All.Total() {
		t.Errorf("outcomes %v with %d dials, want all ok and a dial for each: %v", r.All, r.Health.Dials, r.Errors)
	}
}

// Without the preflight the requests are lost, and said to be.
func TestServerThatHangsUpUnnoticed(t *testing.T) {
	if _, r := hangUpRun(t, false, true); r.All[Connect] == 0 {
		t.Errorf("outcomes %v, want some that met a closed connection: this server tests nothing", r.All)
	}
}

func TestServerThatAnnouncesClose(t *testing.T) {
	p, r := hangUpRun(t, true, false)
	if p.HangsUp || r.All.Bad() != 0 {
		t.Errorf("hangs up %t, outcomes %v; want an announced close to be no surprise", p.HangsUp, r.All)
	}
}
