package kube

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube/kubetest"
)

// recorded is a file of testdata with texts replaced, each of which it has.
func recorded(t *testing.T, name string, replace ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("%s has no %q", name, replace[i])
		}
		text = strings.ReplaceAll(text, replace[i], replace[i+1])
	}
	return text
}

// open serves objects and connects to them.
func open(t *testing.T, objects string) (*Client, *kubetest.Cluster) {
	t.Helper()
	k, err := kubetest.New(objects)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(k)
	t.Cleanup(s.Close)
	c, err := Open(writeKubeconfig(t, s.URL, "team"), "")
	if err != nil {
		t.Fatal(err)
	}
	return c, k
}

// oldPods are what alpha.yaml lacks: one pod of the frontend and the prefill
// worker, six of the decode workers.
func oldPods(decode int) string {
	var b strings.Builder
	pod := func(name, component string, gpus int) {
		fmt.Fprintf(&b, `
---
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: team, labels: {nvidia.com/dynamo-graph-deployment-name: llama, nvidia.com/dynamo-component: %s}}
spec: {nodeName: n, containers: [{name: main, image: "runtime:0.9.0", resources: {limits: {nvidia.com/gpu: %d}}}]}
status: {phase: Running, podIP: 10.2.0.1, conditions: [{type: Ready, status: "True"}], containerStatuses: [{name: main, imageID: "sha256:bb"}]}
`, name, component, gpus)
	}
	pod("f", "Frontend", 0)
	pod("p", "Prefill", 2)
	for i := range decode {
		pod(fmt.Sprint("d", i), "Decode", 4)
	}
	return b.String()
}

