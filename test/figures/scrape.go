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

// scrapePart compares sweeps of one level that watch nothing, one page and nine,
// in turn. What reading pages takes is a small difference between two large
// numbers where the load is large, so that it is judged by what it adds to a
// single stream, against what the large load takes. That is an upper bound: a
// client that is idle must wake for each page. The direct comparison stands
// beside it.
func scrapePart(ctx context.Context, b *bench) ([]row, error) {
	pages, stop, err := servePages(9)
	if err != nil {
		return nil, err
	}
	defer stop()
	l := load{tokens: pick(b, 32, 8), ttft: 500 * time.Millisecond, itl: 100 * time.Millisecond}
	large, small := l, l
	large.streams, small.streams = pick(b, 2048, 64), 1
	arms := []int{0, 1, 9}
	costs := map[load]map[int][]float64{large: {}, small: {}}
	for i := range pick(b, 2*b.repeats(2), 1) {
		for j := range arms {
			n := arms[j]
			if i%2 == 1 {
				n = arms[len(arms)-1-j]
			}
			for _, l := range []load{small, large} {
				cost, err := b.watching(ctx, l, pages[:n])
				if err != nil {
					return nil, fmt.Errorf("a sweep with %d pages: %w", n, err)
				}
				b.say("%d streams, %d pages: %.2f ms of CPU a second", l.streams, n, cost)
				costs[l][n] = append(costs[l][n], cost)
			}
		}
	}
	var rows []row
	for _, n := range arms[1:] {
		added := (median(costs[small][n]) - median(costs[small][0])) / median(costs[large][0])
		direct := median(costs[large][n])/median(costs[large][0]) - 1
		rows = append(rows, row{name: fmt.Sprintf("CPU of reading %d page(s) a second, of %d streams'", n, large.streams), target: "at most 1 %",
			measured: fmt.Sprintf("%+.2f %%", 100*added), reference: spread(costs[small][0], "%.2f") + " ms/s"}.atMost(added, maxScrape),
			row{name: "  the two compared directly, ms/s", target: "no claim", measured: spread(costs[large][n], "%.1f"),
				reference: spread(costs[large][0], "%.1f"), ratio: fmt.Sprintf("%+.2f %%", 100*direct)})
	}
	return rows, nil
}

// watching is the CPU that the client of a sweep takes between its first request
// and its last token, in milliseconds a second.
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
	if t.LastNS <= t.FirstNS {
		return 0, errors.New("the server saw no token")
	}
	return float64(w.cpuAt(t.LastNS)-w.cpuAt(t.FirstNS)) / float64(t.LastNS-t.FirstNS) * 1000, nil
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
