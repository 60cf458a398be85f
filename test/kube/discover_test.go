//go:build kube

package kube

import (
	"slices"
	"strings"
	"testing"
)

// found is what the stories read of discover's answer.
type found struct {
	Deployments []struct {
		Namespace, Name, Target, URL, Model string
		Ready                               bool
		NotReady                            []string `json:"not_ready"`
		GPUs                                int      `json:"gpus"`
		GPUsFrom                            string   `json:"gpus_from"`
		GPUProduct                          string   `json:"gpu_product"`
		Mixed                               []string `json:"gpu_products_mixed"`
		RouterMode                          string   `json:"router_mode"`
		Autoscalers, Notes                  []string
	} `json:"deployments"`
}

func TestMissingDefinition(t *testing.T) {
	if a := shared.noCRD; a.code != 1 || !strings.Contains(a.stderr, "serves no DynamoGraphDeployment") {
		t.Errorf("exit %d, %s%s; the cluster must not have the definition before", a.code, a.stdout, a.stderr)
	}
}

// Both versions of the API, with real pods, Services and nodes behind them.
func TestDiscover(t *testing.T) {
	for _, version := range []string{"v1beta1", "v1alpha1"} {
		t.Run(version, func(t *testing.T) {
			ns := namespace(t)
			graph{name: "qwen", version: version, preset: "h100?gpus=4", workers: 2, gpus: 2}.up(t, ns)
			got := unmarshal[found](t, run(t, 0, "discover", "-n", ns, "-o", "json")).Deployments
			if len(got) != 1 {
				t.Fatalf("%d deployments", len(got))
			}
			d := got[0]
			if !d.Ready || len(d.NotReady) > 0 || d.GPUs != 4 || d.GPUsFrom != "limits" || d.GPUProduct != product || d.RouterMode != "round-robin" {
				t.Errorf("%+v", d)
			}
			if d.Target != "k8s:"+ns+"/qwen" || d.URL != "http://qwen-frontend."+ns+".svc:8000" || d.Model != "simulated/llama" {
				t.Errorf("target %s, URL %s, model %s", d.Target, d.URL, d.Model)
			}
			if len(d.Autoscalers) > 0 || len(d.Notes) > 0 {
				t.Errorf("autoscalers %q, notes %q", d.Autoscalers, d.Notes)
			}
			all := run(t, 0, "discover", "-A")
			if !strings.Contains(all.stdout, d.Target+"  ready") {
				t.Errorf("-A does not list %s:\n%s", d.Target, all.stdout)
			}
			if a := run(t, 0, "discover", "-n", "default"); a.stdout != "" || !strings.Contains(a.stderr, "no DynamoGraphDeployment in namespace default") {
				t.Errorf("another namespace: %s%s", a.stdout, a.stderr)
			}
			autoscaled(t, ns)
		})
	}
}

// autoscaled: what can be planned is refused once a HorizontalPodAutoscaler is on
// the workers, until it is frozen.
func autoscaled(t *testing.T, ns string) {
	t.Helper()
	plan := []string{"sweep", "--target", "k8s:" + ns + "/qwen", "--load-image", shared.image, "--plan"}
	a := run(t, 0, plan...)
	for _, want := range []string{"GPUs 4", "makes        in namespace " + ns + ": a Job of ", "; all are granted"} {
		if !strings.Contains(a.stdout, want) {
			t.Errorf("no %q in\n%s", want, a.stdout)
		}
	}
	nothingLeft(t, ns)
	kubectl(t, "-n", ns, "autoscale", "deployment", "qwen-worker", "--min=1", "--max=3")
	a = run(t, 9, plan...)
	if !strings.Contains(a.stderr, "HorizontalPodAutoscaler qwen-worker (1 to 3 replicas)") {
		t.Errorf("%s", a.stderr)
	}
	kubectl(t, "-n", ns, "delete", "hpa", "qwen-worker")
}

// A deployment that never gets ready is refused with what is missing.
func TestNeverReady(t *testing.T) {
	ns := namespace(t)
	g := graph{name: "big", preset: "h100", workers: 1, gpus: 99}
	apply(t, ns, g.object()+g.frontend()+g.worker())
	g.setStatus(t, ns, 0, false)
	kubectl(t, "-n", ns, "rollout", "status", "--timeout=90s", "deployment/big-frontend")
	await(t, commandLimit, "the worker that cannot be scheduled", func() bool { // kubectl wait fails where there is no pod yet
		return kubectl(t, "-n", ns, "get", "pods", "-l", "app=big-worker", "-o", `jsonpath={.items[*].status.conditions[?(@.type=="PodScheduled")].status}`) == "False"
	})
	a := run(t, 1, "sweep", "--target", "k8s:"+ns+"/big")
	for _, want := range []string{
		"k8s:" + ns + "/big is not ready", "condition Ready is False (some_resources_are_not_ready: workers are loading the model)",
		"component Worker: 0 of 1 replica is ready", "cannot be scheduled", "Insufficient nvidia.com/gpu",
	} {
		if !strings.Contains(a.stderr, want) {
			t.Errorf("stderr has no %q:\n%s", want, a.stderr)
		}
	}
	if a := run(t, 2, "sweep", "--target", "k8s:"+ns+"/bgi"); !strings.Contains(a.stderr, "has no DynamoGraphDeployment bgi; it has big") {
		t.Errorf("%s", a.stderr)
	}
}

