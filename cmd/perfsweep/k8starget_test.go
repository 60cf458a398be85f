package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube/kubetest"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// inTestCluster is a campaign against the deployment team/qwen of a recorded
// cluster in which some texts are replaced.
func inTestCluster(t *testing.T, target string, replace ...string) (c *campaign, said *bytes.Buffer) {
	t.Helper()
	c, said, _ = inWatchedCluster(t, target, replace...)
	return c, said
}

// inWatchedCluster returns the cluster too, which tells what it was asked.
func inWatchedCluster(t *testing.T, target string, replace ...string) (c *campaign, said *bytes.Buffer, k *kubetest.Cluster) {
	t.Helper()
	raw, err := os.ReadFile("internal/kube/testdata/beta.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replace); i += 2 {
		if !bytes.Contains(raw, []byte(replace[i])) {
			t.Fatalf("the recorded cluster has no %q", replace[i])
		}
	}
	if k, err = kubetest.New(strings.NewReplacer(replace...).Replace(string(raw))); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(k)
	t.Cleanup(s.Close)
	config := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf("current-context: c\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c, namespace: team}}]\n", s.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	said = &bytes.Buffer{}
	return &campaign{
		app: &app{err: said}, changed: func(string) bool { return false },
		flags: &measureFlags{target: target, kube: kubeFlags{kubeconfig: config}},
	}, said, k
}

// What the cluster knows answers for the flags: GPUs, model, fingerprint and
// the deployment's name.
func TestClusterTarget(t *testing.T) {
	for _, name := range []string{"k8s:team/qwen", "k8s:qwen"} {
		c, said := inTestCluster(t, name)
		got, err := c.resolve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got.public != "k8s:team/qwen" || got.baseURL != "http://qwen-frontend.team.svc:8000" || got.gpus != 8 || c.model != "Qwen/Qwen3-8B" || c.flags.deployment != "6f1c/3" {
			t.Errorf("%s at %s, %d GPUs, model %q, deployment %q", got.public, got.baseURL, got.gpus, c.model, c.flags.deployment)
		}
		if p := got.place; p == nil || p.namespace != "team" || p.name != "qwen" || !slices.Equal(p.nodes, []string{"cpu-0", "gpu-0", "gpu-1"}) {
			t.Errorf("place %+v", got.place)
		}
		labels := c.labelled(got, map[string]string{"gpu_product": "GB300", "precision": "bf16"})
		for k, want := range map[string]string{
			"gpu_product": "GB300", "precision": "bf16", "workers": "2", "gpus_per_worker": "4", "driver": "580.65", "router_mode": "kv",
			"routing_mode": "dynamo-router", "image": "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.2.1@sha256:aaaa",
		} {
			if labels[k] != want {
				t.Errorf("label %s is %q, want %q", k, labels[k], want)
			}
		}
		if !strings.Contains(said.String(), `--label gpu_product=GB300 stands for "NVIDIA-GB300"`) {
			t.Errorf("said %q", said)
		}
	}
}

// --plan of a cluster's target reads, and asks for rights: it makes nothing there.
func TestPlanOnlyReads(t *testing.T) {
	c, said, k := inWatchedCluster(t, "k8s:qwen")
	var out bytes.Buffer
	c.out, c.plan = &out, sweep.DefaultPlan(sweep.Standard)
	c.flags.effort, c.flags.workload, c.flags.sloTTFTMS = "standard", loadgen.Synthetic, 2000
	c.flags.load = loadFlags{pods: "auto", image: "perfsweep:test", cpu: "2", memory: "1Gi", wait: time.Minute}
	if err := c.foretell(t.Context(), 0); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if !strings.Contains(out.String(), "plan for k8s:team/qwen, GPUs 8") {
		t.Error(out.String())
	}
	for _, asked := range k.Asked() {
		if verb, what, _ := strings.Cut(asked, " "); verb != "get" && verb != "list" && what != "selfsubjectaccessreviews" {
			t.Errorf("asked for %q", asked)
		}
	}
}

// The precision is that of the file of --deploy, else that of the checkpoint's
// name, and the user's word stands.
func TestClusterTargetPrecision(t *testing.T) {
	for _, tt := range []struct {
		model, deployed string
		stated          map[string]string
		want            string
	}{
		{"Qwen/Qwen3-8B", "", nil, ""},
		{"Qwen/Qwen3-8B-FP8", "", nil, "fp8"},
		{"Qwen/Qwen3-8B", "nvfp4", nil, "nvfp4"},
		{"Qwen/Qwen3-8B-FP8", "nvfp4", nil, "nvfp4"},
		{"Qwen/Qwen3-8B-FP8", "fp8", map[string]string{"precision": "bf16"}, "bf16"},
	} {
		c, _ := inTestCluster(t, "k8s:qwen", "Qwen/Qwen3-8B", tt.model)
		c.precision = tt.deployed
		got, err := c.resolve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if labels := c.labelled(got, tt.stated); labels["precision"] != tt.want {
			t.Errorf("%+v: label precision is %q", tt, labels["precision"])
		}
	}
}

// --gpu-product states what the nodes would say, where they may not be read.
func TestGPUProduct(t *testing.T) {
	unlabelled := []string{"nvidia.com/gpu.product: NVIDIA-GB300", "other: NVIDIA-GB300"}
	for _, tt := range []struct {
		name, product string
		labels        []string
		replace       []string
		want, refused string
	}{
		{"nodes without a label", "NVIDIA-B200", nil, unlabelled, "NVIDIA-B200", ""},
		{"as the nodes say", "NVIDIA-GB300", nil, nil, "NVIDIA-GB300", ""},
		{"stated twice", "NVIDIA-GB300", []string{"gpu_product=NVIDIA-GB300", "a=b"}, nil, "NVIDIA-GB300", ""},
		{"unlike the nodes", "NVIDIA-B200", nil, nil, "", "--gpu-product NVIDIA-B200 contradicts --target k8s:team/qwen, whose nodes are labelled NVIDIA-GB300"},
		{"unlike the label", "NVIDIA-B200", []string{"gpu_product=B300"}, unlabelled, "", "--gpu-product NVIDIA-B200 contradicts --label gpu_product=B300"},
		{"no product", "a b", nil, unlabelled, "", "such as NVIDIA-H100-80GB-HBM3"},
		{"unknown", "", nil, unlabelled, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, said := inTestCluster(t, "k8s:qwen", tt.replace...)
			c.plan = sweep.DefaultPlan(sweep.Quick)
			c.flags.workload, c.flags.gpuProduct, c.flags.labels = loadgen.Synthetic, tt.product, tt.labels
			_, stated, err := c.asked()
			var got *target
			if err == nil {
				got, err = c.resolve(t.Context())
			}
			if tt.refused != "" {
				if code, _ := exitCode(t.Context(), err); code != exitInput || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("error %v, want %q", err, tt.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if labels := c.labelled(got, stated); labels["gpu_product"] != tt.want {
				t.Errorf("label gpu_product is %q, want %q", labels["gpu_product"], tt.want)
			}
			if hint := strings.Contains(said.String(), "state it with --gpu-product NAME"); hint != (tt.want == "") {
				t.Errorf("said %q", said)
			}
		})
	}
	if code := run(t.Context(), []string{"sweep", "--target", "sim:flat", "--gpu-product", "H100"}, strings.NewReader(""), io.Discard, io.Discard); code != exitInput {
		t.Errorf("exit %d where no cluster is", code)
	}
}

func TestClusterTargetRefused(t *testing.T) {
	prefill := []string{"- name: VllmDecodeWorker\n    type: worker", "- name: VllmDecodeWorker\n    type: prefill"}
	for _, tt := range []struct {
		name, target string
		set          func(*campaign)
		replace      []string
		code         int
		want         string
	}{
		{"not there", "k8s:team/qwan", nil, nil, exitInput, "namespace team has no DynamoGraphDeployment qwan; it has qwen"},
		{"another namespace", "k8s:prod/qwen", nil, nil, exitInput, "namespace prod has no DynamoGraphDeployment qwen; it has none"},
		{"no name", "k8s:team/", nil, nil, exitInput, "use k8s:NAMESPACE/NAME"},
		{"no namespace", "k8s:/qwen", nil, nil, exitInput, "use k8s:NAMESPACE/NAME"},
		{"a path", "k8s:team/../nodes", nil, nil, exitInput, "use k8s:NAMESPACE/NAME"},
		{"not ready", "k8s:qwen", nil, []string{"observedGeneration: 3", "observedGeneration: 2"}, exitWorld, "k8s:team/qwen is not ready: the operator has seen generation 2 of 3; measure it when it is"},
		{"other GPUs", "k8s:qwen", func(c *campaign) { c.flags.gpus = 4 }, nil, exitInput, "--gpus 4 contradicts --target k8s:team/qwen, which has 8 (by status)"},
		{"unknown GPUs", "k8s:qwen", nil, []string{"gpusPerReplica: 4", "gpusPerReplica: 3"}, exitInput, "needs --gpus N, because the cluster does not tell how many GPUs it has: component VllmDecodeWorker has 6 GPUs by its status"},
		{"mixed", "k8s:qwen", nil, []string{"name: gpu-1, labels: {nvidia.com/gpu.product: NVIDIA-GB300", "name: gpu-1, labels: {nvidia.com/gpu.product: NVIDIA-B200"}, exitInconclusive, "run on different GPUs (NVIDIA-B200, NVIDIA-GB300)"},
		{"autoscaled", "k8s:qwen", nil, []string{"type: worker\n", "type: worker\n    scalingAdapter: {}\n"}, exitInconclusive, "by the scaling adapter of component VllmDecodeWorker: freeze it first"},
		{"gateway", "k8s:qwen", nil, []string{"  components:\n  - name: Frontend", "  components:\n  - {name: Epp, type: epp, replicas: 0}\n  - name: Frontend"}, exitInput, "name the gateway's URL"},
		{"disaggregated for an overlay", "k8s:qwen", func(c *campaign) { c.overlay = true }, prefill, exitInconclusive, "is disaggregated (2 prefill : 0 decode)"},
		{"a cluster for a URL", "http://127.0.0.1:1", func(c *campaign) { c.changed = func(f string) bool { return f == "context" } }, nil, exitInput, "--context is for k8s: targets"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := inTestCluster(t, tt.target, tt.replace...)
			if tt.set != nil {
				tt.set(c)
			}
			_, err := c.resolve(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if code, _ := exitCode(t.Context(), err); code != tt.code {
				t.Errorf("exit %d, want %d: %v", code, tt.code, err)
			}
		})
	}
}

// What only the user knows is taken from the user; separate prefill and decode
// workers are measured, and set no gate.
func TestClusterTargetAllowed(t *testing.T) {
	c, said := inTestCluster(t, "k8s:qwen", "gpusPerReplica: 4", "gpusPerReplica: 3")
	c.flags.gpus = 8
	if got, err := c.resolve(t.Context()); err != nil || got.gpus != 8 || !strings.Contains(said.String(), "8 GPUs as --gpus says") {
		t.Errorf("error %v, said %q", err, said)
	}
	c, _ = inTestCluster(t, "k8s:qwen", "- name: VllmDecodeWorker\n    type: worker", "- name: VllmDecodeWorker\n    type: prefill")
	got, err := c.resolve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := calibrate.Proposal{Writable: true}
	refuseDisaggregated(&p, c.labelled(got, nil))
	if p.Writable || len(p.Reasons) != 1 || !strings.Contains(p.Reasons[0], "2 prefill : 0 decode") {
		t.Errorf("writable %v, reasons %q", p.Writable, p.Reasons)
	}
	p = calibrate.Proposal{Writable: true}
	if refuseDisaggregated(&p, map[string]string{"workers": "2"}); !p.Writable {
		t.Error("workers that do both are refused")
	}
}
