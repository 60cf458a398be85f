package kube

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube/kubetest"
)

// What may change the number of workers is named; what is frozen is not.
func TestAutoscalers(t *testing.T) {
	const hpa = `
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h, namespace: team}
spec: {scaleTargetRef: {kind: Deployment, name: qwen-vllmdecodeworker}, minReplicas: 1, maxReplicas: 4}
`
	const keda = `
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: k, namespace: team, annotations: {a: b}}
spec: {scaleTargetRef: {name: qwen-0-vllmdecodeworker}}
`
	const adapter = `
---
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeploymentScalingAdapter
metadata: {name: qwen-a, namespace: team}
spec: {replicas: 2, dgdRef: {name: qwen, serviceName: VllmDecodeWorker}}
`
	for _, tt := range []struct {
		name, more, want string
		replace          []string
	}{
		{"none", "", "", nil},
		{"a worker's adapter", "", "the scaling adapter of component VllmDecodeWorker", []string{"type: worker\n", "type: worker\n    scalingAdapter: {}\n"}},
		{"switched off", "", "", []string{"type: worker\n", "type: worker\n    scalingAdapter: {enabled: false}\n"}},
		{"planner", "", "the planner, component Planner", []string{"  components:\n  - name: Frontend", "  components:\n  - {name: Planner, type: planner}\n  - name: Frontend"}},
		{"planner at rest", "", "", []string{"  components:\n  - name: Frontend", "  components:\n  - {name: Planner, type: planner, replicas: 0}\n  - name: Frontend"}},
		{"adapter object", adapter, "DynamoGraphDeploymentScalingAdapter qwen-a", nil},
		{"another's adapter", strings.Replace(adapter, "name: qwen,", "name: llama,", 1), "", nil},
		{"HPA", hpa, "HorizontalPodAutoscaler h (1 to 4 replicas)", nil},
		{"HPA of an adapter", adapter + strings.Replace(hpa, "kind: Deployment, name: qwen-vllmdecodeworker", "kind: DynamoGraphDeploymentScalingAdapter, name: qwen-a", 1), "DynamoGraphDeploymentScalingAdapter qwen-a; HorizontalPodAutoscaler h (1 to 4 replicas)", nil},
		{"frozen HPA", strings.Replace(hpa, "minReplicas: 1", "minReplicas: 4", 1), "", nil},
		{"another's HPA", strings.Replace(hpa, "name: qwen-", "name: llama-", 1), "", nil},
		{"KEDA", keda, "KEDA ScaledObject k", nil},
		{"paused KEDA", strings.Replace(keda, "a: b", `autoscaling.keda.sh/paused-replicas: "2"`, 1), "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := open(t, recorded(t, "beta.yaml", tt.replace...)+tt.more)
			d, err := c.Deployment(t.Context(), "team", "qwen")
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(d.Autoscalers, "; "); got != tt.want {
				t.Errorf("autoscalers %q, want %q", got, tt.want)
			}
		})
	}
	old, _ := open(t, recorded(t, "alpha.yaml", "replicas: 3", "replicas: 3\n      autoscaling: {enabled: true}"))
	if d, err := old.Deployment(t.Context(), "team", "llama"); err != nil || !slices.Equal(d.Autoscalers, []string{"the autoscaling of component Decode"}) {
		t.Errorf("autoscalers %q, error %v", d.Autoscalers, err)
	}
}

// A missing permission is said with the rule that grants it, and is never "none"
// (G18).
func TestForbiddenIsSaid(t *testing.T) {
	c, k := open(t, recorded(t, "beta.yaml"))
	refused := []string{"list pods", "list services", "list horizontalpodautoscalers", "list scaledobjects", "list dynamographdeploymentscalingadapters"}
	for _, r := range refused {
		k.Refuse[r] = 403
	}
	d, err := c.Deployment(t.Context(), "team", "qwen")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range refused {
		verb, resource, _ := strings.Cut(r, " ")
		said := slices.ContainsFunc(d.Notes, func(n string) bool {
			return strings.Contains(n, "not allowed to "+verb+" "+resource) && strings.Contains(n, `verbs: ["`+verb+`"]`)
		})
		if !said {
			t.Errorf("nothing says that %s is not allowed: %q", r, d.Notes)
		}
	}
	if url := d.Frontend.URL(); url != "http://qwen-frontend.team.svc:8000" {
		t.Errorf("URL %q, want that of the naming rule", url)
	}
	if d.Components[1].ImageID != "" {
		t.Errorf("image %q of pods that were not read", d.Components[1].ImageID)
	}
	k.Refuse["list dynamographdeployments"] = 403
	if _, err := c.Discover(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "a ClusterRole") {
		t.Errorf("error %v, want the ClusterRole that it takes", err)
	}
}

