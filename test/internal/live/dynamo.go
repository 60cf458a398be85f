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
}

// startTimeout covers the first start, which builds a Python environment.
const startTimeout = 8 * time.Minute

// Start runs up.sh and stops what it started when the test ends.
func (d Dynamo) Start(t *testing.T) Engine {
	t.Helper()
	folder := scripts(t, "dynamo", "up.sh", "down.sh")
	dir := filepath.Join(t.TempDir(), "dynamo")
	t.Cleanup(func() { stopDynamo(t, folder, dir) })

	var workerPorts []int
	for i := range d.Workers {
		workerPorts = append(workerPorts, 101+i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(folder, "up.sh"), "--dir", dir,
		"--workers", strconv.Itoa(d.Workers), "--port", strconv.Itoa(freePort(t, workerPorts...)),
		"--max-num-seqs", strconv.Itoa(d.Cap), "--speedup", fmt.Sprint(d.Speedup), "--model", DynamoModel,
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
			return Engine{Base: strings.TrimSpace(base), Model: DynamoModel}
		}
	}
	t.Fatalf("%s printed no BASE_URL:\n%s", cmd, out)
	return Engine{}
}

// stopDynamo runs down.sh, whatever became of the start: processes are in
// sessions of their own and would outlive the test. The logs' ends explain a
// failure.
func stopDynamo(t *testing.T, folder, dir string) {
	if t.Failed() {
		logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
		for _, log := range logs {
			logEnd(t, log)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "pids")); err != nil {
		return // nothing was started, or up.sh has stopped it itself
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(folder, "down.sh"), dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", cmd, err, out)
	}
}
