//go:build kube

package kube

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ungated is an overlay without a gate yet.
const ungated = `kind: RecipeMetadata
apiVersion: aicr.run/v1beta1
metadata:
  name: bed
spec:
  criteria:
    accelerator: h100
    service: eks
    intent: inference
    platform: dynamo
  validation:
    performance:
      checks: [inference-perf]
`

// writeOverlay makes a copy to be calibrated.
func writeOverlay(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "bed.yaml")
	if err := os.WriteFile(path, []byte(ungated), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// discovered is the target that discover names for the one deployment of a namespace.
func discovered(t *testing.T, ns string) (target string) {
	t.Helper()
	got := unmarshal[found](t, run(t, 0, "discover", "-n", ns, "-o", "json")).Deployments
	if len(got) != 1 || !got[0].Ready {
		t.Fatalf("discover: %+v", got)
	}
	return got[0].Target
}

// calibrated is what these tests read of calibrate's answer.
type calibrated struct {
	Outcome string
	Reasons []string
	Wrote   bool
	Knee    float64
	Point   int     `json:"concurrency_per_gpu"`
	Floor   float64 `json:"floor"`
	Gates   []struct {
		ID, State, Observed string
	}
}

// From the discovered target to a refused calibration, with the load of three
// pods: the curve of the sweep is kept, its point is confirmed, and nothing is
// written, because quick runs of one window without an anchor are no ground for a
// gate. TestCalibrateWritten is the same with all that a gate needs.
func TestCalibrateRefused(t *testing.T) {
	ns, overlay := namespace(t), writeOverlay(t)
	graph{name: "llama", preset: "kneed?gpus=1", workers: 1, gpus: 1}.up(t, ns)
	journal := filepath.Join(t.TempDir(), "c.jsonl")
	same := append([]string{"--target", discovered(t, ns), "--journal", journal, "--levels", "16,32,48,64,96,128"}, append(small, fromPods("3")...)...)
	a := shared.perfsweep(nil, append([]string{"sweep"}, same...)...)
	swept := readJournal(t, journal)
	knee := a.code == 0 // a machine that is too busy may hide it
	if !knee && a.code != 9 || len(swept.Runs) < 6 {
		t.Fatalf("exit %d after %d runs\n%s", a.code, len(swept.Runs), a.stderr)
	}
	a = shared.perfsweep(nil, append([]string{"calibrate", "--overlay", overlay, "--write", "--resume", "-o", "json"}, same...)...)
	if a.code != 9 {
		t.Fatalf("exit %d, want 9\n%s\n%s", a.code, a.stdout, a.stderr)
	}
	got := unmarshal[calibrated](t, a)
	unmet := map[string]string{}
	for _, g := range got.Gates {
		if g.State == "unmet" {
			unmet[g.ID] = g.Observed
		}
	}
	if got.Wrote || !strings.Contains(unmet["C6"], "one window") || !strings.Contains(unmet["C7"], "no anchor") {
		t.Errorf("wrote %v, %s, unmet %v\n%s", got.Wrote, got.Outcome, unmet, a.stderr)
	}
	if text, err := os.ReadFile(overlay); err != nil || string(text) != ungated {
		t.Errorf("the overlay has changed (%v):\n%s", err, text)
	}
	after := readJournal(t, journal)
	confirming := slices.ContainsFunc(after.Runs, func(r recordedRun) bool { return r.Step.Kind == "gate" })
	if after.ID != swept.ID || knee && !confirming {
		t.Errorf("campaign %s with %d runs after %s with %d", after.ID, len(after.Runs), swept.ID, len(swept.Runs))
	}
	for _, r := range after.Runs {
		if len(r.Result.LoadPods) != 3 {
			t.Errorf("a run at %d per GPU by %d pods", r.Step.ConcurrencyPerGPU, len(r.Result.LoadPods))
		}
	}
	t.Logf("%s: knee %.0f, point %d; unmet %v; %v", got.Outcome, got.Knee, got.Point, unmet, got.Reasons)
	nothingLeft(t, ns)
}
