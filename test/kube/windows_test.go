//go:build kube

package kube

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Each window of --deployments is measured on a deployment of its own, which the
// journal tells from the other by its UID, and nothing of either stays. A further
// window that has to wait starts no pods that would wait with it.
func TestDeployments(t *testing.T) {
	ns, overlay := namespace(t), writeOverlay(t)
	g := graph{name: "perf", preset: "batch-cap?chunk=32&gpus=1", workers: 1, gpus: 1}
	operate(t, ns, g, 2)
	calibrate := append([]string{
		"calibrate", "--overlay", overlay, "--journal", filepath.Join(t.TempDir(), "c.jsonl"), "--target", "k8s:" + ns + "/perf", "--concurrency-per-gpu", "16",
	}, append(small, fromPods("2")...)...)
	journal := calibrate[4]
	// On a busy machine every second run is INVALID (V8) and made again.
	a := shared.within(3*commandLimit, nil, append(slices.Clone(calibrate), "--gpus", "1", "--model", "simulated/model", "--deploy", "--deploy-file", deployFile(t, ""), "--deployments", "2")...)
	if a.code != 9 { // quick runs without an anchor are no ground for a gate
		t.Fatalf("exit %d\n%s\n%s", a.code, a.stdout, a.stderr)
	}
	seen := map[int]string{}
	for _, r := range readJournal(t, journal).Runs {
		if was, ok := seen[r.Window]; ok && was != r.Deployment || len(r.Result.LoadPods) != 2 {
			t.Errorf("window %d on %q and %q, %d load pods", r.Window, was, r.Deployment, len(r.Result.LoadPods))
		}
		seen[r.Window] = r.Deployment
	}
	if len(seen) != 2 || seen[1] == seen[2] || strings.Count(a.stderr, "removing "+ns+"/perf") != 2 {
		t.Fatalf("windows and their deployments: %v\n%s", seen, a.stderr)
	}
	noDeployment(t, ns)

	g.up(t, ns)
	p := start(t, append(calibrate, "--resume", "--window", "3", "--window-gap", "6h")...)
	p.says(t, "window 3 begins in ")
	if got := ours(t, ns); got != "" {
		t.Errorf("they wait with it: %s", got)
	}
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := p.end(t); code != 130 {
		t.Errorf("exit %d\n%s", code, p.text())
	}
}
