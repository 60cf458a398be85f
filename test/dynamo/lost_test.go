//go:build dynamo || verify

package dynamo

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/test/internal/live"
)

// Four workers at a load that three carry: below the batch cap of each, and
// with a floor that anything meets. No throughput can tell that one is lost.
const (
	lostWorkers = 4
	lostLimit   = 6 * time.Minute
	lostOverlay = `kind: RecipeMetadata
apiVersion: aicr.run/v1beta1
metadata:
  name: lost
spec:
  validation:
    performance:
      checks: [inference-perf]
      constraints:
        - name: inference-model
          value: ` + live.DynamoModel + `
        - name: inference-concurrency-per-gpu
          value: "6"
        - name: inference-throughput-per-gpu
          value: ">= 1"
        - name: inference-ttft-p99
          value: "<= 60000"
`
)

// lostDeployment starts four workers and measures a baseline of them, which is
// what later tells that there were four.
func lostDeployment(t *testing.T, bin string) (s live.Engine, dir string) {
	t.Helper()
	s, dir = live.Dynamo{Workers: lostWorkers, Cap: 16, Speedup: 1}.Start(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "o.yaml"), []byte(lostOverlay), 0o644); err != nil {
		t.Fatal(err)
	}
	a := execute(t, lostLimit, dir, bin, append([]string{"sweep", "--target", s.Base, "--effort", "quick", "--levels", "2,4,6,8", "--repeats", "1", "--journal", "base.jsonl"}, lostWorkload()...)...)
	if a.exit != 0 && a.exit != exitInconclusive { // four levels of a rising curve have no knee
		t.Fatalf("the baseline: exit status %d; stderr:\n%s", a.exit, a.stderr)
	}
	return s, dir
}

func lostWorkload() []string {
	return []string{"--gpus", fmt.Sprint(lostWorkers), "--workload", "synthetic", "--pool", "100", "--reuse-prompts", "--ignore-eos=false", "--osl", "32", "--osl-stddev", "10"}
}

// checkAnswer is what the test reads of check -o json.
type checkAnswer struct {
	Verdict string   `json:"verdict"`
	Reasons []string `json:"reasons"`
	Runs    []struct {
		Kind       string `json:"kind"`
		Violations []struct {
			Gate     string `json:"gate"`
			Observed string `json:"observed"`
		} `json:"violations"`
	} `json:"runs"`
}

// check makes the check that AICR's protocol asks for.
func check(t *testing.T, s live.Engine, dir, bin string) (answer, checkAnswer) {
	t.Helper()
	a := execute(t, lostLimit, dir, bin, append([]string{"check", "--target", s.Base, "--overlay", "o.yaml", "--baseline", "base.jsonl", "-o", "json"}, lostWorkload()...)...)
	var c checkAnswer
	if err := json.Unmarshal(a.stdout, &c); err != nil {
		t.Fatalf("exit status %d, stdout is not one JSON document: %v\n%s\nstderr:\n%s", a.exit, err, a.stdout, a.stderr)
	}
	t.Logf("%s after %s: %s", c.Verdict, a.took.Round(time.Second), strings.Join(c.Reasons, "\n  "))
	for i, r := range c.Runs {
		t.Logf("run %d, %s: %+v", i+1, r.Kind, r.Violations)
	}
	return a, c
}

// lostWorker kills one of the workers, at a time after the check has begun or,
// where that is 0, long enough before it for the frontend to have noticed.
func lostWorker(t *testing.T, bin string, after time.Duration) {
	s, dir := lostDeployment(t, bin)
	if after > 0 {
		timer := time.AfterFunc(after, func() { s.KillWorker(t, lostWorkers-1) })
		defer timer.Stop()
	} else {
		s.KillWorker(t, lostWorkers-1)
		s.AwaitWorkers(t, lostWorkers-1)
	}
	a, c := check(t, s, dir, bin)
	if a.exit != exitInconclusive || c.Verdict != "inconclusive" {
		t.Errorf("exit status %d, verdict %s: the lost worker was not caught", a.exit, c.Verdict)
	}
	const says = "3 of 4 workers ready before the run, 3 after; expected 4, the same before and after (as the baseline)"
	if len(c.Reasons) == 0 || !strings.HasPrefix(c.Reasons[0], "V1, in ") || !strings.Contains(c.Reasons[0], says) {
		t.Errorf("the first reason does not say that 3 of 4 workers are ready: %q\nstderr:\n%s", c.Reasons, a.stderr)
	}
}
