//go:build kube

package kube

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A frontend that goes away in the middle of a campaign is waited for, and the run
// that met nobody is made again; the journal tells of it.
func TestFrontendComesBack(t *testing.T) {
	ns, journal := namespace(t), filepath.Join(t.TempDir(), "s.jsonl")
	graph{name: "llama", preset: "kneed?gpus=1", workers: 1, gpus: 1}.up(t, ns)
	p := start(t, sweepArgs(ns, "llama", journal, fromPods("2", "--levels", "4,8")...)...)
	p.says(t, "[1] ")
	kubectl(t, "-n", ns, "scale", "deployment/llama-frontend", "--replicas=0")
	p.says(t, "for the target to serve again")
	kubectl(t, "-n", ns, "scale", "deployment/llama-frontend", "--replicas=1")
	p.says(t, "the target served again after")
	if code := p.end(t); code != 9 {
		t.Errorf("exit %d\n%s", code, p.text())
	}
	told := 0
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var run struct {
			Result struct {
				Warnings []string       `json:"warnings"`
				All      map[string]int `json:"all"`
			} `json:"result"`
		}
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			t.Fatal(err)
		}
		if len(run.Result.All) > 0 && run.Result.All["ok"] == 0 {
			t.Errorf("a run that met nobody is recorded: %v", run.Result.All)
		}
		if strings.Contains(strings.Join(run.Result.Warnings, "\n"), "the target served again after") {
			told++
		}
	}
	if told == 0 {
		t.Errorf("no run tells of the one before it\n%s\n%s", text, p.text())
	}
	nothingLeft(t, ns)
}

// An endpoint whose pods are ready and that does not serve is told with the last
// lines of its frontend.
func TestNeverServes(t *testing.T) {
	ns, journal := namespace(t), filepath.Join(t.TempDir(), "s.jsonl")
	g := graph{name: "llama", preset: "kneed?gpus=1", workers: 1, gpus: 1}
	g.up(t, ns)
	kubectl(t, "-n", ns, "patch", "service/llama-frontend", "--type=merge", "-p", `{"spec":{"ports":[{"name":"http","port":8000,"targetPort":8001}]}}`)
	a := run(t, 1, sweepArgs(ns, "llama", journal, fromPods("1", "--levels", "4")...)...)
	for _, want := range []string{"it has not served within", "says nothing of its performance", "its frontend is pod llama-frontend-", "it wrote:\n    "} {
		if !strings.Contains(a.stderr, want) {
			t.Errorf("no %q in\n%s", want, a.stderr)
		}
	}
	nothingLeft(t, ns)
}
