package kube

import (
	"fmt"
	"maps"
	"slices"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// The API of a DynamoGraphDeployment, in both of its versions.
const (
	dgdKind  = "DynamoGraphDeployment"
	v1beta1  = "v1beta1"
	v1alpha1 = "v1alpha1"
)

// Where things are inside the pods.
const (
	cacheMount  = "/model-cache"
	caMount     = "/etc/perfsweep-ca"
	cacheVolume = "model-cache"
	caVolume    = "ca-bundle"
	claimName   = "gpu"
)

// component is one part of the deployment before it takes a version's shape.
type component struct {
	name, kind   string
	replicas     int
	sharedMemory string
	pod          map[string]any // a pod's spec without its container
	main         map[string]any // its container, called main
	gpus         int            // by limit
}

// DGD is the deployment as an object of a version of the API.
func (s DeploySpec) DGD(version string) map[string]any {
	meta := map[string]any{"name": s.Name, "namespace": s.Namespace}
	if s.KAIQueue != "" {
		meta["annotations"] = map[string]any{"nvidia.com/kai-scheduler-queue": s.KAIQueue}
	}
	if labels := s.queueLabels(); len(labels) > 0 {
		meta["labels"] = labels
	}
	spec := map[string]any{}
	parts := []component{s.frontend(), s.worker()}
	if version == v1alpha1 {
		services := map[string]any{}
		for _, c := range parts {
			services[c.name] = c.alpha(s.queueLabels())
		}
		spec["services"] = services
		spec["backendFramework"] = "vllm"
	} else {
		var list []any
		for _, c := range parts {
			list = append(list, c.beta(s.queueLabels()))
		}
		spec["components"] = list
		spec["backendFramework"] = "vllm"
	}
	return map[string]any{"apiVersion": dynamoGroup + "/" + version, "kind": dgdKind, "metadata": meta, "spec": spec}
}

// Objects are the deployment and what its pods are given GPUs by, in the newest
// versions: for whoever compares it with another one.
func (s DeploySpec) Objects() []map[string]any {
	out := []map[string]any{s.DGD(v1beta1)}
	if s.GPUAccess == DRA {
		out = append(out, s.ClaimTemplate("v1"))
	}
	return out
}

// Makes says what is made in the namespace, for a reader.
func (s DeploySpec) Makes() string {
	out := fmt.Sprintf("DynamoGraphDeployment %s of %s with %s each, and %s, image %s",
		s.Name, plural.Of(s.Workers(), "worker"), plural.Of(s.GPUsPerWorker, "GPU"), plural.Of(s.Frontends, "frontend"), s.image())
	if s.GPUAccess == DRA {
		out += "; a ResourceClaimTemplate"
	}
	if s.cacheMade() {
		out += fmt.Sprintf("; a PersistentVolumeClaim of %s and a Job that downloads %s into it", s.ModelCache.Size, s.Model)
	}
	return out + "; a Lease for as long as it lasts"
}

// queueLabels put pods into a queue.
func (s DeploySpec) queueLabels() map[string]any {
	switch {
	case s.KAIQueue != "":
		return map[string]any{"kai.scheduler/queue": s.KAIQueue}
	case s.KueueQueue != "":
		return map[string]any{"kueue.x-k8s.io/queue-name": s.KueueQueue}
	}
	return nil
}

func (s DeploySpec) frontend() component {
	c := component{name: "Frontend", kind: "frontend", replicas: s.Frontends, pod: s.pod(), main: map[string]any{
		"image": s.image(),
		"env":   []any{env("SERVED_MODEL_NAME", s.Model), env("DYN_ROUTER_MODE", s.RouterMode)},
	}}
	s.trust(c.pod, c.main)
	if s.ModelPVC != "" { // it reads the tokenizer, and there is no network to get it from
		s.cached(c.pod, c.main)
	}
	return c
}

// kvEvents is what AICR's worker publishes for a router that follows caches.
const kvEvents = `{"publisher":"zmq","topic":"kv-events","endpoint":"tcp://*:5557","enable_kv_cache_events":true}`

func (s DeploySpec) worker() component {
	args := []any{"--model", s.Model, "--kv-events-config", kvEvents}
	if s.GPUsPerWorker > 1 {
		args = append(args, "--tensor-parallel-size", itoa(s.GPUsPerWorker))
	}
	c := component{name: "VllmDecodeWorker", kind: "worker", replicas: s.Workers(), sharedMemory: "2Gi", pod: s.pod(), main: map[string]any{
		"image":   s.image(),
		"command": []any{"python3", "-m", "dynamo.vllm"},
		"args":    args,
	}}
	s.trust(c.pod, c.main)
	if s.ModelPVC != "" || !s.ModelCache.Off {
		s.cached(c.pod, c.main)
	}
	if s.GPUAccess == DRA {
		c.pod["resourceClaims"] = []any{map[string]any{"name": claimName, "resourceClaimTemplateName": s.claimTemplate()}}
		c.main["resources"] = map[string]any{"claims": []any{map[string]any{"name": claimName}}}
	} else {
		c.gpus = s.GPUsPerWorker
	}
	return c
}

// pod is what all pods share.
func (s DeploySpec) pod() map[string]any {
	p := map[string]any{}
	place(p, s.NodeSelector, s.Tolerations, s.ImagePullSecrets)
	if s.Scheduler != "" {
		p["schedulerName"] = s.Scheduler
	}
	return p
}

// place says in a pod's spec where it may run and with which Secrets its images
// are pulled; what is empty is left out.
func place(pod map[string]any, nodeSelector map[string]string, tolerations []Toleration, pullSecrets []string) {
	if len(nodeSelector) > 0 {
		pod["nodeSelector"] = asAny(nodeSelector)
	}
	var list, refs []any
	for _, t := range tolerations {
		list = append(list, t.object())
	}
	if len(list) > 0 {
		pod["tolerations"] = list
	}
	for _, name := range pullSecrets {
		refs = append(refs, map[string]any{"name": name})
	}
	if len(refs) > 0 {
		pod["imagePullSecrets"] = refs
	}
}

func (t Toleration) object() map[string]any {
	m := map[string]any{"operator": "Exists"}
	if t.Value != "" {
		m["operator"], m["value"] = "Equal", t.Value
	}
	if t.Key != "" {
		m["key"] = t.Key
	}
	if t.Effect != "" {
		m["effect"] = t.Effect
	}
	return m
}

// trust adds the certificates to what verifies servers.
func (s DeploySpec) trust(pod, main map[string]any) {
	if s.CABundle.ConfigMap == "" {
		return
	}
	file := caMount + "/" + s.CABundle.Key
	volume(pod, main, caVolume, caMount, map[string]any{"configMap": map[string]any{"name": s.CABundle.ConfigMap}})
	add(main, "env", env("SSL_CERT_FILE", file), env("REQUESTS_CA_BUNDLE", file))
}

// cached lets a pod read the model from the volume, and from nowhere else.
func (s DeploySpec) cached(pod, main map[string]any) {
	claim := s.ModelPVC
	if claim == "" {
		claim = s.cachePVC()
	}
	volume(pod, main, cacheVolume, cacheMount, map[string]any{"persistentVolumeClaim": map[string]any{"claimName": claim, "readOnly": true}})
	add(main, "env", env("HF_HOME", cacheMount), env("HF_HUB_OFFLINE", "1"))
}

// volume mounts a source, to be read only.
func volume(pod, main map[string]any, name, path string, source map[string]any) {
	source = maps.Clone(source)
	source["name"] = name
	add(pod, "volumes", source)
	add(main, "volumeMounts", map[string]any{"name": name, "mountPath": path, "readOnly": true})
}

func add(m map[string]any, key string, items ...any) {
	have, _ := m[key].([]any)
	m[key] = append(slices.Clone(have), items...)
}

func env(name, value string) map[string]any { return map[string]any{"name": name, "value": value} }

// beta is the component in the list of v1beta1: a pod template with a container
// that is called main.
func (c component) beta(labels map[string]any) map[string]any {
	main := maps.Clone(c.main)
	main["name"] = "main"
	if c.gpus > 0 {
		main["resources"] = map[string]any{"limits": map[string]any{gpuResource: itoa(c.gpus)}}
	}
	pod := maps.Clone(c.pod)
	pod["containers"] = []any{main}
	template := map[string]any{"spec": pod}
	if len(labels) > 0 {
		template["metadata"] = map[string]any{"labels": labels}
	}
	out := map[string]any{"name": c.name, "type": c.kind, "replicas": int64(c.replicas), "podTemplate": template}
	if c.sharedMemory != "" {
		out["sharedMemorySize"] = c.sharedMemory
	}
	return out
}

// alpha is the component in the map of v1alpha1.
func (c component) alpha(labels map[string]any) map[string]any {
	main, extra := maps.Clone(c.main), maps.Clone(c.pod)
	out := map[string]any{"componentType": c.kind, "replicas": int64(c.replicas)}
	if c.gpus > 0 {
		out["resources"] = map[string]any{"limits": map[string]any{"gpu": itoa(c.gpus)}}
	}
	if envs, ok := main["env"]; ok {
		out["envs"] = envs
		delete(main, "env")
	}
	extra["mainContainer"] = main
	out["extraPodSpec"] = extra
	if c.sharedMemory != "" {
		out["sharedMemory"] = map[string]any{"size": c.sharedMemory}
	}
	if len(labels) > 0 {
		out["extraPodMetadata"] = map[string]any{"labels": labels}
	}
	return out
}
