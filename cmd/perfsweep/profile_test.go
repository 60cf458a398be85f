package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// streaming answers every request with three tokens and counts what is in
// flight; at is told the number of each request as it arrives, and may hold it.
type streaming struct {
	*httptest.Server
	requests, inFlight, peak atomic.Int64
}

func streamer(t *testing.T, at func(n int64, r *http.Request)) *streaming {
	t.Helper()
	s := &streaming{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.requests.Add(1)
		now := s.inFlight.Add(1)
		defer s.inFlight.Add(-1)
		for peak := s.peak.Load(); now > peak && !s.peak.CompareAndSwap(peak, now); peak = s.peak.Load() {
		}
		_, _ = io.Copy(io.Discard, r.Body) // only then does a server see its client go
		at(n, r)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 3 {
			_, _ = fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}`+"\n\n") // a client that has gone is no news
			_ = http.NewResponseController(w).Flush()                                              // likewise
			select {
			case <-time.After(2 * time.Millisecond):
			case <-r.Context().Done():
			}
		}
		_, _ = fmt.Fprint(w, `data: {"choices":[],"usage":{"prompt_tokens":16,"completion_tokens":3}}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s
}

// profiled runs profile against a server and returns its exit code and output.
func profiled(ctx context.Context, url, dir string, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	args = append([]string{"profile", "--model", "m", "--url", url, "--isl", "16", "--osl", "3", "--artifact-dir", dir}, args...)
	code = run(ctx, args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func exported(t *testing.T, path string) map[string]any {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestProfileConcurrency: the server sees as many requests as were asked for,
// warm-up included, nothing else, and never more at once than the concurrency.
func TestProfileConcurrency(t *testing.T) {
	t.Parallel()
	// The first 7 after the warm-up wait for each other: how many are seen at once
	// must not depend on how fast this machine sends them.
	const warm, n = 5, 7
	full := make(chan struct{})
	s := streamer(t, func(i int64, _ *http.Request) {
		switch {
		case i == warm+n:
			close(full)
		case i > warm && i < warm+n:
			select {
			case <-full:
			case <-time.After(time.Minute): // fewer are held, and counted below
			}
		}
	})
	dir := t.TempDir()
	code, _, errs := profiled(t.Context(), s.URL, dir, "--concurrency", "7", "--request-count", "70", "--warmup-request-count", "5")
	if code != exitDone || s.requests.Load() != 75 || s.peak.Load() != 7 {
		t.Errorf("exit %d, the server saw %d requests, %d at once; %s", code, s.requests.Load(), s.peak.Load(), errs)
	}
	if got := exported(t, filepath.Join(dir, "profile_export_aiperf.json"))["total_osl"].(map[string]any)["avg"]; got != 210.0 {
		t.Errorf("%v tokens, the server sent 210", got)
	}
}

// TestProfileInterrupted: what was measured until then is written, whole, and
// marked; the exit code is that of an interruption.
func TestProfileInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	// The last three, one of each stream, are not answered: all are on their way
	// when the third of them ends the run, and none follows.
	s := streamer(t, func(n int64, r *http.Request) {
		if n == 30 {
			cancel()
		}
		if n >= 28 {
			<-r.Context().Done()
		}
	})
	dir := t.TempDir()
	code, _, errs := profiled(ctx, s.URL, dir, "--concurrency", "3", "--benchmark-duration", "3600", "--export-level", "records")
	if code != exitInterrupted || !strings.Contains(errs, "marked was_cancelled") {
		t.Errorf("exit %d, %s", code, errs)
	}
	j := exported(t, filepath.Join(dir, "profile_export_aiperf.json"))
	if j["was_cancelled"] != true || j["is_complete"] != false || !strings.Contains(j["incomplete_reason"].(string), "interrupted") {
		t.Errorf("%v %v", j["was_cancelled"], j["incomplete_reason"])
	}
	if r := exported(t, filepath.Join(dir, ".aiperf_results_ready.json")); r["was_cancelled"] != true || r["partial"] != true {
		t.Errorf("%v", r)
	}
	lines, err := os.ReadFile(filepath.Join(dir, "profile_export.jsonl"))
	if got := int64(bytes.Count(lines, []byte("\n"))); err != nil || got != s.requests.Load() || !bytes.Contains(lines, []byte(`"code":499`)) {
		t.Errorf("%d lines of %d requests, %v", got, s.requests.Load(), err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestProfileLeavesNoTemp: a run that is not made removes what it had opened.
func TestProfileLeavesNoTemp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if code, _, errs := profiled(t.Context(), "http://127.0.0.1:1", dir, "--extra-inputs", "n:2", "--export-level", "records"); code != exitInput || !strings.Contains(errs, "n") {
		t.Errorf("exit %d, %s", code, errs)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
