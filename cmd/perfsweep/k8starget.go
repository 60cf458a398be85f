package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
)

// labelDisaggregated holds the ratio of prefill to decode workers, where they
// are apart.
const labelDisaggregated = "disaggregated"

// The labels of the GPU, of the checkpoint and of the one node of the workers.
const (
	labelNode      = "node"
	labelProduct   = "gpu_product"
	labelPrecision = "precision"
)

// resolve opens the target that the flags name. What a cluster knows of it
// answers for the flags that were not given.
func (c *campaign) resolve(ctx context.Context) (*target, error) {
	spec, ok := strings.CutPrefix(c.flags.target, "k8s:")
	if !ok {
		for _, f := range kubeFlagNames {
			if c.changed(f) {
				return nil, badInputf("--%s is for k8s: targets", f)
			}
		}
		return c.open(c.flags.target, c.flags.gpus)
	}
	namespace, name, qualified := strings.Cut(spec, "/")
	if !qualified {
		namespace, name = "", spec
	}
	if qualified && !kubeName.MatchString(namespace) || !kubeName.MatchString(name) {
		return nil, badInputf("--target k8s:%.200q: use k8s:NAMESPACE/NAME, or k8s:NAME in the context's namespace", spec)
	}
	cluster, err := c.flags.kube.open()
	if err != nil {
		return nil, err
	}
	d, err := cluster.Deployment(ctx, cmp.Or(namespace, cluster.Namespace()), name)
	if err != nil {
		return nil, kubeError(err)
	}
	t, err := c.inCluster(cluster, d)
	if err != nil {
		return nil, err
	}
	if id := deploymentID(d); id != "" && !c.changed("deployment") {
		c.flags.deployment, c.named = id, true
	}
	return t, nil
}

// inCluster makes a target of a deployment, or says why it cannot be measured.
func (c *campaign) inCluster(cluster *kube.Client, d kube.Deployment) (*target, error) {
	t := &target{public: "k8s:" + d.Namespace + "/" + d.Name, gpus: d.GPUs, labels: d.Labels}
	for _, n := range d.Notes {
		if !slices.Contains(c.noted, n) {
			c.say("note: %s: %s", t.public, n)
		}
	}
	if err := c.measurable(t.public, d); err != nil {
		return nil, err
	}
	switch {
	case d.GPUs == 0 && c.flags.gpus == 0:
		return nil, badInputf("--target %s needs --gpus N, because the cluster does not tell how many GPUs it has: %s", t.public, d.GPUsUnknown)
	case d.GPUs == 0:
		c.say("note: %s: %s as --gpus says; the cluster does not tell (%s)", t.public, plural.Of(c.flags.gpus, "GPU"), d.GPUsUnknown)
		t.gpus = c.flags.gpus
	case c.flags.gpus > 0 && c.flags.gpus != d.GPUs:
		return nil, badInputf("--gpus %d contradicts --target %s, which has %d (by %s); drop --gpus", c.flags.gpus, t.public, d.GPUs, d.GPUsFrom)
	}
	if p := c.flags.gpuProduct; p != "" && d.GPUProduct != "" && p != d.GPUProduct {
		return nil, badInputf("--gpu-product %s contradicts --target %s, whose nodes are labelled %s; drop --gpu-product", p, t.public, d.GPUProduct)
	}
	if c.model == "" && d.ModelServed {
		c.model, c.modelFrom = d.Model, "as the cluster says"
	}
	t.labels["routing_mode"] = "dynamo-router"
	if c.precision != "" {
		t.labels[labelPrecision] = c.precision
	}
	var err error
	if t.baseURL, err = loadgen.ParseBaseURL(d.Frontend.URL()); err != nil {
		return nil, fmt.Errorf("the address of %s: %w", t.public, err)
	}
	if c.fromPods(cluster) {
		t.place = &place{cluster: cluster, namespace: d.Namespace, name: d.Name, nodes: nodesOf(d)}
	}
	return t, nil
}

// fromPods reports whether pods make the load. From inside, this process reaches
// the frontend itself; pods are started where they are asked for.
func (c *campaign) fromPods(cluster *kube.Client) bool {
	return !cluster.InCluster() || slices.ContainsFunc(loadFlagNames[:], c.changed)
}

// measurable refuses what would give numbers that mean something else.
func (c *campaign) measurable(target string, d kube.Deployment) error {
	refuse := func(format string, args ...any) error {
		return &codeError{exitInconclusive, fmt.Errorf(format, args...)}
	}
	switch {
	case !d.Ready:
		return fmt.Errorf("%s is not ready: %s; measure it when it is (perfsweep discover -n %s)", target, strings.Join(d.NotReady, "; "), d.Namespace)
	case d.Gateway:
		return badInputf("requests to %s are routed by an endpoint picker, which its frontend's Service goes around: name the gateway's URL with --target http://…", target)
	case len(d.Autoscalers) > 0:
		return refuse("%s may change its number of workers while it is measured, by %s: freeze it first (as many replicas at least as at most, pause the ScaledObject, take the scaling adapter off, scale the planner to 0)", target, strings.Join(d.Autoscalers, ", "))
	case len(d.Mixed) > 0:
		return refuse("the workers of %s run on different GPUs (%s), whose mean is nobody's: pin them to nodes of one product", target, strings.Join(d.Mixed, ", "))
	case d.Disaggregated && c.overlay:
		return refuse("%s is disaggregated (%s), and AICR's gate is for workers that do both: perfsweep sweep measures its knee, nothing is calibrated from it", target, d.Ratio)
	}
	return nil
}

// deploymentID names a deployment as it is: one that is made anew, or changed,
// is another.
func deploymentID(d kube.Deployment) string {
	if d.UID == "" {
		return ""
	}
	return fmt.Sprintf("%s/%d", d.UID, d.Generation)
}

// nodesOf are the nodes on which any part of a deployment runs.
func nodesOf(d kube.Deployment) []string {
	var out []string
	for _, p := range d.Components {
		out = append(out, p.Nodes...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// labelled adds what the cluster knows of a target to what the user states. The
// user's word stands: it may be that of the journals to compare with.
func (c *campaign) labelled(t *target, stated map[string]string) map[string]string {
	if len(t.labels) == 0 {
		return stated
	}
	out := maps.Clone(t.labels)
	for _, k := range slices.Sorted(maps.Keys(stated)) {
		if known, ok := out[k]; ok && known != stated[k] {
			c.say("note: --label %s=%s stands for %q, which the cluster says", k, stated[k], known)
		}
		out[k] = stated[k]
	}
	if out[labelProduct] == "" {
		c.say("note: the GPU of %s is not known: state it with --gpu-product NAME", t.public)
	}
	return out
}

// refuseDisaggregated keeps a gate from a journal that was measured on separate
// prefill and decode workers.
func refuseDisaggregated(p *calibrate.Proposal, labels map[string]string) {
	ratio := labels[labelDisaggregated]
	if ratio == "" {
		return
	}
	p.Writable = false
	p.Reasons = append([]string{"measured on a disaggregated deployment (" + ratio + "), and AICR's gate is for workers that do both: nothing is written"}, p.Reasons...)
}