// The operator may call ready what it saw of an older generation.
func TestOlderGeneration(t *testing.T) {
	ns := namespace(t)
	g := graph{name: "stale", preset: "h100", workers: 1, gpus: 1}
	g.up(t, ns)
	kubectl(t, "-n", ns, "patch", "dgd", "stale", "--type=json", "-p", `[{"op":"replace","path":"/spec/components/1/replicas","value":2}]`)
	a := run(t, 1, "sweep", "--target", "k8s:"+ns+"/stale")
	if !strings.Contains(a.stderr, "the operator has seen generation 1 of 2") || !strings.Contains(a.stderr, "1 of 2 replicas is ready") {
		t.Errorf("%s", a.stderr)
	}
}

// A service account with too little hears which rule it lacks; with a rule less
// than all it sees less, and is told.
func TestTooFewRights(t *testing.T) {
	ns := namespace(t)
	graph{name: "qwen", preset: "h100?gpus=2", workers: 2, gpus: 1}.up(t, ns)
	const graphs = `{apiGroups: [nvidia.com], resources: [dynamographdeployments], verbs: [get, list]}`
	for _, tt := range []struct {
		name, rules string
		code        int
		want        []string
		not         string
	}{
		{"nothing", `[{apiGroups: [""], resources: [pods], verbs: [list]}]`, 1, []string{
			"system:serviceaccount:", `is not allowed to list dynamographdeployments.nvidia.com`, `{apiGroups: ["nvidia.com"], resources: ["dynamographdeployments"], verbs: ["list"]}`,
		}, ""},
		{"deployments only", `[` + graphs + `]`, 0, []string{
			`not allowed to list pods in namespace`, `not allowed to list services in namespace`, `not allowed to list horizontalpodautoscalers.autoscaling in namespace`, "GPUs    2, by limits (product unknown)",
		}, "NVIDIA-"},
		{"all but nodes", `[` + graphs + `, {apiGroups: [""], resources: [pods, services], verbs: [list]}, {apiGroups: [autoscaling], resources: [horizontalpodautoscalers], verbs: [list]}]`, 0, []string{
			"  ready", `bind it to a ClusterRole with the rule {apiGroups: [""], resources: ["nodes"], verbs: ["get"]}`, "product unknown",
		}, "list pods"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kubectl(t, "-n", ns, "delete", "sa,role,rolebinding", "bench", "--ignore-not-found")
			config := user(t, ns, tt.rules)
			a := shared.perfsweep(nil, "discover", "--kubeconfig", config)
			all := a.stdout + a.stderr
			if a.code != tt.code || tt.not != "" && strings.Contains(all, tt.not) {
				t.Errorf("exit %d, want %d, without %q:\n%s", a.code, tt.code, tt.not, all)
			}
			for _, w := range tt.want {
				if !strings.Contains(all, w) {
					t.Errorf("nothing says %q:\n%s", w, all)
				}
			}
		})
	}
}

// Workers on nodes of two products are found out by the nodes' labels. The nodes
// exist only to be read.
func TestMixedNodes(t *testing.T) {
	ns := namespace(t)
	g := graph{name: "mixed", preset: "h100", workers: 2, gpus: 1}
	objects := g.object()
	for i, product := range []string{"NVIDIA-GB300", "NVIDIA-GB300-NVL"} {
		node := ns + "-" + string(rune('a'+i))
		objects += `---
apiVersion: v1
kind: Node
metadata: {name: ` + node + `, labels: {nvidia.com/gpu.product: ` + product + `}}
spec: {taints: [{key: simulated, effect: NoSchedule}]}
---
apiVersion: v1
kind: Pod
metadata: {name: worker-` + node + `, labels: ` + g.labels("worker") + `}
spec: {nodeName: ` + node + `, containers: [{name: main, image: none, resources: {limits: {nvidia.com/gpu: 1}}}]}
`
		t.Cleanup(func() { _, _ = shared.try("", "delete", "node", node, "--wait=false") })
	}
	// Pods need their service account, which a controller makes.
	kubectl(t, "-n", ns, "wait", "--for=create", "--timeout=60s", "serviceaccount/default")
	apply(t, ns, objects)
	g.setStatus(t, ns, 2, true)
	got := unmarshal[found](t, run(t, 0, "discover", "-n", ns, "-o", "json")).Deployments
	if len(got) != 1 || !slices.Equal(got[0].Mixed, []string{"NVIDIA-GB300", "NVIDIA-GB300-NVL"}) || got[0].GPUProduct != "" {
		t.Errorf("%+v", got)
	}
}

// From a pod, with the rights of its service account, the target is reached
// through its Service by the program itself.
func TestFromInside(t *testing.T) {
	ns := namespace(t)
	graph{name: "qwen", preset: "h100?gpus=2", workers: 2, gpus: 1}.up(t, ns)
	user(t, ns, `[{apiGroups: [nvidia.com], resources: [dynamographdeployments], verbs: [get, list]}, {apiGroups: [""], resources: [pods, services], verbs: [list]}, {apiGroups: [autoscaling], resources: [horizontalpodautoscalers], verbs: [list]}]`)
	apply(t, ns, `
apiVersion: v1
kind: Pod
metadata: {name: plan}
spec:
  serviceAccountName: bench
  restartPolicy: Never
  containers: [{name: main, image: "`+shared.image+`", args: [sweep, --target, "k8s:qwen", --plan]}]
`)
	kubectl(t, "-n", ns, "wait", "--for=jsonpath={.status.containerStatuses[0].state.terminated}", "--timeout=120s", "pod/plan")
	log := kubectl(t, "-n", ns, "logs", "plan")
	code := kubectl(t, "-n", ns, "get", "pod", "plan", "-o", "jsonpath={.status.containerStatuses[0].state.terminated.exitCode}")
	if code != "0" || !strings.Contains(log, "k8s:"+ns+"/qwen") || !strings.Contains(log, "GPUs 2") || !strings.Contains(log, "not allowed to get nodes") || strings.Contains(log, "scaledobjects") {
		t.Errorf("exit %s:\n%s", code, log)
	}
}
