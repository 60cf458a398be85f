package recipes

import (
	"slices"
	"strings"
	"testing"
)

// template is AICR's own deployment of 4 GPUs, in our words.
const template = `apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata:
  name: perf
spec:
  components:
    - name: Frontend
      type: frontend
      replicas: 1
      podTemplate:
        spec:
          containers:
            - name: main
              image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.2.1-cuda13
              env:
                - name: SERVED_MODEL_NAME
                  value: Qwen/Qwen3-8B
                - name: DYN_ROUTER_MODE
                  value: least-loaded
    - name: VllmDecodeWorker
      type: worker
      replicas: 4
      sharedMemorySize: 2Gi
      podTemplate:
        spec:
          containers:
            - name: main
              image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.2.1-cuda13
              command: [python3, -m, dynamo.vllm]
              args: ["--model", "Qwen/Qwen3-8B", "--kv-events-config", "{\"publisher\": \"zmq\"}"]
              resources:
                limits: {nvidia.com/gpu: "1"}
`

// older is the same thing in the older layout, with its command as text.
const older = `apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
spec:
  envs:
    - {name: DYN_ROUTER_MODE, value: least-loaded}
  services:
    Frontend:
      componentType: frontend
      extraPodSpec: {mainContainer: {image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.2.1-cuda13"}}
    VllmDecodeWorker:
      componentType: worker
      replicas: 4
      resources: {limits: {gpu: "1"}}
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.2.1-cuda13
          command: [/bin/sh, -c]
          args: ["exec python3 -u -m dynamo.vllm --model=Qwen/Qwen3-8B"]
`

const templateModel = "Qwen/Qwen3-8B"

