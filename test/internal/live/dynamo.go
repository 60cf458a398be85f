package live

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The Dynamo frontend's own counters.
const (
	DynamoOutputTokens = "dynamo_frontend_output_tokens_total"
	DynamoInputTokens  = "dynamo_frontend_input_sequence_tokens_sum"
	DynamoCachedTokens = "dynamo_frontend_cached_tokens_sum"
	DynamoTTFTSum      = "dynamo_frontend_time_to_first_token_seconds_sum"
	DynamoTTFTCount    = "dynamo_frontend_time_to_first_token_seconds_count"
)

// DynamoModel is the name that the simulated workers serve.
const DynamoModel = "tiny"

// Dynamo is what tests vary of a frontend with simulated workers: their number,
// the batch cap of each, and how much faster than the default timing they are.
type Dynamo struct {
	Workers, Cap int
	Speedup      float64
	Args         []string // more for up.sh
	Env          []string // for all processes
}

// startTimeout covers the first start, which builds a Python environment.
const startTimeout = 8 * time.Minute

// Start runs up.sh and stops what it started when the test ends.
func (d Dynamo) Start(t *testing.T) Engine {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dynamo")
	t.Cleanup(func() { stopDynamo(t, dir) })
	e, err := d.Up(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Up runs up.sh with a folder for logs, which DynamoDown needs, whatever became
// of the start.
func (d Dynamo) Up(ctx context.Context, dir string) (Engine, error) {
	folder, err := scriptsIn("dynamo", "up.sh", "down.sh")
	if err != nil {
		return Engine{}, err
	}
	var workerPorts []int
	for i := range d.Workers {
		workerPorts = append(workerPorts, 101+i)
	}
	port, err := freePort(workerPorts...)
	if err != nil {
		return Engine{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(folder, "up.sh"), "--dir", dir,
		"--workers", strconv.Itoa(d.Workers), "--port", strconv.Itoa(port),
		"--max-num-seqs", strconv.Itoa(d.Cap), "--speedup", fmt.Sprint(d.Speedup), "--model", DynamoModel,
		// AICR's router. Round-robin lets one of two workers queue while the
		// other has free slots, so that its knee lies past the batch cap.
		"--router-mode", "least-loaded")
	cmd.Args = append(cmd.Args, d.Args...)
	cmd.Env = append(os.Environ(), d.Env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err != nil {
		return Engine{}, fmt.Errorf("%s: %w\n%s", cmd, err, &stderr)
	}
	e, err := dynamoEngine(string(out))
	if err == nil && (e.Base == "" || len(e.Workers) != d.Workers) {
		err = fmt.Errorf("no BASE_URL, or %d of %d WORKER_PIDS", len(e.Workers), d.Workers)
	}
	if err != nil {
		return Engine{}, fmt.Errorf("%s printed %w:\n%s", cmd, err, out)
	}
	return e, nil
}

// dynamoEngine reads what up.sh prints.
func dynamoEngine(out string) (Engine, error) {
	e := Engine{Model: DynamoModel}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "BASE_URL":
			e.Base = value
		case "WORKER_METRICS":
			e.Pages = strings.Fields(strings.Trim(value, `"`))
		case "FRONTEND_PID", "WORKER_PIDS":
			for pid := range strings.FieldsSeq(strings.Trim(value, `"`)) {
				n, err := strconv.Atoi(pid)
				if err != nil {
					return e, fmt.Errorf("the process %q: %w", pid, err)
				}
				if key == "FRONTEND_PID" {
					e.Frontend = n
				} else {
					e.Workers = append(e.Workers, n)
				}
			}
		}
	}
	return e, nil
}

// KillWorker ends a worker as a crash does: it drains nothing and says nothing.
// A timer may call it.
func (e Engine) KillWorker(t *testing.T, i int) {
	t.Helper()
	if err := syscall.Kill(e.Workers[i], syscall.SIGKILL); err != nil {
		t.Errorf("killing worker %d, process %d: %v", i, e.Workers[i], err)
	}
}

// AwaitWorkers waits until the frontend lists n workers. It does so 14 s after
// one was killed, on a busy machine later.
func (e Engine) AwaitWorkers(t *testing.T, n int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		listed := e.listed(t)
		if listed == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s lists %d workers, want %d", e.Base, listed, n)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// listed counts what the frontend says of its workers, apart from the code
// that is tested.
func (e Engine) listed(t *testing.T) int {
	t.Helper()
	return bytes.Count(e.get(t, "/health"), []byte(`"endpoint":"generate"`))
}

// stopDynamo stops what a test started. The logs' ends explain a failure.
func stopDynamo(t *testing.T, dir string) {
	if t.Failed() {
		logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
		for _, log := range logs {
			logEnd(t, log)
		}
	}
	if err := DynamoDown(dir); err != nil {
		t.Error(err)
	}
}

// DynamoDown runs down.sh, whatever became of the start: processes are in
// sessions of their own and would outlive whoever started them.
func DynamoDown(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "pids")); err != nil {
		return nil // nothing was started, or up.sh has stopped it itself
	}
	folder, err := scriptsIn("dynamo", "up.sh", "down.sh")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(folder, "down.sh"), dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}
