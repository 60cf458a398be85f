//go:build kube

package kube

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// In a namespace that holds pods to the standard "restricted", gives containers
// limits and rations pods, the generators run; more of them than the quota has are
// refused with its words and the way out, and nothing of either stays.
func TestLoadUnderPolicy(t *testing.T) {
	ns, strict, dir := namespace(t), namespace(t), t.TempDir()
	graph{name: "llama", preset: "kneed?gpus=1", workers: 1, gpus: 1}.up(t, ns)
	kubectl(t, "label", "namespace", strict, "pod-security.kubernetes.io/enforce=restricted", "pod-security.kubernetes.io/enforce-version=latest")
	apply(t, strict, `
apiVersion: v1
kind: ResourceQuota
metadata: {name: few}
spec: {hard: {pods: "2", limits.cpu: "4"}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits}
spec: {limits: [{type: Container, default: {cpu: "1"}, max: {cpu: "1"}}]}
`)
	there := func(journal, pods string, more ...string) []string {
		load := fromPods(pods, "--levels", "4", "--load-namespace", strict)
		return sweepArgs(ns, "llama", filepath.Join(dir, journal), append(load, more...)...)
	}
	a := run(t, 9, there("two", "2")...)
	if !strings.Contains(a.stderr, "gives the load generators a limit of 1 CPU") {
		t.Errorf("the limit is not told:\n%s", a.stderr)
	}
	for _, r := range readJournal(t, filepath.Join(dir, "two")).Runs {
		if len(r.Result.LoadPods) != 2 {
			t.Errorf("%+v", r.Result)
		}
	}
	nothingLeft(t, strict)
	a = run(t, 1, there("three", "3", "--load-wait", "20s")...)
	for _, want := range []string{"2 of 3 load generators run after 20s", "exceeded quota: few", "ask for less with --load-pods"} {
		if !strings.Contains(a.stderr, want) {
			t.Errorf("no %q in\n%s", want, a.stderr)
		}
	}
	large := there("large", "1")
	large[slices.Index(large, "--load-cpu")+1] = "1500m"
	a = run(t, 1, large...)
	for _, want := range []string{"do not start: the pods are refused", "change --load-cpu and --load-memory"} {
		if !strings.Contains(a.stderr, want) {
			t.Errorf("no %q in\n%s", want, a.stderr)
		}
	}
	nothingLeft(t, strict)
}