func differences(t *testing.T, text string, gpus int) (differs, unknown []string) {
	t.Helper()
	d, err := ParseDeployment("d.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d.Differences(gpus, templateModel)
}

func TestTemplateEqualsItself(t *testing.T) {
	for name, text := range map[string]string{"v1beta1": template, "v1alpha1": older} {
		if differs, unknown := differences(t, text, 4); len(differs)+len(unknown) != 0 {
			t.Errorf("%s: differs %q, unknown %q", name, differs, unknown)
		}
	}
}

// One field a line: the edit, and the one thing that is said of it.
func TestEachDifferenceAlone(t *testing.T) {
	for _, c := range []struct{ from, to, says string }{
		{"replicas: 1\n", "replicas: 2\n", "frontends: 2, not 1"},
		{"replicas: 4\n", "replicas: 3\n", "workers: 3 in 1 component, not 4"},
		{"least-loaded", "round-robin", "router mode: round-robin, not least-loaded"},
		{"DYN_ROUTER_MODE", "OTHER", "router mode: not set"},
		{`["--model"`, `["--max-num-seqs", "256", "--model"`, "flag of the worker: --max-num-seqs 256"},
		{`["--model"`, `["--tensor-parallel-size=2", "--model"`, "flag of the worker: --tensor-parallel-size 2"},
		{`["--model"`, `["--enforce-eager", "--model"`, "flag of the worker: --enforce-eager"},
		{`"Qwen/Qwen3-8B", "--kv`, `"Qwen/Qwen3-32B", "--kv`, "model of the worker: Qwen/Qwen3-32B"},
		{"dynamo.vllm", "dynamo.sglang", "engine of the worker: dynamo.sglang"},
		{`nvidia.com/gpu: "1"`, `nvidia.com/gpu: 2`, "GPUs of a worker: 2, not 1"},
		{`limits: {nvidia.com/gpu: "1"}`, `limits: {nvidia.com/gpu: "1", cpu: 8}`, "resource of the worker: cpu"},
		{"sharedMemorySize: 2Gi", "multinode: {nodeCount: 2}", "nodes of a worker: 2"},
		{"replicas: 4\n", "replicas: 4\n      env: [{name: VLLM_USE_V1, value: \"0\"}]\n", "environment of the worker: VLLM_USE_V1=0"},
		{"    - name: VllmDecodeWorker", "    - name: Planner\n      type: planner\n    - name: VllmDecodeWorker", "component Planner"},
	} {
		text := strings.Replace(template, c.from, c.to, 1)
		if text == template {
			t.Fatalf("%q is not in the template", c.from)
		}
		differs, unknown := differences(t, text, 4)
		if len(differs) != 1 || len(unknown) != 0 || !strings.Contains(differs[0], c.says) {
			t.Errorf("%q: differs %q, unknown %q", c.to, differs, unknown)
		}
	}
	// The frontend's image and the worker's are looked at apart.
	one := strings.Replace(template, ":1.2.1-cuda13", ":1.0.2", 1)
	if differs, _ := differences(t, one, 4); !slices.Equal(differs, []string{"image of the frontend: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0.2, not " + TemplateImage}) {
		t.Errorf("%q", differs)
	}
	if differs, _ := differences(t, template, 8); len(differs) != 1 {
		t.Errorf("on 8 GPUs: %q", differs)
	}
	// A frontend's flag counts before its environment.
	flag := strings.Replace(template, "              env:\n", "              args: [--router-mode, kv]\n              env:\n", 1)
	if differs, _ := differences(t, flag, 4); len(differs) != 1 || !strings.Contains(differs[0], "router mode: kv") {
		t.Errorf("%q", differs)
	}
}

// Prefill and decode apart are no worker of the template.
func TestDisaggregated(t *testing.T) {
	text := strings.Replace(older, "componentType: worker\n", "componentType: worker\n      subComponentType: prefill\n", 1)
	differs, _ := differences(t, text, 4)
	if !slices.ContainsFunc(differs, func(s string) bool { return strings.HasPrefix(s, "component VllmDecodeWorker") }) {
		t.Errorf("%q", differs)
	}
}

// What a deployment does not say is unknown, and not equal.
func TestUnknownIsNotEqual(t *testing.T) {
	for _, c := range []struct{ from, to, says string }{
		{`limits: {nvidia.com/gpu: "1"}`, `claims: [{name: gpu}]`, "GPUs of a worker"},
		{"command: [python3, -m, dynamo.vllm]", "command: [/run.sh]", "engine of the worker"},
		{`"--model", "Qwen/Qwen3-8B", `, "", "model of the worker"},
	} {
		differs, unknown := differences(t, strings.Replace(template, c.from, c.to, 1), 4)
		if len(differs) != 0 || len(unknown) != 1 || !strings.Contains(unknown[0], c.says) {
			t.Errorf("%q: differs %q, unknown %q", c.to, differs, unknown)
		}
	}
}

func TestNoDeployment(t *testing.T) {
	for _, text := range []string{"", "kind: Deployment", "kind: DynamoGraphDeployment", ":", "kind: DynamoGraphDeployment\nspec: {components: 3}", strings.Repeat(" ", MaxDeployment+1)} {
		if _, err := ParseDeployment("d.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "d.yaml: ") {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// TestWrongKinds: what is wrong is said with its line, and without the names of
// our types.
func TestWrongKinds(t *testing.T) {
	_, err := ParseDeployment("d.yaml", []byte("kind: DynamoGraphDeployment\nspec:\n  services:\n    a: {replicas: many, envs: 5}\n"))
	if want := "d.yaml: not a deployment: line 4: not expected here: !!str `many`; line 4: not expected here: !!int `5`"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func FuzzParseDeployment(f *testing.F) {
	f.Add([]byte(template))
	f.Add([]byte(older))
	f.Add([]byte(claimed()))
	f.Add([]byte(`{"kind": "DynamoGraphDeployment", "spec": {"components": [{"type": "worker", "replicas": -1}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseDeployment("d.yaml", b)
		if err != nil {
			return
		}
		differs, unknown := d.Differences(4, templateModel)
		for _, s := range append(differs, unknown...) {
			if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
				t.Fatalf("%q holds a control character", s)
			}
		}
	})
}
