//go:build kube

package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The Job of deploy/ measures from a pod with the rights of rbac.yaml alone: as no
// root, on a root that is read only. Two levels make no knee, so it ends with 9.
func TestManifestsInside(t *testing.T) {
	ns := namespace(t)
	graph{name: "llama", preset: "kneed?gpus=1", workers: 1, gpus: 1}.up(t, ns)
	kubectl(t, "-n", ns, "create", "configmap", "perfsweep-overlay", "--from-literal=overlay.yaml=")
	kubectl(t, "-n", ns, "create", "-f", filepath.Join("..", "..", "deploy", "rbac.yaml"))
	raw, err := os.ReadFile(filepath.Join("..", "..", "deploy", "job-calibrate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	job, short := string(raw), ""
	for _, arg := range append(small, "--load-pods", "1", "--load-cpu", "20m", "--load-memory", "32Mi", "--levels", "4,8") {
		short += "            - \"" + arg + "\"\n"
	}
	for _, edit := range [][2]string{
		{"            - calibrate\n", "            - sweep\n"},
		{"            - --overlay=/overlay/overlay.yaml\n", short},
		{"perfsweep:dev", shared.image}, {"k8s:default/my-dgd", "k8s:" + ns + "/llama"},
		{"--gpus=8", "--gpus=1"}, {`cpu: "1"`, "cpu: 20m"}, {"memory: 512Mi", "memory: 32Mi"},
	} {
		if !strings.Contains(job, edit[0]) {
			t.Fatalf("the manifest has no %q", edit[0])
		}
		job = strings.ReplaceAll(job, edit[0], edit[1])
	}
	apply(t, ns, job)
	pod := []string{"-n", ns, "get", "pods", "-l", "app.kubernetes.io/component=calibrate", "-o"}
	const ended = "{.items[*].status.containerStatuses[0].state.terminated.exitCode}"
	await(t, commandLimit, "the end of the Job", func() bool { return kubectl(t, append(pod, "jsonpath="+ended)...) != "" })
	code := kubectl(t, append(pod, "jsonpath="+ended)...)
	log := kubectl(t, "-n", ns, "logs", "job/perfsweep-calibrate")
	// Nodes are of the whole cluster: that is told, and nothing else is missing.
	refused := strings.Count(log, "not allowed") - strings.Count(log, "not allowed to get nodes")
	if code != "9" || !strings.Contains(log, "k8s:"+ns+"/llama") || !strings.Contains(log, "[2] ") || refused != 0 {
		t.Errorf("exit %s:\n%s", code, log)
	}
	nothingLeft(t, ns)
}
