//go:build kube && verify

package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// longLimit bounds one command of this story: standard runs take half a minute
// to a minute each.
const longLimit = 50 * time.Minute

// The whole way to a gate in the cluster, with nothing waived or relaxed: the
// target that discover names is swept and confirmed by three pods at standard
// effort, confirmed again in a second window on another deployment (the same one
// made anew, which its UID tells), approved by a person, and written.
func TestCalibrateWritten(t *testing.T) {
	ns, overlay := namespace(t), writeOverlay(t)
	engine := graph{name: "llama", preset: "kneed?gpus=1", workers: 1, gpus: 1}
	engine.up(t, ns)
	journal := filepath.Join(t.TempDir(), "c.jsonl")
	target := discovered(t, ns)
	same := append([]string{
		"--target", target, "--journal", journal, "--levels", "16,32,48,64,96,128",
		"--isl", "16", "--osl", "32", "--osl-stddev", "0", "--label", "precision=bf16",
	}, fromPods("3")...)
	long := func(what string, args ...string) answer {
		began := time.Now()
		a := shared.within(longLimit, nil, args...)
		t.Logf("%s: exit %d after %s\n%s", what, a.code, time.Since(began).Round(time.Second), a.stderr)
		return a
	}
	if a := long("plan", append([]string{"calibrate", "--overlay", overlay, "--plan"}, same...)...); a.code != 0 {
		t.Fatal(a.stderr)
	} else {
		t.Log(a.stdout)
	}
	if a := long("sweep", append([]string{"sweep"}, same...)...); a.code != 0 {
		t.Fatalf("exit %d, want a knee", a.code)
	}
	calibrate := func(more ...string) []string {
		return append([]string{"calibrate", "--overlay", overlay, "--write", "--resume", "-o", "json"}, append(more, same...)...)
	}
	if a := long("first window", calibrate()...); a.code != 9 {
		t.Fatalf("exit %d: one window without an anchor is refused", a.code)
	} else if got := unmarshal[calibrated](t, a); got.Wrote || got.Outcome != "PROVISIONAL" {
		t.Fatalf("%+v", got)
	}
	kubectl(t, "-n", ns, "delete", "dgd,service,deployment", "--all", "--wait=true")
	engine.up(t, ns)
	if again := discovered(t, ns); again != target {
		t.Fatalf("%s is %s now", target, again)
	}
	if a := long("second window", calibrate("--window", "2")...); a.code != 9 {
		t.Fatalf("exit %d: without an anchor it is refused", a.code)
	}
	if a := long("approve", "calibrate", "--overlay", overlay, "--approve", journal, "--by", "A. Tester", "--why", "the engine's law is known in closed form"); a.code != 0 {
		t.Fatalf("exit %d\n%s", a.code, a.stdout)
	}
	a := long("write", "calibrate", "--overlay", overlay, "--write", "--journal", journal, "-o", "json")
	got := unmarshal[calibrated](t, a)
	if a.code != 0 || !got.Wrote || got.Point < 1 || !(got.Floor > 0) {
		t.Fatalf("exit %d\n%s", a.code, a.stdout)
	}
	text, err := os.ReadFile(overlay)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
	for _, want := range []string{"inference-model", "simulated/model", "inference-concurrency-per-gpu", "inference-throughput-per-gpu", "inference-ttft-p99"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in the overlay", want)
		}
	}
	for _, r := range readJournal(t, journal).Runs {
		if len(r.Result.LoadPods) != 3 {
			t.Errorf("a run at %d per GPU by %d pods", r.Step.ConcurrencyPerGPU, len(r.Result.LoadPods))
		}
	}
	nothingLeft(t, ns)
}