func TestDiscoverNewShape(t *testing.T) {
	c, k := open(t, recorded(t, "beta.yaml"))
	got, err := c.Discover(t.Context(), "team")
	if err != nil {
		t.Fatal(err)
	}
	const image, digest = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.2.1", "sha256:aaaa"
	want := []Deployment{{
		Namespace: "team", Name: "qwen", UID: "6f1c", APIVersion: "nvidia.com/v1beta1", Generation: 3,
		Ready: true, Model: "Qwen/Qwen3-8B", ModelServed: true, RouterMode: "kv",
		Frontend: Service{Name: "qwen-frontend", Namespace: "team", Port: 8000},
		Components: []Component{
			{Name: "Frontend", Type: "frontend", Replicas: 1, Ready: 1, Image: image, ImageID: digest, Nodes: []string{"cpu-0"}},
			{Name: "VllmDecodeWorker", Type: "worker", Replicas: 2, Ready: 2, GPUsPerReplica: 4, Image: image, ImageID: digest, Nodes: []string{"gpu-0", "gpu-1"}},
		},
		GPUs: 8, GPUsFrom: "status", GPUProduct: "NVIDIA-GB300", Driver: "580.65",
		Labels: map[string]string{
			"workers": "2", "frontends": "1", "gpus_per_worker": "4", "image": image + "@" + digest,
			"gpu_product": "NVIDIA-GB300", "driver": "580.65", "router_mode": "kv",
		},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if url := got[0].Frontend.URL(); url != "http://qwen-frontend.team.svc:8000" {
		t.Errorf("URL %s", url)
	}
	for _, asked := range k.Asked() { // the operator may be in any namespace
		if strings.HasSuffix(asked, " team") || strings.Contains(asked, "nodes") || asked == "list deployments" || strings.HasPrefix(asked, "list ") && len(strings.Fields(asked)) == 1 {
			continue
		}
		if asked != "list" {
			t.Errorf("asked outside the namespace: %q", asked)
		}
	}
}

// A runtime of another release than the operator's is told, once, whoever may
// read the operator.
func TestDiscoverSkew(t *testing.T) {
	const operator = `
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: op, namespace: dynamo-system, labels: {app.kubernetes.io/name: dynamo-operator, helm.sh/chart: dynamo-operator-%[1]s}}
spec: {template: {spec: {containers: [{name: manager, image: "nvcr.io/nvidia/ai-dynamo/kubernetes-operator:%[1]s"}]}}}
`
	for _, tt := range []struct {
		release string
		refuse  int
		want    bool
	}{{"1.2.0", 0, false}, {"1.4.0", 0, true}, {"1.4.0", 403, false}} {
		c, k := open(t, recorded(t, "beta.yaml")+fmt.Sprintf(operator, tt.release))
		if tt.refuse != 0 {
			k.Refuse["list deployments"] = tt.refuse
		}
		d, err := c.Deployment(t.Context(), "team", "qwen")
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		for _, n := range d.Notes {
			if strings.Contains(n, "operator "+tt.release) && strings.Contains(n, "image 1.2.1") {
				told++
			}
		}
		if (told == 1) != tt.want || len(d.Notes) != told {
			t.Errorf("operator %s, refused %d: notes %q", tt.release, tt.refuse, d.Notes)
		}
	}
}

func TestDiscoverOldShape(t *testing.T) {
	c, k := open(t, recorded(t, "alpha.yaml")+oldPods(6))
	k.Versions = []string{"v1alpha1"}
	k.Refuse["list scaledobjects"] = 404
	d, err := c.Deployment(t.Context(), "team", "llama")
	if err != nil {
		t.Fatal(err)
	}
	if !d.Ready || d.GPUs != 2+3*2*4 || d.GPUsFrom != "limits" || d.Model != "llama-70b" || d.RouterMode != "round-robin" {
		t.Errorf("ready %v %q, %d GPUs by %s %s, model %q, router %q", d.Ready, d.NotReady, d.GPUs, d.GPUsFrom, d.GPUsUnknown, d.Model, d.RouterMode)
	}
	if !d.Disaggregated || d.Ratio != "1 prefill : 3 decode" {
		t.Errorf("disaggregated %v, ratio %q", d.Disaggregated, d.Ratio)
	}
	if url := d.Frontend.URL(); url != "http://llama-frontend.team.svc:8080" { // by the naming rule
		t.Errorf("URL %s", url)
	}
	if d.GPUProduct != "" || len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "get nodes n") {
		t.Errorf("GPU product %q of a node that cannot be read; notes %q", d.GPUProduct, d.Notes)
	}
}

// The operator's word, the pods' and the generation must agree (G05).
func TestNotReady(t *testing.T) {
	const pod1 = `conditions: [{type: Ready, status: "True"}], containerStatuses: [{name: main, imageID: "nvcr.io/nvidia/ai-dynamo/vllm-runtime@sha256:aaaa"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: qwen-worker-old`
	for _, tt := range []struct {
		name, want string
		replace    []string
	}{
		{"an older generation", "seen generation 2 of 3", []string{"observedGeneration: 3", "observedGeneration: 2"}},
		{"condition", "condition Ready is False (pods_not_ready: loading)", []string{`status: "True", reason: all_resources_are_ready`, `status: "False", reason: pods_not_ready, message: loading`}},
		{"failed beside Ready", "its state is failed", []string{"state: successful", "state: failed"}},
		{"state only", "its state is pending", []string{"state: successful", "state: pending", "type: Ready, status: \"True\", reason", "type: Other, reason"}},
		{"no status", "is the Dynamo operator running?", []string{"  state: successful\n", "", "type: Ready, status: \"True\", reason", "type: Other, reason"}},
		{"one of two", "component VllmDecodeWorker: 1 of 2 replicas", []string{"updatedReplicas: 2, readyReplicas: 2", "readyReplicas: 1"}},
		{"too many", "3 of 2 replicas", []string{"updatedReplicas: 2, readyReplicas: 2", "readyReplicas: 3"}},
		{"rollout", "a rollout has replaced 1 of 2", []string{"updatedReplicas: 2", "updatedReplicas: 1"}},
		{"pods", "1 of 2 pods is ready (pod qwen-worker-1 cannot get its image (ImagePullBackOff): no such image)", []string{pod1,
			strings.Replace(pod1, `conditions: [{type: Ready, status: "True"}], containerStatuses: [{name: main, imageID: "nvcr.io/nvidia/ai-dynamo/vllm-runtime@sha256:aaaa"}]`,
				`containerStatuses: [{name: main, state: {waiting: {reason: ImagePullBackOff, message: no such image}}}]`, 1)}},
		{"unschedulable", "pod qwen-worker-1 cannot be scheduled: 0/2 nodes", []string{pod1,
			strings.Replace(pod1, `conditions: [{type: Ready, status: "True"}]`, `conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: 0/2 nodes}]`, 1)}},
		{"two images", "its pods run 2 different images", []string{pod1, strings.Replace(pod1, "sha256:aaaa", "sha256:bbbb", 1)}},
		{"deleted", "it is being deleted", []string{"uid: 6f1c", "uid: 6f1c, deletionTimestamp: now"}},
		{"no workers", "it has no worker", []string{"replicas: 2", "replicas: 0"}},
		{"no frontend", "it has no frontend", []string{"type: frontend\n    replicas: 1", "type: frontend\n    replicas: 0"}},
		{"two services", "several Services are its frontend: qwen-frontend, other-frontend", []string{"deployment-name: other,", "deployment-name: qwen,"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := open(t, recorded(t, "beta.yaml", tt.replace...))
			d, err := c.Deployment(t.Context(), "team", "qwen")
			if err != nil {
				t.Fatal(err)
			}
			if d.Ready || !strings.Contains(strings.Join(d.NotReady, "\n"), tt.want) {
				t.Errorf("ready %v, %q; want %q", d.Ready, d.NotReady, tt.want)
			}
		})
	}
}

// Operators without replica counts leave the pods to tell.
func TestOldStatusNeedsPods(t *testing.T) {
	for _, decode := range []int{0, 5, 7} {
		c, _ := open(t, recorded(t, "alpha.yaml")+oldPods(decode))
		if d, err := c.Deployment(t.Context(), "team", "llama"); err != nil || d.Ready {
			t.Errorf("%d of 6 decode pods: ready %v, error %v", decode, d.Ready, err)
		}
	}
	c, k := open(t, recorded(t, "alpha.yaml")+oldPods(6))
	k.Refuse["list pods"] = 403
	d, err := c.Deployment(t.Context(), "team", "llama")
	if err != nil || d.Ready || !strings.Contains(strings.Join(d.NotReady, "\n"), "neither the operator nor its pods tell") {
		t.Errorf("ready %v %q, error %v", d.Ready, d.NotReady, err)
	}
}

func TestErrorsAreSentences(t *testing.T) {
	for _, tt := range []struct {
		name, deployment, want string
		input                  bool
		change                 func(*kubetest.Cluster)
	}{
		{"no definition", "qwen", "serves no DynamoGraphDeployment", false, func(k *kubetest.Cluster) { k.Versions = nil }},
		{"a version of tomorrow", "qwen", "it serves the versions v2, which may need a newer perfsweep", false, func(k *kubetest.Cluster) { k.Versions = []string{"v2"} }},
		{"not found", "qwan", "namespace team has no DynamoGraphDeployment qwan; it has qwen", true, func(*kubetest.Cluster) {}},
		{"forbidden", "qwen", `bench is not allowed to get dynamographdeployments.nvidia.com qwen in namespace team; bind it to a Role in namespace team with the rule {apiGroups: ["nvidia.com"], resources: ["dynamographdeployments"], verbs: ["get"]}`, false,
			func(k *kubetest.Cluster) { k.Refuse["get dynamographdeployments"] = 403 }},
		{"no conversion at all", "qwen", "is its pod running?", false, func(k *kubetest.Cluster) {
			k.Refuse["get dynamographdeployments v1beta1"], k.Refuse["get dynamographdeployments v1alpha1"] = 500, 500
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, k := open(t, recorded(t, "beta.yaml"))
			tt.change(k)
			_, err := c.Deployment(t.Context(), "team", tt.deployment)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if in := (*InputError)(nil); errors.As(err, &in) != tt.input {
				t.Errorf("%v: bad input %v, want %v", err, !tt.input, tt.input)
			}
		})
	}
}

// What is stored in the other version needs no conversion.
func TestConversionWebhookDown(t *testing.T) {
	c, k := open(t, recorded(t, "beta.yaml"))
	k.Refuse["get dynamographdeployments v1beta1"], k.Refuse["list dynamographdeployments v1beta1"] = 500, 500
	if d, err := c.Deployment(t.Context(), "team", "qwen"); err != nil || d.APIVersion != "nvidia.com/v1alpha1" {
		t.Errorf("%s, error %v", d.APIVersion, err)
	}
	if l, err := c.Discover(t.Context(), ""); err != nil || len(l) != 1 {
		t.Errorf("%d deployments, error %v", len(l), err)
	}
}
