package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// recordedPages are what a real Dynamo frontend and one of its workers showed,
// but for most buckets.
const recordedPages = "sweep/observe/testdata"

// maxScrape is the share of the client's CPU that reading the servers' pages may take.
const maxScrape = .01

// scrapePart runs a sweep of one level that watches nothing, one page and nine,
// in turn, and compares what a token cost.
func scrapePart(ctx context.Context, b *bench) ([]row, error) {
	pages, stop, err := servePages(9)
	if err != nil {
		return nil, err
	}
	defer stop()
	l := load{streams: pick(b, 2048, 64), tokens: pick(b, 32, 8), ttft: 500 * time.Millisecond, itl: 100 * time.Millisecond}
	arms := []int{0, 1, 9}
	costs := map[int][]float64{}
	for i := range pick(b, 2*max(1, b.times), 1) {
		for j := range arms {
			n := arms[j]
			if i%2 == 1 {
				n = arms[len(arms)-1-j]
			}
			cost, err := b.watching(ctx, l, pages[:n])
			if err != nil {
				return nil, fmt.Errorf("a sweep with %d pages: %w", n, err)
			}
			b.say("%d pages: %.3f us of CPU a token", n, cost)
			costs[n] = append(costs[n], cost)
		}
	}
	var rows []row
	for _, n := range arms[1:] {
		more := median(costs[n])/median(costs[0]) - 1
		r := row{name: fmt.Sprintf("CPU a token at %d streams, %d page(s) a second, us", l.streams, n), target: "less than 1 % more",
			measured: spread(costs[n], "%.2f"), reference: spread(costs[0], "%.2f"), ratio: fmt.Sprintf("%+.2f %%", 100*more)}
		rows = append(rows, r.atMost(more, maxScrape))
	}
	return rows, nil
}

// watching is what a token costs the client of a sweep, in microseconds of CPU
// between the first request and the last token.
func (b *bench) watching(ctx context.Context, l load, pages []string) (float64, error) {
	s, err := b.serve(ctx, l)
	if err != nil {
		return 0, err
	}
	args := []string{"sweep", "--target", s.url, "--gpus", "1", "--levels", fmt.Sprintf("%d,%d,%d,%d", l.streams, l.streams+1, l.streams+2, l.streams+3),
		"--max-runs", "1", "--effort", "quick", "--isl", "32", "--osl", fmt.Sprint(l.tokens), "-o", "json", "--quiet"}
	for _, p := range pages {
		args = append(args, "--metrics", p)
	}
	if len(pages) == 0 {
		args = append(args, "--metrics", "off")
	}
	w, err := b.client(ctx, l, b.bin, args...)
	var code *exec.ExitError
	if errors.As(err, &code) && code.ExitCode() == 9 { // one level is no knee
		err = nil
	}
	t, serr := s.stop()
	if err := errors.Join(err, serr); err != nil {
		return 0, err
	}
	if t.Tokens == 0 {
		return 0, errors.New("the server saw no token")
	}
	return float64((w.cpuAt(t.LastNS) - w.cpuAt(t.FirstNS)).Microseconds()) / float64(t.Tokens), nil
}

// servePages serves a frontend's page and those of its workers, each from an
// address of its own as in a cluster.
func servePages(n int) (urls []string, stop func(), err error) {
	var servers []*http.Server
	stop = func() {
		for _, s := range servers {
			_ = s.Close() // the run is over
		}
	}
	for i := range n {
		name := "worker1-load.prom"
		if i == 0 {
			name = "frontend.prom"
		}
		text, err := os.ReadFile(filepath.Join(recordedPages, name))
		if err != nil {
			stop()
			return nil, nil, fmt.Errorf("reading the page to serve, in the root of the repository: %w", err)
		}
		page := withBuckets(string(text))
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			stop()
			return nil, nil, fmt.Errorf("serving a page: %w", err)
		}
		s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) })}
		servers = append(servers, s)
		go func() { _ = s.Serve(ln) }() // ends with Close
		urls = append(urls, "http://"+ln.Addr().String()+"/metrics")
	}
	return urls, stop, nil
}

// withBuckets gives every histogram of a page the 18 buckets that it has in life.
func withBuckets(page string) []byte {
	var out strings.Builder
	for line := range strings.Lines(page) {
		out.WriteString(line)
		name, _, ok := strings.Cut(line, "_count")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for i := range 18 {
			fmt.Fprintf(&out, "%s_bucket{model=\"tiny\",dynamo_component=\"backend\",dynamo_endpoint=\"generate\",le=\"%d\"} %d\n", name, i, i)
		}
	}
	return []byte(out.String())
}
