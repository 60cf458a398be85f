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
)

// newTransport makes the HTTP side of one stream. It must add nothing of its
// own to what is measured: one HTTP/1.1 connection (HTTP/2 would queue streams
// behind each other), no pool to wait for, no compression that holds tokens
// back, no proxy from the environment. Redirects are never
// followed, because nothing above it follows them.
func newTransport(cfg *Config, run *clock, stats *netStats, connectTimeout time.Duration) *http.Transport {
	dial := (&net.Dialer{}).DialContext
	if cfg.Dial != nil {
		dial = cfg.Dial
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Protocols:           &protocols,
		MaxIdleConnsPerHost: 1,
		DisableCompression:  true,
		TLSHandshakeTimeout: loadConnectTimeout,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, connectTimeout)
			defer cancel()
			c, from, end, err := stats.dialTimed(run, func() (net.Conn, error) { return dial(ctx, network, addr) })
			switch {
			case err != nil:
				return nil, err
			case cfg.Dial != nil:
				c = &stampConn{Conn: c, clock: run, stats: stats}
			default:
				c = newConn(c, run, stats)
			}
			s := stamped(c)
			s.dialFrom, s.dialEnd = from, end
			return c, nil
		},
	}
}
