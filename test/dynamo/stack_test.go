//go:build dynamo || verify

package dynamo

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// model is the name that the mockers serve.
const model = "tiny"

// stack is a running Dynamo frontend with its mocker workers.
type stack struct{ base string }

// stackOptions are what the tests vary: workers, the batch cap of each, and
// how much faster than the default timing they are.
type stackOptions struct {
	workers, cap int
	speedup      float64
}

// startTimeout covers the first start, which builds a Python environment.
const startTimeout = 8 * time.Minute

// start runs up.sh and stops what it started when the test ends.
func start(t *testing.T, o stackOptions) stack {
	t.Helper()
	scripts := scriptFolder(t)
	dir := filepath.Join(t.TempDir(), "dynamo")
	t.Cleanup(func() { stop(t, scripts, dir) })

	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(scripts, "up.sh"), "--dir", dir,
		"--workers", strconv.Itoa(o.workers), "--port", strconv.Itoa(freePort(t, o.workers)),
		"--max-num-seqs", strconv.Itoa(o.cap), "--speedup", fmt.Sprint(o.speedup), "--model", model,
		// AICR's router. Round-robin lets one of two workers queue while the
		// other has free slots, so that its knee lies past the batch cap.
		"--router-mode", "least-loaded")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, &stderr)
	}
	for line := range strings.Lines(string(out)) {
		if base, ok := strings.CutPrefix(line, "BASE_URL="); ok {
			return stack{base: strings.TrimSpace(base)}
		}
	}
	t.Fatalf("%s printed no BASE_URL:\n%s", cmd, out)
	return stack{}
}

// scriptFolder is where up.sh and down.sh are. A missing one fails: this suite
// proves nothing without the real thing.
func scriptFolder(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("PERFSWEEP_SHARED")
	if shared == "" {
		t.Fatal("PERFSWEEP_SHARED is not set: name the folder that holds dynamo/up.sh")
	}
	if !filepath.IsAbs(shared) {
		t.Fatalf("PERFSWEEP_SHARED=%s: use an absolute path, tests run in the folder of their package", shared)
	}
	dir := filepath.Join(shared, "dynamo")
	for _, name := range []string{"up.sh", "down.sh"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Fatalf("PERFSWEEP_SHARED does not hold the Dynamo scripts: %v", err)
		}
	}
	return dir
}

// stop runs down.sh, whatever became of the start: processes are in sessions
// of their own and would outlive the test. The logs' ends explain a failure.
func stop(t *testing.T, scripts, dir string) {
	if t.Failed() {
		logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
		for _, log := range logs {
			text, _ := os.ReadFile(log)
			t.Logf("end of %s:\n%s", filepath.Base(log), text[max(0, len(text)-2000):])
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "pids")); err != nil {
		return // nothing was started, or up.sh has stopped it itself
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(scripts, "down.sh"), dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", cmd, err, out)
	}
}

// freePort finds P such that P and the workers' ports P+101… are free. It stays
// below the range from which the kernel takes ports for outgoing connections.
func freePort(t *testing.T, workers int) int {
	t.Helper()
	const first, step, tries = 20000, 300, 30
	for i := range tries {
		p := first + (os.Getpid()+i)%tries*step
		if portsFree(p, workers) {
			return p
		}
	}
	t.Fatalf("no free ports for a frontend and %d workers from %d on", workers, first)
	return 0
}

func portsFree(p, workers int) bool {
	ports := []int{p}
	for i := range workers {
		ports = append(ports, p+101+i)
	}
	for _, port := range ports {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil || l.Close() != nil {
			return false
		}
	}
	return true
}

// The frontend's own counters.
const (
	outputTokens = "dynamo_frontend_output_tokens_total"
	ttftSum      = "dynamo_frontend_time_to_first_token_seconds_sum"
	ttftCount    = "dynamo_frontend_time_to_first_token_seconds_count"
)

// scrape reads the frontend's metrics and sums each name over its label sets.
func (s stack) scrape(t *testing.T) map[string]float64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", req.URL, resp.Status)
	}
	sums := map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
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
	for _, name := range []string{outputTokens, ttftSum, ttftCount} {
		if _, ok := sums[name]; !ok {
			t.Fatalf("GET %s: no %s in it", req.URL, name)
		}
	}
	return sums
}
