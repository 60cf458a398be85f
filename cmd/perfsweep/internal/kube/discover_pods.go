package kube

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// assign gives each component the pods that carry its labels, and reads from
// them which image runs and where.
func (g *graph) assign(pods []object) {
	for _, pod := range pods {
		if digText(pod, "metadata", "labels", labelGraph) != g.Name || !stays(pod) {
			continue
		}
		if p := g.partOf(pod); p != nil {
			p.pods = append(p.pods, pod)
		}
	}
	for _, p := range g.parts {
		images := map[string]bool{}
		for _, pod := range p.pods {
			if podReady(pod) {
				p.Ready++
			}
			if n := digText(pod, "spec", "nodeName"); n != "" && !slices.Contains(p.Nodes, n) {
				p.Nodes = append(p.Nodes, n)
			}
			image, digest := imageOf(pod)
			images[digest] = true
			if p.Image == "" {
				p.Image = image
			}
		}
		slices.Sort(p.Nodes)
		p.ImageID = only(images)
	}
}

// partOf finds a pod's component, by its name or, where only one has it, by its
// type.
func (g *graph) partOf(pod object) *part {
	name, kind := digText(pod, "metadata", "labels", labelComponent), digText(pod, "metadata", "labels", labelType)
	var byType []*part
	for _, p := range g.parts {
		if name != "" && strings.EqualFold(p.Name, name) {
			return p
		}
		if kind != "" && p.Type == kind {
			byType = append(byType, p)
		}
	}
	if len(byType) == 1 && name == "" {
		return byType[0]
	}
	return nil
}

// stays reports whether a pod is meant to run on.
func stays(pod object) bool {
	phase := digText(pod, "status", "phase")
	return digText(pod, "metadata", "deletionTimestamp") == "" && phase != "Succeeded" && phase != "Failed"
}

func podReady(pod object) bool {
	for _, c := range digMaps(pod, "status", "conditions") {
		if digText(c, "type") == "Ready" {
			return digText(c, "status") == "True"
		}
	}
	return false
}

// imageOf is a pod's image and its digest, "" before it runs.
func imageOf(pod object) (image, digest string) {
	containers := digMaps(pod, "spec", "containers")
	main := named(containers, "main")
	if main == nil && len(containers) > 0 {
		main = containers[0]
	}
	id := digText(named(digMaps(pod, "status", "containerStatuses"), digText(main, "name")), "imageID")
	if i := strings.LastIndex(id, "sha256:"); i >= 0 { // docker-pullable://repository@sha256:…
		digest = id[i:]
	}
	return digText(main, "image"), digest
}

// trouble says why a pod is not ready.
func trouble(pod object) string {
	v, err := view[podView](unstructured.Unstructured{Object: pod})
	if err == nil {
		if s, _ := v.podTrouble(); s.reason != "" {
			return s.reason
		}
	}
	return fmt.Sprintf("pod %s is not ready", digText(pod, "metadata", "name"))
}
