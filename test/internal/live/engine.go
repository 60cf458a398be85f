// Package live starts real engines for tests, reads their counters and stops
// them again, whatever became of the test.
package live

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Engine is a running server.
type Engine struct {
	Base  string // URL without /v1
	Model string
	// Frontend and Workers are the processes of a frontend, where there is one,
	// and of what is behind it, and Pages the workers' own metrics pages.
	Frontend int
	Workers  []int
	Pages    []string
}

// Scrape reads the named metrics of the engine, each summed over its label
// sets. One that is missing fails the test: absent is not 0.
func (e Engine) Scrape(t *testing.T, names ...string) map[string]float64 {
	t.Helper()
	sums, err := e.Sums(t.Context(), names...)
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// Sums is Scrape without a test.
func (e Engine) Sums(ctx context.Context, names ...string) (map[string]float64, error) {
	page, err := e.page(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	sums := map[string]float64{}
	lines := bufio.NewScanner(bytes.NewReader(page))
	for lines.Scan() {
		line := lines.Text()
		end, value := strings.IndexAny(line, "{ "), strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || end < 0 {
			continue
		}
		v, err := strconv.ParseFloat(line[value+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("metrics line %q: %w", line, err)
		}
		sums[line[:end]] += v
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s/metrics: %w", e.Base, err)
	}
	for _, name := range names {
		if _, ok := sums[name]; !ok {
			return nil, fmt.Errorf("GET %s/metrics: no %s in it", e.Base, name)
		}
	}
	return sums, nil
}

// get reads a page of the engine; any status but 200 fails the test.
func (e Engine) get(t *testing.T, path string) []byte {
	t.Helper()
	page, err := e.page(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func (e Engine) page(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.Base+path, nil)
	if err != nil {
		return nil, fmt.Errorf("GET %s%s: %w", e.Base, path, err)
	}
	var client http.Client
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", req.URL, err)
	}
	defer func() { _ = resp.Body.Close() }()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", req.URL, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", req.URL, resp.Status)
	}
	return page, nil
}

// scripts is scriptsIn for a test. What is missing fails it: these suites prove
// nothing without the real thing.
func scripts(t *testing.T, folder string, names ...string) string {
	t.Helper()
	dir, err := scriptsIn(folder, names...)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// scriptsIn is the folder below PERFSWEEP_SHARED that holds the named scripts.
func scriptsIn(folder string, names ...string) (string, error) {
	shared := os.Getenv("PERFSWEEP_SHARED")
	if shared == "" {
		return "", fmt.Errorf("PERFSWEEP_SHARED is not set: name the folder that holds %s/%s", folder, names[0])
	}
	if !filepath.IsAbs(shared) {
		return "", fmt.Errorf("PERFSWEEP_SHARED=%s: use an absolute path, tests run in the folder of their package", shared)
	}
	dir := filepath.Join(shared, folder)
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("PERFSWEEP_SHARED does not hold the scripts that start the engine: %w", err)
		}
	}
	return dir, nil
}

// logEnd shows the end of a log; an unreadable one is said to be so.
func logEnd(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Logf("no log: %v", err)
		return
	}
	t.Logf("end of %s:\n%s", filepath.Base(path), text[max(0, len(text)-2000):])
}
