//go:build kube

package kube

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// graph is a DynamoGraphDeployment with pods that play its frontend, which is
// the simulator, and its workers. The test plays the operator.
type graph struct {
	name    string
	version string // v1beta1 unless said
	preset  string // of the simulator; its GPUs should be those of the workers
	workers int
	gpus    int // of each worker
}

// up creates the deployment and waits until its pods run, and says so in its
// status.
func (g graph) up(t *testing.T, ns string) {
	t.Helper()
	apply(t, ns, g.object()+g.frontend()+g.worker())
	kubectl(t, "-n", ns, "rollout", "status", "--timeout=90s", "deployment/"+g.name+"-frontend")
	kubectl(t, "-n", ns, "rollout", "status", "--timeout=90s", "deployment/"+g.name+"-worker")
	// Ready pods come before the endpoints of their Service.
	await(t, time.Minute, "an answer of the Service", func() bool {
		_, err := shared.try("", "get", "--raw", "/api/v1/namespaces/"+ns+"/services/"+g.name+"-frontend:8000/proxy/v1/models")
		return err == nil
	})
	g.setStatus(t, ns, g.workers, true)
}

// object is the deployment in one of its versions.
func (g graph) object() string {
	if g.version == "v1alpha1" {
		return fmt.Sprintf(`
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: %s}
spec:
  services:
    Frontend: {componentType: frontend, replicas: 1, envs: [{name: DYN_ROUTER_MODE, value: round-robin}]}
    Worker:
      componentType: worker
      replicas: %d
      resources: {limits: {gpu: "%d"}}
      extraPodSpec: {mainContainer: {image: %q, args: [--model, simulated/llama]}}
`, g.name, g.workers, g.gpus, shared.image)
	}
	return fmt.Sprintf(`
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: %s}
spec:
  components:
  - name: Frontend
    type: frontend
    replicas: 1
    podTemplate: {spec: {containers: [{name: main, image: %[3]q, env: [{name: DYN_ROUTER_MODE, value: round-robin}]}]}}
  - name: Worker
    type: worker
    replicas: %[2]d
    podTemplate: {spec: {containers: [{name: main, image: %[3]q, args: [--model, simulated/llama], resources: {limits: {nvidia.com/gpu: "%[4]d"}}}]}}
`, g.name, g.workers, shared.image, g.gpus)
}

// frontend is what the operator makes of the frontend: pods and a Service.
func (g graph) frontend() string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Service
metadata: {name: %[1]s-frontend, labels: %[2]s}
spec: {selector: {app: %[1]s-frontend}, ports: [{name: http, port: 8000}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s-frontend}
spec:
  selector: {matchLabels: {app: %[1]s-frontend}}
  template:
    metadata: {labels: %[3]s}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: main, image: %[4]q, args: [simulate, %[5]q, --listen, ":8000"], ports: [{containerPort: 8000}], readinessProbe: {httpGet: {port: 8000, path: /v1/models}, periodSeconds: 1}}
`, g.name, g.labels("frontend"), strings.TrimSuffix(g.labels("frontend"), "}")+", app: "+g.name+"-frontend}", shared.image, g.preset)
}

// worker is what the operator makes of the workers. They only hold their GPUs.
func (g graph) worker() string {
	return fmt.Sprintf(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s-worker}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s-worker}}
  template:
    metadata: {labels: %[3]s}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: main, image: %[4]q, args: [simulate, flat, --listen, ":9090"], resources: {limits: {nvidia.com/gpu: "%[5]d"}}}
`, g.name, g.workers, strings.TrimSuffix(g.labels("worker"), "}")+", app: "+g.name+"-worker}", shared.image, g.gpus)
}

func (g graph) labels(component string) string {
	return fmt.Sprintf("{nvidia.com/dynamo-graph-deployment-name: %s, nvidia.com/dynamo-component: %s, nvidia.com/dynamo-component-type: %s}",
		g.name, strings.ToUpper(component[:1])+component[1:], component)
}

// setStatus is the operator's word on how many workers are ready.
func (g graph) setStatus(t *testing.T, ns string, ready int, allReady bool) {
	t.Helper()
	list, state, word := "components", "successful", "True"
	if g.version == "v1alpha1" {
		list = "services"
	}
	if !allReady {
		state, word = "pending", "False"
	}
	kubectl(t, "-n", ns, "patch", "dgd", g.name, "--subresource=status", "--type=merge", "-p", fmt.Sprintf(
		`{"status":{"observedGeneration":1,"state":%q,"conditions":[{"type":"Ready","status":%q,"reason":"some_resources_are_not_ready","message":"workers are loading the model"}],
		%q:{"Frontend":{"componentKind":"Deployment","replicas":1,"readyReplicas":1},"Worker":{"componentKind":"Deployment","replicas":%d,"readyReplicas":%d}}}}`,
		state, word, list, g.workers, ready))
}
