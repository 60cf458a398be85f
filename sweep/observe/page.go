package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// maxPage bounds a page that a server sends; Dynamo's /metrics is about 200 KB.
const maxPage = 8 << 20

// readFor bounds one page in time: a sweep must not wait for a hint.
const readFor = 5 * time.Second

// page reads a page of a server. Errors name its address without what may be
// secret in it, and hold none of the server's words.
func page(ctx context.Context, hc *http.Client, address string, read func(io.Reader) error) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("reading a page of the server: its address is no URL")
	}
	name := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	ctx, cancel := context.WithTimeout(ctx, readFor)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fmt.Errorf("reading %s: the address is no URL", name)
	}
	// Without a choice of encodings a server does not spend time on packing.
	req.Header.Set("Accept-Encoding", "identity")
	own := *hc // a redirect leads to another server, which was not asked for
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := own.Do(req)
	if err != nil {
		if of, ok := errors.AsType[*url.Error](err); ok {
			err = of.Err // the rest repeats the address
		}
		return fmt.Errorf("reading %s: %w", name, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered status %d", name, resp.StatusCode) // the reason would be the server's words
	}
	if err := read(io.LimitReader(resp.Body, maxPage)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// readMetrics reads and translates a page. The snapshot's time is that of the
// answer's head: servers put a page together right before they send it.
func (t *track) readMetrics(ctx context.Context) (Snapshot, error) {
	var s Snapshot
	err := page(ctx, t.client, t.address, func(r io.Reader) error {
		at := time.Now()
		t.buf.Reset()
		n, err := t.buf.ReadFrom(r)
		switch {
		case err != nil:
			return fmt.Errorf("reading the page: %w", err)
		case n >= maxPage:
			return fmt.Errorf("the page is longer than %d MiB", maxPage>>20)
		}
		s, err = t.translation.page(t.buf.Bytes())
		s.At = at
		return err
	})
	return s, err
}
