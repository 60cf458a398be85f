package kube

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	gpuResource       = "nvidia.com/gpu"
	populateContainer = "populate"
)

func itoa(n int) string { return strconv.Itoa(n) }

func (s DeploySpec) cachePVC() string      { return s.Name + "-model-cache" }
func (s DeploySpec) populateJob() string   { return s.Name + "-model-cache-populate" }
func (s DeploySpec) claimTemplate() string { return s.Name + "-gpu" }

// cacheMade reports whether the deployment has a cache of its own.
func (s DeploySpec) cacheMade() bool { return s.ModelPVC == "" && !s.ModelCache.Off }

// CacheClaim is the volume that the model is downloaded into.
func (s DeploySpec) CacheClaim() map[string]any {
	spec := map[string]any{
		"accessModes": []any{"ReadWriteOnce"},
		"resources":   map[string]any{"requests": map[string]any{"storage": s.ModelCache.Size}},
	}
	if s.ModelCache.StorageClass != "" {
		spec["storageClassName"] = s.ModelCache.StorageClass
	}
	return s.object("v1", "PersistentVolumeClaim", s.cachePVC(), spec)
}

// download is the program of the populate Job. The model comes by environment,
// never as text of the program.
const download = `import os
from huggingface_hub import snapshot_download
print(snapshot_download(os.environ["MODEL"]), flush=True)`

// PopulateJob downloads the model once. It is tried once: a second pod on a
// half-filled volume tells less than the first one's last words.
func (s DeploySpec) PopulateJob() map[string]any {
	vars := []any{env("MODEL", s.Model), env("HF_HOME", cacheMount)}
	if s.ModelCache.TokenSecret != "" {
		vars = append(vars, map[string]any{"name": "HF_TOKEN", "valueFrom": map[string]any{
			"secretKeyRef": map[string]any{"name": s.ModelCache.TokenSecret, "key": s.ModelCache.TokenKey},
		}})
	}
	main := map[string]any{
		"name": populateContainer, "image": s.image(), "command": []any{"python3", "-c", download}, "env": vars,
		"resources":       map[string]any{"requests": map[string]any{"cpu": "100m", "memory": "512Mi"}},
		"securityContext": map[string]any{"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}}},
	}
	pod := s.pod()
	pod["restartPolicy"] = "Never"
	pod["automountServiceAccountToken"] = false
	pod["securityContext"] = map[string]any{"fsGroup": int64(1000), "seccompProfile": map[string]any{"type": "RuntimeDefault"}}
	s.trust(pod, main)
	add(pod, "volumes", map[string]any{"name": cacheVolume, "persistentVolumeClaim": map[string]any{"claimName": s.cachePVC()}})
	add(main, "volumeMounts", map[string]any{"name": cacheVolume, "mountPath": cacheMount})
	pod["containers"] = []any{main}
	template := map[string]any{"spec": pod}
	if labels := s.queueLabels(); len(labels) > 0 {
		template["metadata"] = map[string]any{"labels": labels}
	}
	return s.object("batch/v1", "Job", s.populateJob(), map[string]any{"backoffLimit": int64(0), "template": template})
}

// ClaimTemplate asks dynamic resource allocation for the GPUs of one worker, in
// the version of resource.k8s.io that the cluster serves.
func (s DeploySpec) ClaimTemplate(version string) map[string]any {
	want := map[string]any{"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount", "count": int64(s.GPUsPerWorker)}
	request := map[string]any{"name": claimName}
	if version == "v1beta1" {
		request = want
		request["name"] = claimName
	} else {
		request["exactly"] = want
	}
	return s.object("resource.k8s.io/"+version, "ResourceClaimTemplate", s.claimTemplate(), map[string]any{
		"spec": map[string]any{"devices": map[string]any{"requests": []any{request}}},
	})
}

func (s DeploySpec) object(version, kind, name string, spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": version, "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": s.Namespace}, "spec": spec,
	}
}

const defaultClass = "storageclass.kubernetes.io/is-default-class"

// checkStorageClass finds out before anything is made that a claim would wait
// for ever. Classes are those of the cluster, with whether each is the default.
func (s DeploySpec) checkStorageClass(classes map[string]bool) error {
	var names []string
	for name, isDefault := range classes {
		if isDefault && s.ModelCache.StorageClass == "" || name == s.ModelCache.StorageClass {
			return nil
		}
		names = append(names, name)
	}
	have := "the cluster has none"
	if len(names) > 0 {
		have = "the cluster has " + listed(names)
	}
	way := "or model_cache: {off: true} to let every worker download for itself, or model_pvc with a claim that holds the model"
	if s.ModelCache.StorageClass != "" {
		return fmt.Errorf("the model cache needs StorageClass %s, and %s: name one with model_cache.storage_class, %s", s.ModelCache.StorageClass, have, way)
	}
	return fmt.Errorf("the model cache needs a StorageClass, and no default is set (annotation %s); %s: name one with model_cache.storage_class, %s", defaultClass, have, way)
}

// listed joins up to ten names in order.
func listed(names []string) string {
	slices.Sort(names)
	if len(names) > 10 {
		return strings.Join(names[:10], ", ") + fmt.Sprintf(" and %d more", len(names)-10)
	}
	return strings.Join(names, ", ")
}
