package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/perfsweep/perfsweep/internal/plural"
)

const gpuDeviceClass = "gpu.nvidia.com"

// maxGPUs bounds a count, so that products with it cannot overflow.
const maxGPUs = 1 << 20

// claimVersions of resource.k8s.io, the newest first.
var claimVersions = [...]string{"v1", "v1beta2", "v1beta1"}

// gpuLimits adds up the GPUs of containers. A part of a GPU is none: it is
// named instead.
func gpuLimits(containers []object) (gpus int, part string) {
	for _, c := range containers {
		limits := digMap(c, "resources", "limits")
		n, ok := digInt(limits, gpuResource)
		if !ok {
			n, _ = digInt(c, "resources", "requests", gpuResource)
		}
		gpus += n
		for _, k := range slices.Sorted(maps.Keys(limits)) {
			if strings.HasPrefix(k, "nvidia.com/mig-") || k == gpuResource+".shared" {
				part = clip(k)
			}
		}
	}
	return gpus, part
}

// readGPUs counts the GPUs of all that generates tokens, by the operator's own
// word, else by limits, else by claims; a count that the running pods contradict
// is none.
func (s *survey) readGPUs(ctx context.Context, g *graph) {
	from := map[string]bool{}
	total := 0
	unknown := func(format string, args ...any) {
		if g.GPUsUnknown == "" {
			g.GPUsUnknown = fmt.Sprintf(format, args...)
		}
	}
	for _, p := range g.parts {
		n, source, err := s.gpusOf(ctx, g, p)
		if n > maxGPUs {
			n, err = 0, fmt.Errorf("component %s asks for %s a replica, which no cluster has", p.Name, plural.Of(n, "GPU"))
		}
		p.GPUsPerReplica = n
		switch {
		case err != nil:
			unknown("%v", err)
		case !p.serves() && n*p.Replicas > 0:
			g.Notes = append(g.Notes, fmt.Sprintf("component %s (type %s) has GPUs that are not counted: it is no worker, prefill or decode", p.Name, p.Type))
		case !p.serves() || p.Replicas == 0:
		case n == 0:
			unknown("component %s asks for no GPU", p.Name)
		default:
			from[source] = true
			total += n * p.Replicas
			if held, ok := p.held(); ok && held != n*p.Replicas && (held > 0 || source == "limits") {
				unknown("component %s has %s by its %s, and its running pods have limits of %d", p.Name, plural.Of(n*p.Replicas, "GPU"), source, held)
			}
		}
	}
	switch {
	case total == 0:
		unknown("it has no worker")
	case total > maxGPUs:
		unknown("it asks for %s, which no cluster has", plural.Of(total, "GPU"))
	}
	if g.GPUsUnknown == "" {
		g.GPUs, g.GPUsFrom = total, strings.Join(slices.Sorted(maps.Keys(from)), ", ")
	}
}

// held are the GPUs in the limits of a component's pods, where as many pods
// exist as should.
func (p *part) held() (gpus int, ok bool) {
	if len(p.pods) == 0 || len(p.pods) != p.Replicas*p.perReplica {
		return 0, false
	}
	for _, pod := range p.pods {
		n, _ := gpuLimits(digMaps(pod, "spec", "containers"))
		gpus += n
	}
	return gpus, true
}

// gpusOf are the GPUs of one replica, and who says so.
func (s *survey) gpusOf(ctx context.Context, g *graph, p *part) (n int, source string, err error) {
	if p.slices != "" {
		return 0, "", fmt.Errorf("component %s runs on parts of GPUs (%s)", p.Name, p.slices)
	}
	if n, ok := digInt(g.status[p.Name], "gpusPerReplica"); ok && n > 0 {
		return n, "status", nil
	}
	claimed := 0
	for _, c := range p.claims {
		n, err := s.claimed(ctx, g.Namespace, c)
		if err != nil {
			return 0, "", fmt.Errorf("component %s: %w", p.Name, err)
		}
		claimed += n
	}
	switch {
	case p.limit > 0 && claimed > 0:
		return 0, "", fmt.Errorf("component %s asks for GPUs twice: %d by limits and %d by DRA claims", p.Name, p.limit, claimed)
	case claimed > 0:
		return claimed * p.perReplica, "DRA claims", nil
	}
	return p.limit * p.perReplica, "limits", nil
}

