//go:build unix

package main

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/perfsweep/perfsweep/sweep"
)

// TestKilledWindow: a second window on another deployment that is killed -9 in
// its second attempt goes on with --resume, on its deployment, and nothing is
// measured twice. The first window stays as it was.
func TestKilledWindow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	windowJournals(t, dir)
	path := filepath.Join(dir, "window1.jsonl")
	before, err := sweep.ReadJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "o.yaml")
	copyFile(t, "../../recipes/testdata/aicr-h100-like.yaml", overlay)
	args := []string{
		"calibrate", "--target", "sim:" + windowEngine, "--effort", "quick", "--osl", "8", "--concurrency-per-gpu", "16",
		"--overlay", overlay, "--node-gpus", "8", "--allow-simulated", "--model", before.Fingerprint.Model, "--journal", path,
	}
	c := start(t, nil, append(args[:len(args):len(args)], "--window", "2", "--deployment", "b")...)
	c.hear(t, c.talked, "[17]")
	_ = c.cmd.Process.Kill()
	c.wait()
	if code, _, said := perfsweep(t, append(args, "--resume")...); code == exitInput || code == exitWorld {
		t.Fatalf("resumed: %d: %s", code, said)
	}
	after, err := sweep.ReadJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	first := len(before.Runs)
	// Of the killed run and those after it as many follow as a busy machine leaves
	// INVALID ones; the planner says below which.
	if len(after.Runs) < 17 || !reflect.DeepEqual(after.Runs[:first], before.Runs) || after.Fingerprint.Deployment != "a" {
		t.Fatalf("%d runs after %d, deployment %q", len(after.Runs), first, after.Fingerprint.Deployment)
	}
	plan := after.Plan
	plan.Window = 2
	for i, r := range after.Runs[first:] {
		d := sweep.NextStep(plan, after.Runs[:first+i])
		if r.Window != 2 || r.Deployment != "b" || d.Done || !reflect.DeepEqual(d.Step, r.Step) {
			t.Errorf("run %d is of window %d on %q, of step %+v; the planner wanted %+v", r.Seq, r.Window, r.Deployment, r.Step, d.Step)
		}
	}
	if d := sweep.NextStep(plan, after.Runs); !d.Done {
		t.Errorf("the window is not at its end: %+v is missing", d.Step)
	}
}
