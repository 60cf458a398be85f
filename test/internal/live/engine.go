// Package live starts real engines for tests, reads their counters and stops
// them again, whatever became of the test.
package live

import (
	"bufio"
	"bytes"
	"context"
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
	// Workers are the processes behind a frontend, where there is one, and Pages
	// their own metrics pages.
	Workers []int
	Pages   []string
}

// Scrape reads the named metrics of the engine, each summed over its label
// sets. One that is missing fails the test: absent is not 0.
func (e Engine) Scrape(t *testing.T, names ...string) map[string]float64 {
	t.Helper()
	page := e.get(t, "/metrics")
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
			t.Fatalf("metrics line %q: %v", line, err)
		}
		sums[line[:end]] += v
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, ok := sums[name]; !ok {
			t.Fatalf("GET %s/metrics: no %s in it", e.Base, name)
		}
	}
	return sums
}

// get reads a page of the engine; any status but 200 fails the test.
func (e Engine) get(t *testing.T, path string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.Base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	var client http.Client
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", req.URL, resp.Status)
	}
	return page
}

// scripts is the folder below PERFSWEEP_SHARED that holds the named scripts. A
// missing one fails: these suites prove nothing without the real thing.
func scripts(t *testing.T, folder string, names ...string) string {
	t.Helper()
	shared := os.Getenv("PERFSWEEP_SHARED")
	if shared == "" {
		t.Fatalf("PERFSWEEP_SHARED is not set: name the folder that holds %s/%s", folder, names[0])
	}
	if !filepath.IsAbs(shared) {
		t.Fatalf("PERFSWEEP_SHARED=%s: use an absolute path, tests run in the folder of their package", shared)
	}
	dir := filepath.Join(shared, folder)
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Fatalf("PERFSWEEP_SHARED does not hold the scripts that start the engine: %v", err)
		}
	}
	return dir
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