// claimed counts the GPUs of one claim. What asks for all devices, or for the
// first of several kinds, has no number.
func (s *survey) claimed(ctx context.Context, ns string, c claim) (int, error) {
	if c.template == "" {
		return 0, fmt.Errorf("its replicas share the claim %s, whose GPUs cannot be divided among them", c.shared)
	}
	t, err := s.claimTemplate(ctx, ns, c.template)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, r := range digMaps(t, "spec", "spec", "devices", "requests") {
		exact := digMap(r, "exactly")
		if exact == nil {
			exact = r // before v1beta2
		}
		class := digText(exact, "deviceClassName")
		n, ok := digInt(exact, "count")
		switch mode := digText(exact, "allocationMode"); {
		case class == "" || mode != "" && mode != "ExactCount":
			return 0, fmt.Errorf("the claim template %s asks for no certain number of GPUs (%s)", c.template, digText(r, "name"))
		case class != gpuDeviceClass && strings.HasSuffix(class, ".nvidia.com") && strings.HasPrefix(class, "mig"):
			return 0, fmt.Errorf("the claim template %s asks for parts of GPUs (%s)", c.template, class)
		case class != gpuDeviceClass:
			continue // a network card, say
		case !ok:
			n = 1
		}
		total += n
	}
	return total, nil
}

func (s *survey) claimTemplate(ctx context.Context, ns, name string) (object, error) {
	var err error
	for _, version := range claimVersions {
		gvr := schema.GroupVersionResource{Group: "resource.k8s.io", Version: version, Resource: "resourceclaimtemplates"}
		u, e := s.c.resource(gvr, ns).Get(ctx, name, metav1.GetOptions{})
		if e == nil {
			return u.Object, nil
		}
		explained := explain(e, "get", resourceName(gvr), ns, name)
		if err == nil || !apierrors.IsNotFound(e) { // an older version that is not served says less
			err = explained
		}
		if !apierrors.IsNotFound(e) {
			break
		}
	}
	return nil, err
}

// readNodes finds out on which GPUs the workers run, by the label that GPU
// feature discovery sets. Products are compared as a whole: an "H100" and an
// "H100 NVL" are two. Whoever may not read nodes does not know.
func (s *survey) readNodes(ctx context.Context, g *graph) {
	products, drivers := map[string]bool{}, map[string]bool{}
	known := true
	for _, p := range g.parts {
		if !p.serves() {
			continue
		}
		for _, name := range p.Nodes {
			node, err := s.node(ctx, name)
			if err != nil {
				g.note(err)
				known = false
				break // one refusal stands for all
			}
			product := digText(node, "metadata", "labels", "nvidia.com/gpu.product")
			if product == "" {
				known = false
				g.note(fmt.Errorf("node %s has no label nvidia.com/gpu.product, which GPU feature discovery sets", name))
				continue
			}
			products[product] = true
			drivers[digText(node, "metadata", "labels", "nvidia.com/cuda.driver-version.full")] = true
		}
	}
	switch {
	case len(products) > 1:
		g.Mixed = slices.Sorted(maps.Keys(products))
	case known:
		g.GPUProduct, g.Driver = only(products), only(drivers)
	}
	for _, product := range slices.Sorted(maps.Keys(products)) {
		if why := notWhole(product); why != "" && g.GPUsUnknown == "" {
			g.GPUs, g.GPUsFrom, g.GPUsUnknown = 0, "", why
		}
	}
}

// notWhole says why the devices of a product are no GPUs of their own. GPU feature
// discovery marks the label; the resource that pods ask for can be nvidia.com/gpu all
// the same (the MIG strategy "single", time slices that are not renamed).
func notWhole(product string) string {
	whole, shared := strings.CutSuffix(product, "-SHARED")
	if _, part, ok := strings.Cut(whole, "-MIG-"); ok {
		return fmt.Sprintf("its devices are parts of GPUs (MIG %s of %s)", part, strings.TrimSuffix(whole, "-MIG-"+part))
	}
	if shared {
		return "its " + whole + " are shared in time with other pods"
	}
	return ""
}
