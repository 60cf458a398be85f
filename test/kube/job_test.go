//go:build kube

package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// manifest is a file of deploy/ in which some lines are replaced, each of which
// it must have: who follows the comments in it edits the same ones.
func manifest(t *testing.T, file string, replace ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "deploy", file))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("%s has no %q", file, replace[i])
		}
		text = strings.ReplaceAll(text, replace[i], replace[i+1])
	}
	return text
}

// easy is an overlay whose gate every engine holds.
const easy = `kind: RecipeMetadata
apiVersion: aicr.run/v1beta1
metadata:
  name: easy
spec:
  validation:
    performance:
      checks: [inference-perf]
      constraints:
        - name: inference-model
          value: simulated/model
        - name: inference-concurrency-per-gpu
          value: "4"
        - name: inference-throughput-per-gpu
          value: ">= 1"
        - name: inference-ttft-p99
          value: "<= 60000"
`

// short makes the check a matter of seconds; a real target is then inconclusive.
var short = []string{"--max-wall=2m", "--effort=quick", "--isl=16", "--osl=16", "--osl-stddev=0"}

// The Job of deploy/ checks an overlay with the rights of deploy/rbac.yaml and no
// more. Its pod ends as AICR reads it, with the verdict in its log, and leaves
// nothing.
func TestCheckJob(t *testing.T) {
	for name, tt := range map[string]struct {
		target              func(ns string) []string
		verdict, code, ends string
		said                []string
	}{
		"a deployment": {func(ns string) []string {
			graph{name: "my-dgd", preset: "kneed?gpus=1&chunk=4", workers: 1, gpus: 1}.up(t, ns)
			return []string{"--target=k8s:" + ns + "/my-dgd", "--load-image=" + shared.image, "--gpus=1", "--gpu-product=" + product, "--load-pods=2", "--load-cpu=20m", "--load-memory=32Mi"}
		}, "inconclusive", "1", "Failed", []string{"load generators: 2 pods", "quick effort does not repeat the evaluator's protocol", "(median of 3 valid gate runs)", "not allowed to get nodes"}},
		"the simulator": {func(string) []string {
			return []string{"--target=sim:kneed?gpus=1&chunk=4"}
		}, "pass", "0", "Complete", []string{"(median of 3 valid gate runs)"}},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			overlay := filepath.Join(t.TempDir(), "my.yaml")
			if err := os.WriteFile(overlay, []byte(easy), 0o600); err != nil {
				t.Fatal(err)
			}
			kubectl(t, "-n", ns, "create", "configmap", "perfsweep-overlay", "--from-file=overlay.yaml="+overlay)
			apply(t, ns, manifest(t, "rbac.yaml"))
			apply(t, ns, manifest(t, "job-check.yaml",
				arguments("--target=k8s:default/my-dgd", "--load-image=perfsweep:dev", "--gpus=8", "--gpu-product=NVIDIA-H100-80GB-HBM3"), arguments(tt.target(ns)...),
				arguments("--max-wall=45m"), arguments(short...), "perfsweep:dev", shared.image, `cpu: "1"`, "cpu: 100m",
			))
			code := ""
			await(t, commandLimit, "the end of the Job's pod", func() bool {
				code = kubectl(t, "-n", ns, "get", "pods", "-l", "app.kubernetes.io/component=check", "-o", "jsonpath={.items[*].status.containerStatuses[*].state.terminated.exitCode}")
				return code != ""
			})
			log := kubectl(t, "-n", ns, "logs", "job/perfsweep-check")
			if code != tt.code {
				t.Errorf("exit %s, want %s", code, tt.code)
			}
			for _, want := range append(tt.said, "\n"+tt.verdict+": /overlay/overlay.yaml\n") {
				if !strings.Contains(log, want) {
					t.Errorf("no %q in the log", want)
				}
			}
			if t.Failed() {
				t.Log(log)
			}
			kubectl(t, "-n", ns, "wait", "--for=condition="+tt.ends, "--timeout=30s", "job/perfsweep-check")
			nothingLeft(t, ns)
		})
	}
}

// arguments are lines of a container's args.
func arguments(all ...string) string {
	var b strings.Builder
	for _, a := range all {
		b.WriteString("            - " + a + "\n")
	}
	return b.String()
}
