package kube

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Deployment is one DynamoGraphDeployment, whatever its API version and the age
// of its operator.
type Deployment struct {
	Namespace, Name, UID, APIVersion string
	Generation                       int64

	Ready    bool
	NotReady []string // why not

	Model       string // "" where unknown
	ModelServed bool   // Model is the name that is served, not a path or a checkpoint's
	RouterMode  string // "" where unknown
	Gateway     bool   // an endpoint picker routes, in front of the frontend

	Frontend   Service
	Components []Component

	GPUs        int    // of all workers; 0 where unknown
	GPUsFrom    string // "status", "limits", "DRA claims", or several of them
	GPUsUnknown string // why GPUs is 0
	GPUProduct  string // the nodes' label, "" where unknown or mixed
	Mixed       []string
	Driver      string

	Disaggregated bool
	Ratio         string   // "1 prefill : 3 decode" workers
	Autoscalers   []string // what may change the number of workers while it is measured

	Labels map[string]string // for the fingerprint
	Notes  []string          // what could not be read, and what to do
}

// Service is where a deployment takes requests.
type Service struct {
	Name, Namespace string
	Port            int
	PodIP           string // instead of a Service, where a frontend has none
}

// URL is the address inside the cluster, "" where there is none.
func (s Service) URL() string {
	switch {
	case s.PodIP != "":
		return "http://" + net.JoinHostPort(s.PodIP, strconv.Itoa(s.Port))
	case s.Name != "":
		return fmt.Sprintf("http://%s.%s.svc:%d", s.Name, s.Namespace, s.Port)
	}
	return ""
}

// Component is one part of a deployment: replicas of one kind of pod.
type Component struct {
	Name, Type      string // frontend, worker, prefill, decode, planner, epp, …
	Replicas, Ready int
	GPUsPerReplica  int
	Image           string
	ImageID         string // the digest that the pods run, "" where unknown
	Nodes           []string
}

// serves reports whether a component generates tokens.
func (c Component) serves() bool {
	return c.Type == "worker" || c.Type == "prefill" || c.Type == "decode"
}

// surveyLimit bounds how long a cluster may take to answer.
const surveyLimit = time.Minute

// Discover describes the deployments of a namespace; of all of them where it is
// empty.
func (c *Client) Discover(ctx context.Context, namespace string) ([]Deployment, error) {
	ctx, cancel := context.WithTimeout(ctx, surveyLimit)
	defer cancel()
	s, err := c.survey(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.graphs(ctx, namespace)
	if err != nil {
		return nil, err
	}
	var out []Deployment
	for _, o := range found {
		d, err := s.describe(ctx, o)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Deployment) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return out, nil
}

// Deployment describes one deployment, of this namespace and no other.
func (c *Client) Deployment(ctx context.Context, namespace, name string) (Deployment, error) {
	ctx, cancel := context.WithTimeout(ctx, surveyLimit)
	defer cancel()
	s, err := c.survey(ctx)
	if err != nil {
		return Deployment{}, err
	}
	o, err := s.graph(ctx, namespace, name)
	if apierrors.IsNotFound(err) {
		others := "none"
		if list, err := s.graphs(ctx, namespace); err == nil && len(list) > 0 {
			byName := map[string]object{}
			for _, o := range list {
				byName[digText(o, "metadata", "name")] = o
			}
			others = names(byName)
		} else if err != nil {
			others = "some that may not be listed"
		}
		return Deployment{}, inputf("namespace %s has no DynamoGraphDeployment %s; it has %s (perfsweep discover -A looks in all namespaces)", clip(namespace), clip(name), others)
	}
	if err != nil {
		return Deployment{}, err
	}
	return s.describe(ctx, o)
}

// describe puts a deployment together from what the cluster says of it.
func (s *survey) describe(ctx context.Context, o object) (Deployment, error) {
	d := Deployment{
		Namespace: digText(o, "metadata", "namespace"), Name: digText(o, "metadata", "name"),
		UID: digText(o, "metadata", "uid"), APIVersion: digText(o, "apiVersion"),
	}
	if n, ok := digInt(o, "metadata", "generation"); ok {
		d.Generation = int64(n)
	}
	g := &graph{Deployment: &d, object: o, parts: parseComponents(o), status: statusOf(o)}
	pods, err := s.list(ctx, podKind, d.Namespace, labelGraph)
	g.podsKnown = err == nil
	g.note(err)
	g.assign(pods)
	s.readFrontend(ctx, g)
	s.readGPUs(ctx, g)
	s.readNodes(ctx, g)
	s.readAutoscalers(ctx, g)
	s.readVersions(ctx, g)
	if err := ctx.Err(); err != nil {
		return d, explain(err, "get", resourceName(graphKind), d.Namespace, d.Name)
	}
	g.readModel()
	g.readReadiness()
	for _, p := range g.parts {
		d.Components = append(d.Components, p.Component)
	}
	d.Ratio, d.Disaggregated = ratio(d.Components)
	d.Gateway = slices.ContainsFunc(d.Components, func(c Component) bool { return c.Type == "epp" })
	d.Labels = d.fingerprint()
	return d, nil
}

// ratio tells prefill from decode workers.
func ratio(components []Component) (text string, disaggregated bool) {
	n := map[string]int{}
	for _, c := range components {
		n[c.Type] += c.Replicas
	}
	if n["prefill"] == 0 {
		return "", false
	}
	// Where only prefill workers are marked, the others decode.
	return fmt.Sprintf("%d prefill : %d decode", n["prefill"], n["decode"]+n["worker"]), true
}

// fingerprint are the labels of a measurement that the cluster can state.
func (d *Deployment) fingerprint() map[string]string {
	out := map[string]string{}
	set := func(k, v string) {
		if v != "" {
			out[k] = v
		}
	}
	var workers, frontends int
	perWorker, images, nodes := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range d.Components {
		switch {
		case c.Type == "frontend":
			frontends += c.Replicas
		case c.serves():
			workers += c.Replicas
			perWorker[strconv.Itoa(c.GPUsPerReplica)] = true
			image := c.Image
			if c.ImageID != "" {
				image += "@" + c.ImageID
			}
			images[image] = true
			for _, n := range c.Nodes {
				nodes[n] = true
			}
		}
	}
	if workers > 0 && !d.Disaggregated {
		set("workers", strconv.Itoa(workers))
	}
	if frontends > 0 {
		set("frontends", strconv.Itoa(frontends))
	}
	if d.GPUs > 0 {
		set("gpus_per_worker", only(perWorker))
	}
	set("image", only(images))
	set("node", only(nodes))
	set("gpu_product", d.GPUProduct)
	set("driver", d.Driver)
	set("precision", precisionOf(d.Model))
	set("router_mode", d.RouterMode)
	if d.Disaggregated {
		set("disaggregated", d.Ratio)
	}
	return out
}

// only is the key of a map that has just one.
func only(m map[string]bool) string {
	if len(m) != 1 {
		return ""
	}
	for k := range m {
		return k
	}
	return ""
}
