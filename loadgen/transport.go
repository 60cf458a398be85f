package loadgen

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	// A dial storm of some thousand connections takes a second or two of
	// serial work on either side.
	loadConnectTimeout = 10 * time.Second
	// A name server's lost answer costs 5 s before the question is asked again
	// (resolv.conf(5)), and clusters lose some (kubernetes/kubernetes#56903). It
	// stays below modelsTimeout, so that a failure says which of the two it was.
	preflightConnectTimeout = 8 * time.Second
	// maxHead bounds the head of an answer; engines send a few hundred bytes.
	maxHead = 256 << 10
	// connBuffer is that of either direction of a connection: a few chunks, and
	// a usual request in one write. The 4 KiB of net/http cost a tenth of what
	// a stream needs and gain nothing.
	connBuffer = 2 << 10
)

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// dialer is Dial, a dialler of the one Unix socket, or TCP.
func (c *Config) dialer() dialFunc {
	var d net.Dialer
	switch path := c.Network.UnixSocket; {
	case c.Dial != nil:
		return c.Dial
	case path != "":
		return func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, "unix", path) }
	}
	return d.DialContext
}

// newTransport makes the HTTP side of one stream. It must add nothing of its
// own to what is measured: one connection, no pool to wait for, no compression
// that holds tokens back, no proxy and no HTTP/2 unless asked for. Redirects
// are never followed, because nothing above it follows them.
func newTransport(l *link, run *clock, stats *netStats, connectTimeout time.Duration) *http.Transport {
	return &http.Transport{
		Protocols:              &l.protocols,
		MaxIdleConnsPerHost:    1,
		DisableKeepAlives:      l.once,
		DisableCompression:     true,
		TLSHandshakeTimeout:    loadConnectTimeout,
		TLSClientConfig:        l.tls.Clone(), // net/http writes the protocols that it speaks into it
		Proxy:                  l.proxy,
		MaxResponseHeaderBytes: maxHead,
		ReadBufferSize:         connBuffer,
		WriteBufferSize:        connBuffer,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return l.connect(ctx, network, addr, run, stats, connectTimeout)
		},
	}
}

// connect dials, and makes a connection that stamps what it reads.
func (l *link) connect(ctx context.Context, network, addr string, run *clock, stats *netStats, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errConnectTimeout)
	defer cancel()
	c, from, end, err := stats.dialTimed(run, func() (net.Conn, error) { return l.dial(ctx, network, addr) })
	switch {
	case err != nil && context.Cause(ctx) == errConnectTimeout:
		return nil, &connectTimeout{addr, timeout, err}
	case err != nil:
		return nil, err
	case l.raw:
		c = &stampConn{Conn: c, clock: run, stats: stats}
	default:
		c = newConn(c, run, stats)
	}
	s := stamped(c)
	s.dialFrom, s.dialEnd, s.gone = from, end, make(chan struct{})
	return c, nil
}

// heads sends a request and takes the head of its answer. An upgrade, which
// nobody asked for, has no body: net/http gives the connection itself in place
// of one, which no context ends.
func heads(t http.RoundTripper, r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		_ = resp.Body.Close()
		resp.Body = http.NoBody
	}
	return resp, err
}

// exchange makes what carries the requests of one stream, and what closes its
// connection in the end: our own HTTP/1.1 where it can, else net/http.
func (l *link) exchange(ctx context.Context, c *client, stats *netStats, timeout time.Duration) (e *exchange, hangUp func()) {
	if addr, ok := l.plain(c); ok {
		e = newExchange(ctx, c, nil)
		e.wire = newWire(e, func(ctx context.Context) (net.Conn, error) {
			return l.connect(ctx, "tcp", addr, c.clock, stats, timeout)
		}, l.once)
		return e, e.wire.hangUp
	}
	t := newTransport(l, c.clock, stats, timeout)
	return newExchange(ctx, c, t), t.CloseIdleConnections
}

// plain is the address of a target that our own HTTP/1.1 can reach. Names that
// net/http rewrites on their way are left to it.
func (l *link) plain(c *client) (addr string, ok bool) {
	u := c.template.URL
	own := wireConns || l.raw
	if !own || u.Scheme != "http" || l.proxy != nil || !l.protocols.HTTP1() || c.openAI != nil ||
		strings.ContainsFunc(u.Host+c.template.Host, func(r rune) bool { return r == '%' || r > '~' }) {
		return "", false
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80")), true
}
