package fleet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

const (
	// maxRelayed bounds a relayed answer; the metrics of a large deployment have
	// some hundred KiB, which compress to a tenth.
	maxRelayed   = 8 << 20
	relayTimeout = 10 * time.Second
)

// get makes one GET and gives its answer, compressed. Redirects are not
// followed: they may lead elsewhere.
func (w *worker) get(ctx context.Context, c *call) reply {
	if err := w.mayReach(c.URL); err != nil {
		return failed(err)
	}
	ctx, cancel := context.WithTimeout(ctx, relayTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
	if err != nil {
		return failed(err)
	}
	client, err := loadgen.NewHTTPClient(loadgen.Config{BaseURL: req.URL.Scheme + "://" + req.URL.Host, APIKey: w.APIKey, Dial: w.dial})
	if err != nil {
		return failed(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or is not wanted
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRelayed+1))
	if err != nil {
		return failed(err)
	}
	packed, err := pack(body)
	if err != nil || len(body) > maxRelayed || len(packed) > pageBytes {
		return reply{Error: fmt.Sprintf("GET %s: the answer is larger than a generator relays", c.URL)}
	}
	return reply{Code: resp.StatusCode, ContentType: resp.Header.Get("Content-Type"), Data: packed}
}

// HTTP is a transport for small GETs, such as those of metrics, which the first
// generator makes with its own key: to the given hosts (HOST:PORT) only, of
// which the generator must have been told as well.
func (f *Fleet) HTTP(hosts ...string) http.RoundTripper { return &relay{f, hosts} }

type relay struct {
	fleet *Fleet
	hosts []string
}

func (r *relay) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close() // a transport has to
	}
	port := req.URL.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[req.URL.Scheme]
	}
	if host := net.JoinHostPort(req.URL.Hostname(), port); req.Method != http.MethodGet || !slices.Contains(r.hosts, host) {
		return nil, fmt.Errorf("a generator relays GETs of %q, not %s of %s", r.hosts, req.Method, host)
	}
	ask := func() (reply, error) {
		return r.fleet.call(req.Context(), r.fleet.pods[0], pathGet, &call{URL: req.URL.String()})
	}
	out, err := ask()
	if err != nil && !refused(err) && req.Context().Err() == nil { // a way that broke once
		sleep(req.Context(), again)
		out, err = ask()
	}
	if err != nil {
		return nil, err
	}
	body, err := unpack(out.Data)
	if err != nil || len(body) > maxRelayed {
		return nil, fmt.Errorf("GET %s by way of %s: the answer is damaged (%v)", req.URL.Redacted(), r.fleet.pods[0].Name(), err)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", out.Code, http.StatusText(out.Code)), StatusCode: out.Code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {out.ContentType}},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}