// Another deployment's Service is never ours, whatever its name (G06).
func TestFrontend(t *testing.T) {
	const mine = "name: qwen-frontend, namespace: team, labels: {nvidia.com/dynamo-graph-deployment-name: qwen, nvidia.com/dynamo-component-type: frontend}"
	for _, tt := range []struct {
		name, url string
		replace   []string
	}{
		{"by label", "http://any.team.svc:8000", []string{mine, strings.Replace(mine, "qwen-frontend", "any", 1)}},
		{"by rule", "http://qwen-frontend.team.svc:8000", []string{mine, "name: qwen-frontend, namespace: team"}},
		{"another's, named like ours", "http://10.1.0.1:8000", []string{mine, strings.Replace(mine, "deployment-name: qwen", "deployment-name: other", 1)}},
		{"elsewhere", "http://10.1.0.1:8000", []string{mine, strings.Replace(mine, "namespace: team", "namespace: prod", 1)}},
		{"external", "http://10.1.0.1:8000", []string{"{clusterIP: 10.0.0.7,", "{type: ExternalName,"}},
		{"headless beside it", "http://qwen-frontend.team.svc:8000", []string{"deployment-name: other,", "deployment-name: qwen,", "clusterIP: 10.0.0.8", "clusterIP: None"}},
		{"named port", "http://qwen-frontend.team.svc:80", []string{"{name: http, port: 8000}", "{name: http, port: 80}"}},
		{"only port", "http://qwen-frontend.team.svc:9000", []string{", {name: http, port: 8000}", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := open(t, recorded(t, "beta.yaml", tt.replace...))
			d, err := c.Deployment(t.Context(), "team", "qwen")
			if err != nil || d.Frontend.URL() != tt.url {
				t.Errorf("URL %q, want %q; error %v", d.Frontend.URL(), tt.url, err)
			}
		})
	}
}

func TestModelAndRouter(t *testing.T) {
	noStatus := []string{", servedModelName: Qwen/Qwen3-8B", ""}
	for _, tt := range []struct {
		name, model, router string
		replace             []string
	}{
		{"status", "Qwen/Qwen3-8B", "kv", nil},
		{"argument", "Qwen/Qwen3-8B", "kv", noStatus},
		{"served name wins", "q8", "kv", append([]string{"[--model, Qwen/Qwen3-8B]", "[--model, Qwen/Qwen3-8B, --served-model-name=q8]"}, noStatus...)},
		{"script", "q9", "kv", append([]string{"args: [--model, Qwen/Qwen3-8B]", `args: ["exec x --model \"q9\" --tp 1"]`}, noStatus...)},
		{"variable", "", "kv", append([]string{"[--model, Qwen/Qwen3-8B]", "[--model, $(MODEL)]"}, noStatus...)},
		{"reference", "ref", "kv", append([]string{"args: [--model, Qwen/Qwen3-8B]", "args: []", "type: worker\n", "type: worker\n    modelRef: {name: ref}\n"}, noStatus...)},
		{"frontend's argument", "Qwen/Qwen3-8B", "random", []string{`vllm-runtime:1.2.1"}]}}
  - name: VllmDecodeWorker`, `vllm-runtime:1.2.1", args: [--router-mode, random]}]}}
  - name: VllmDecodeWorker`}},
		{"unsaid", "Qwen/Qwen3-8B", "", []string{"DYN_ROUTER_MODE", "OTHER"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := open(t, recorded(t, "beta.yaml", tt.replace...))
			d, err := c.Deployment(t.Context(), "team", "qwen")
			if err != nil || d.Model != tt.model || d.RouterMode != tt.router {
				t.Errorf("model %q, router %q; want %q, %q; error %v", d.Model, d.RouterMode, tt.model, tt.router, err)
			}
		})
	}
}

// An object of any shape is read without a panic, in bounded time.
func FuzzDescribe(f *testing.F) {
	f.Add("spec: {components: [{name: a, type: worker, replicas: 3}]}\nstatus: {conditions: [{type: Ready}]}")
	f.Add("spec: {services: {A: {componentType: worker, extraPodSpec: {mainContainer: {args: [--model]}}}, B: 7}}")
	f.Add("spec: {components: {a: 1}, services: [1]}\nstatus: {components: [1], services: {A: [1]}, observedGeneration: x}")
	f.Add("spec: {components: [{type: prefill, replicas: 1048576, multinode: {nodeCount: 1048576}, podTemplate: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1048576}}}]}}}]}")
	var now atomic.Pointer[kubetest.Cluster]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.Load().ServeHTTP(w, r) }))
	f.Cleanup(s.Close)
	c, err := Open(writeKubeconfig(f, s.URL, "team"), "")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// The same text as a deployment and as one of its pods.
		k, err := kubetest.New("apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeployment\nmetadata: {name: x, namespace: team}\n" + text +
			"\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: team, labels: {nvidia.com/dynamo-graph-deployment-name: x, nvidia.com/dynamo-component: a}}\n" + text)
		if err != nil {
			return
		}
		now.Store(k)
		found, err := c.Discover(t.Context(), "team")
		if err != nil {
			return // the text named another kind
		}
		for _, d := range found {
			if d.GPUs < 0 || (d.GPUs == 0) != (d.GPUsUnknown != "") || d.Ready != (len(d.NotReady) == 0) {
				t.Errorf("%d GPUs (%s), ready %v (%q)", d.GPUs, d.GPUsUnknown, d.Ready, d.NotReady)
			}
			for k, v := range d.Labels {
				if v == "" || len(v) > 2*maxWords+10 || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' }) {
					t.Errorf("label %s=%q", k, v)
				}
			}
		}
	})
}
