//go:build verify && unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
	"github.com/perfsweep/perfsweep/sweep/observe/bothsides"
)

// TestVerifyStopped: a sweep that is stopped for longer than any stall of a level
// may last, as by Ctrl-Z and fg, keeps the run as INVALID by V8 alone, makes it
// again, and blames itself and not the server.
func TestVerifyStopped(t *testing.T) {
	url, _ := startSim(t, "kneed?chunk=32&speed=8")
	path := filepath.Join(t.TempDir(), "j.jsonl")
	c := start(t, nil, "sweep", "--target", url, "--gpus", "1", "--effort", "quick", "--osl", "8",
		"--levels", "8,16,32,64", "--repeats", "1", "--journal", path)
	underLoad(t, c, url)
	<-time.After(time.Second) // into the measured part: elsewhere nobody would take it for a stall
	length := pauseFor(t, c, 2500*time.Millisecond)
	c.wait() // noise of a busy machine may end it with 9 as well
	curve, err := sweep.ReadJournal(path)
	if err != nil || len(curve.Runs) < 2 {
		t.Fatalf("%d runs, %v: %s", len(curve.Runs), err, c.talked)
	}
	first, second := curve.Runs[0], curve.Runs[1]
	longest := 0.0
	for _, s := range first.Result.Suspended {
		longest = max(longest, s.LengthS)
	}
	if longest < length.Seconds() || len(first.Violations) != 1 || first.Violations[0].Gate != "V8" || !strings.Contains(first.Violations[0].Observed, "was not running") {
		t.Errorf("stopped for %v, told of %+v; %+v", length, first.Result.Suspended, first.Violations)
	}
	if second.Step.ConcurrencyPerGPU != first.Step.ConcurrencyPerGPU || !strings.Contains(second.Step.Why, "INVALID (V8)") {
		t.Errorf("it was not made again: %+v", second.Step)
	}
	level := observe.Level{ConcurrencyPerGPU: 8, GPUs: 1, Client: bothsides.Client(first.Result, first.Violations)}
	if first.Servers == nil || json.Unmarshal(first.Servers.Said, &level.Span) != nil {
		t.Fatalf("what the server said was not kept: %+v", first.Servers)
	}
	for _, e := range level.Span.Events {
		if from := first.Result.Suspended[0].StartS - first.Result.SeriesStartS; e.StartS <= from+length.Seconds() && e.StartS+e.LengthS >= from {
			t.Errorf("told of the server: %s", e)
		}
	}
	if f := observe.Attribute([]observe.Level{level})[0]; f.Bottleneck == observe.Stalled || !strings.Contains(strings.Join(f.Evidence, "\n"), "was not running") {
		t.Errorf("%+v", f)
	}
}

// underLoad waits until the server runs several requests, which no preflight does.
func underLoad(t *testing.T, c *child, url string) {
	t.Helper()
	for {
		select {
		case <-c.done:
			t.Fatalf("it ended before there was load: %s", c.talked)
		case <-time.After(20 * time.Millisecond):
		}
		resp, err := http.Get(url + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // it was read
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(line, "vllm:num_requests_running") && !strings.HasSuffix(line, " 0\n") && !strings.HasSuffix(line, " 1\n") {
				return
			}
		}
	}
}

// pauseFor stops a process, and returns for how long it certainly did not run.
func pauseFor(t *testing.T, c *child, d time.Duration) time.Duration {
	t.Helper()
	pid := c.cmd.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var state syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &state, syscall.WUNTRACED, nil); err != nil || !state.Stopped() {
		t.Fatalf("it is not stopped: %v, %v", state, err)
	}
	from := time.Now()
	<-time.After(d)
	d = time.Since(from)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	return d
}
