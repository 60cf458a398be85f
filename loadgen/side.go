package loadgen

import (
	"net/http"
	"time"
)

// NewHTTPClient makes a client for what else is asked of the target, such as
// its metrics: it goes the way of the load, with the same certificates, headers
// and key. Redirects are not followed.
//
// It keeps no connection open. An address may be that of several servers, as a
// Kubernetes Service is, which gives each connection to one of them: only who
// dials anew finds out that they differ, and a kept connection would show one
// server as if it were all. That costs a dial a reading, once a second beside
// the hundreds of requests of a load.
func NewHTTPClient(cfg Config) (*http.Client, error) {
	base, err := ParseBaseURL(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := cfg.checkNetwork(base); err != nil {
		return nil, err
	}
	l, err := cfg.link(base)
	if err != nil {
		return nil, err
	}
	t := newTransport(l, &clock{start: time.Now()}, &netStats{}, preflightConnectTimeout)
	t.DisableKeepAlives = true
	header := cfg.header()
	return &http.Client{
		Transport:     adopting(func(r *http.Request) (*http.Response, error) { adopt(r, header); return heads(t, r) }),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// adopting is a transport that a function makes. It changes the request that it
// is given, which only the client made here ever sees.
type adopting func(*http.Request) (*http.Response, error)

func (f adopting) RoundTrip(r *http.Request) (*http.Response, error) { return f(r.Clone(r.Context())) }
