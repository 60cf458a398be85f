package observe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxPage bounds a page that a server sends; Dynamo's /metrics is about 200 KB.
const maxPage = 8 << 20

// readFor bounds one page in time: a sweep must not wait for a hint.
const readFor = 5 * time.Second

// Capacity is what a Dynamo frontend publishes of its workers' batch caps.
type Capacity struct {
	// MaxNumSeqs is the batch cap of one worker; where workers differ the
	// frontend shows that of one of them.
	MaxNumSeqs int
	// Workers is the number of ready instances that generate.
	Workers int
}

// Streams is the number of requests that can run at once.
func (c Capacity) Streams() int { return c.MaxNumSeqs * c.Workers }

// ReadCapacity asks the frontend at baseURL. A server that publishes no batch
// cap, such as a bare vLLM, is an error that says what was missing; it is for
// the caller to go on without.
func ReadCapacity(ctx context.Context, hc *http.Client, baseURL, model string) (Capacity, error) {
	var c Capacity
	err := page(ctx, hc, baseURL+"/metrics", func(r io.Reader) (err error) {
		c.MaxNumSeqs, err = maxNumSeqs(r, model)
		return err
	})
	if err != nil {
		return Capacity{}, err
	}
	ids, err := ReadWorkers(ctx, hc, baseURL)
	if err == nil && len(ids) == 0 {
		err = ErrNoWorkerList
	}
	if err != nil {
		return Capacity{}, err
	}
	c.Workers = len(ids)
	return c, nil
}

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

// maxNumSeqs finds the gauge of the model in the text exposition format.
func maxNumSeqs(r io.Reader, model string) (int, error) {
	const name = "dynamo_frontend_model_max_num_seqs{"
	label := "model=" + strconv.Quote(model)
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := sc.Text()
		end := strings.LastIndexByte(line, '}')
		if !strings.HasPrefix(line, name) || end < 0 || !strings.Contains(line[:end], label) {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(line[end+1:]), 64)
		if err != nil || v < 1 || v > math.MaxInt32 || v != math.Trunc(v) {
			return 0, fmt.Errorf("dynamo_frontend_model_max_num_seqs is %q", strings.TrimSpace(line[end+1:]))
		}
		return int(v), nil
	}
	if err := sc.Err(); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("no batch cap (dynamo_frontend_model_max_num_seqs) of model %s", model)
}
