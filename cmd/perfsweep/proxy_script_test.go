package main

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/perfsweep/perfsweep/loadgen/enginesim"
)

// proxy starts a proxy that leads every host to a small simulator and names it
// in $HTTP_PROXY, with a password.
func proxy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: proxy")
	}
	p, err := enginesim.ParseTarget("kneed?chunk=32&speed=8")
	ts.Check(err)
	sim := enginesim.New(p)
	behind, err := sim.Listen("127.0.0.1:0")
	ts.Check(err)
	to, err := url.Parse(behind)
	ts.Check(err)
	s := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		readAhead(ts, r)
		if _, password, _ := (&http.Request{Header: http.Header{"Authorization": r.In.Header["Proxy-Authorization"]}}).BasicAuth(); password == "hunter2" {
			r.SetURL(to) // without the password it leads nowhere
		}
	}})
	ts.Defer(func() { s.Close(); _ = sim.Close() })
	at, err := url.Parse(s.URL)
	ts.Check(err)
	at.User = url.UserPassword("user", "hunter2")
	ts.Setenv("HTTP_PROXY", at.String())
}

// readAhead takes the whole body before it is passed on: an answer that begins
// before the proxy has met the end of the body makes net/http close that body,
// and the connection behind it with it.
func readAhead(ts *testscript.TestScript, r *httputil.ProxyRequest) {
	body, err := io.ReadAll(r.In.Body)
	ts.Check(err)
	r.Out.Body = io.NopCloser(bytes.NewReader(body))
}
