package loadgen

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"go.uber.org/goleak"
)

// place is an address in memory behind which one server follows another.
type place struct {
	client *http.Client
	now    *pipes
	dials  int
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{}
	var err error
	p.client, err = NewHTTPClient(Config{BaseURL: "http://engine", Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		p.dials++
		return p.now.Dial(ctx, network, addr)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// serve puts a server there; what it returns ends it.
func (p *place) serve(h http.HandlerFunc) (end func()) {
	at := newPipes()
	s := &http.Server{Handler: h}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.Serve(at) }() // it says that it was closed
	p.now = at
	return func() { _ = s.Close(); <-ended }
}

// open asks for the page and returns the answer with its body to be read.
func (p *place) open(ctx context.Context, t *testing.T) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://engine/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func (p *place) read(t *testing.T) string {
	t.Helper()
	resp := p.open(t.Context(), t)
	b, err := io.ReadAll(resp.Body)
	if closed := resp.Body.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	return string(b)
}

func pageOf(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) }
}

// withoutEnd writes until nobody reads any more, and tells of it.
func withoutEnd(gone chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		defer close(gone)
		for {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	}
}

// TestSideMeetsEveryServer: behind an address that gives each connection to
// another server, as a Kubernetes Service does, each is met; and so is one that
// was started again.
func TestSideMeetsEveryServer(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPlace(t)
	endOne := p.serve(pageOf("one"))
	one := p.now
	if got := p.read(t); got != "one" {
		t.Errorf("the first server says %q", got)
	}
	endTwo := p.serve(pageOf("two"))
	if got := p.read(t); got != "two" {
		t.Errorf("beside it another one took connections, and %q answered", got)
	}
	p.now = one
	endTwo()
	if got := p.read(t); got != "one" {
		t.Errorf("the other one ended, and %q answered", got)
	}
	endOne()
	end := p.serve(pageOf("started again"))
	if got := p.read(t); got != "started again" || p.dials != 4 {
		t.Errorf("after it was started again it says %q, over %d connections", got, p.dials)
	}
	end()
}

// TestSideOfAServerThatHangsUp: a server that closes after each answer is read
// as any other.
func TestSideOfAServerThatHangsUp(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPlace(t)
	end := p.serve(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		pageOf("page")(w, r)
	})
	for range 3 {
		if got := p.read(t); got != "page" {
			t.Errorf("it says %q", got)
		}
	}
	end()
}

// TestSideOfAnEndlessPage: a page that never ends is given up with its request,
// and leaves neither a connection nor a goroutine.
func TestSideOfAnEndlessPage(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPlace(t)
	gone := make(chan struct{})
	end := p.serve(withoutEnd(gone))
	ctx, cancel := context.WithCancel(t.Context())
	resp := p.open(ctx, t)
	if _, err := io.CopyN(io.Discard, resp.Body, 1<<20); err != nil {
		t.Error(err)
	}
	cancel()
	if _, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("the page ended with %v", err)
	}
	_ = resp.Body.Close() // it is broken
	<-gone
	end()
}

// TestSideOfAPageLeftUnread: closing is enough, as for a page that is too long.
func TestSideOfAPageLeftUnread(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPlace(t)
	gone := make(chan struct{})
	end := p.serve(withoutEnd(gone))
	if err := p.open(t.Context(), t).Body.Close(); err != nil {
		t.Error(err)
	}
	<-gone
	end()
}
