//go:build kube

package kube

import (
	"strings"
	"testing"
)

// AICR's benchmark Job with our image in the place of its own: its command, its
// environment and its folder for files, as the image's user. The result stands
// between the marks in the pod's log, and the pod ends with 0.
func TestAICRJob(t *testing.T) {
	ns := namespace(t)
	graph{name: "perf", preset: "flat?gpus=1", workers: 1, gpus: 1}.up(t, ns)
	apply(t, ns, `
apiVersion: batch/v1
kind: Job
metadata: {name: aicr-aiperf-0badc0de}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      tolerations: [{operator: Exists}]
      containers:
      - name: aiperf
        image: "`+shared.image+`"
        command: [/opt/venv/bin/python, /opt/aicr/aiperf_entrypoint.py]
        args: [--model, simulated/model, --url, "http://perf-frontend:8000", --endpoint-type, chat, --streaming, --concurrency, "4",
          --request-count, "32", --warmup-request-count, "4", --prompt-input-tokens-mean, "16", --prompt-input-tokens-stddev, "0",
          --prompt-output-tokens-mean, "16", --prompt-output-tokens-stddev, "0", --num-dataset-entries, "100", --random-seed, "100",
          --extra-inputs, "temperature:0", --output-artifact-dir, /tmp/aiperf, --export-level, summary]
        env:
        - {name: AICR_MODEL, value: simulated/model}
        - {name: AICR_AIPERF_ARTIFACT_DIR, value: /tmp/aiperf}
        - {name: AICR_RESULT_SENTINEL, value: "===AIPERF-RESULT==="}
`)
	code := ""
	await(t, commandLimit, "the end of the Job's pod", func() bool {
		code = kubectl(t, "-n", ns, "get", "pods", "-l", "batch.kubernetes.io/job-name=aicr-aiperf-0badc0de", "-o", "jsonpath={.items[*].status.containerStatuses[*].state.terminated.exitCode}")
		return code != ""
	})
	log := kubectl(t, "-n", ns, "logs", "job/aicr-aiperf-0badc0de")
	_, rest, marked := strings.Cut(log, "===AIPERF-RESULT===\n")
	result, _, closed := strings.Cut(rest, "===AIPERF-RESULT===")
	if code != "0" || !marked || !closed || !strings.Contains(result, `"output_token_throughput"`) || !strings.Contains(result, `"time_to_first_token"`) {
		t.Errorf("exit %s\n%s", code, log)
	}
}
