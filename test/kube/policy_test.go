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

// A namespace that holds pods to the standard "restricted" has no deployment of
// Dynamo's: --deploy says so, with the way out, long before its time is over, and
// leaves nothing.
func TestDeployUnderPodSecurity(t *testing.T) {
	ns := namespace(t)
	kubectl(t, "label", "namespace", ns, "pod-security.kubernetes.io/enforce=restricted", "pod-security.kubernetes.io/enforce-version=latest")
	operate(t, ns, deployed, 1)
	a := run(t, 1, sweepDeployed(ns, deployFile(t, ""))...)
	for _, want := range []string{
		"there are no pods yet: the operator makes them", `violates PodSecurity "restricted:latest"`,
		"have the namespace's label pod-security.kubernetes.io/enforce allow them, or name another namespace in --target", "removing " + ns + "/perf",
	} {
		if !strings.Contains(a.stderr, want) {
			t.Errorf("no %q in\n%s", want, a.stderr)
		}
	}
	noDeployment(t, ns)
}

// A rule of the cluster that refuses the load generators is told with its own
// words, and what was made until then goes.
func TestLoadRefusedByPolicy(t *testing.T) {
	ns := namespace(t)
	graph{name: "llama", preset: "kneed?gpus=1", workers: 1, gpus: 1}.up(t, ns)
	apply(t, ns, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: "`+ns+`"}
spec:
  failurePolicy: Fail
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "!has(object.metadata.labels) || !('perfsweep/campaign' in object.metadata.labels)", message: no load in this cluster}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: "`+ns+`"}
spec:
  policyName: "`+ns+`"
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: "`+ns+`"}}}
`)
	t.Cleanup(func() {
		_, _ = shared.try("", "delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", ns) // they are not the namespace's
	})
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"try","labels":{"perfsweep/campaign":"x"}},"spec":{"containers":[{"name":"c","image":"none"}]}}`
	await(t, commandLimit, "the policy is in force", func() bool {
		_, err := shared.try(pod, "-n", ns, "create", "--dry-run=server", "-f", "-")
		return err != nil && strings.Contains(err.Error(), "no load in this cluster")
	})
	a := run(t, 1, sweepArgs(ns, "llama", filepath.Join(t.TempDir(), "j"), fromPods("1", "--levels", "4")...)...)
	for _, want := range []string{"do not start: the pods are refused", "no load in this cluster", "have the policy allow them, or name another namespace with --load-namespace"} {
		if !strings.Contains(a.stderr, want) {
			t.Errorf("no %q in\n%s", want, a.stderr)
		}
	}
	nothingLeft(t, ns)
}
