package loadgen

import (
	"context"
	"net"
	"net/http"
	"time"
)

const (
	// A dial storm of some thousand connections takes a second or two of
	// serial work on either side.
	loadConnectTimeout      = 10 * time.Second
	preflightConnectTimeout = 2 * time.Second
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
			ctx, cancel := context.WithTimeout(ctx, connectTimeout)
			defer cancel()
			c, from, end, err := stats.dialTimed(run, func() (net.Conn, error) { return l.dial(ctx, network, addr) })
			switch {
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
		},
	}
}
