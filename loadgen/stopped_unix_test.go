//go:build unix

package loadgen

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// stoppedVariable makes the test a generator of its own process: where it runs,
// and where its result goes.
const stoppedVariable = "LOADGEN_STOPPED"

// TestStoppedProcess: a generator that is stopped in the middle of a run, as by
// Ctrl-Z, says so itself. To it the server seems to stand still.
func TestStoppedProcess(t *testing.T) {
	if at := os.Getenv(stoppedVariable); at != "" {
		generate(t, at, os.Getenv(stoppedVariable+"_FILE"))
		return
	}
	begun, over := make(chan struct{}), make(chan struct{})
	e := &engine{ttft: 10 * time.Millisecond, itl: 5 * time.Millisecond}
	e.special = func(n int64, _ http.ResponseWriter, r *http.Request) bool {
		if n == 12 { // its answer keeps the run from ending before
			close(begun)
			select {
			case <-over:
			case <-r.Context().Done():
			}
		}
		return false
	}
	s := httptest.NewServer(e)
	defer s.Close()
	file := filepath.Join(t.TempDir(), "result.json")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStoppedProcess$")
	cmd.Env = append(os.Environ(), stoppedVariable+"="+s.URL, stoppedVariable+"_FILE="+file)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-begun:
	case <-time.After(time.Minute):
		t.Fatal("the generator made no twelve requests within a minute")
	}
	length := stop(t, cmd.Process.Pid, 700*time.Millisecond)
	close(over)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	longest := 0.0
	for _, s := range r.Suspended {
		longest = max(longest, s.LengthS)
	}
	if longest < length.Seconds() {
		t.Errorf("stopped for %v, told of %+v", length, r.Suspended)
	}
}

// stop stops a process of ours for some time, and returns for how long it
// certainly did not run.
func stop(t *testing.T, pid int, d time.Duration) time.Duration {
	t.Helper()
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

// generate is the child: one run, whose result goes into a file.
func generate(t *testing.T, base, file string) {
	r, err := Run(t.Context(), Config{
		BaseURL: base, Model: "m", Concurrency: 4, Kind: Steady, Workload: workload(t, tokens(20, 0)),
		Limits: Limits{MinRequests: 12, MinDuration: 300 * time.Millisecond, MaxDuration: 20 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
