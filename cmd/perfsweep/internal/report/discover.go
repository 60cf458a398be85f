package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube"
)

// Discovery is what was found in a cluster; Namespace is empty for all.
type Discovery struct {
	Namespace   string
	Deployments []kube.Deployment
}

type discoveryDoc struct {
	SchemaVersion int             `json:"schema_version"`
	Namespace     string          `json:"namespace,omitempty"`
	Deployments   []deploymentDoc `json:"deployments"`
}

type deploymentDoc struct {
	Namespace     string            `json:"namespace"`
	Name          string            `json:"name"`
	Target        string            `json:"target"`
	UID           string            `json:"uid,omitempty"`
	Generation    int64             `json:"generation,omitempty"`
	APIVersion    string            `json:"api_version"`
	Ready         bool              `json:"ready"`
	NotReady      []string          `json:"not_ready,omitempty"`
	Model         string            `json:"model,omitempty"`
	RouterMode    string            `json:"router_mode,omitempty"`
	Gateway       bool              `json:"gateway,omitempty"`
	URL           string            `json:"url,omitempty"`
	GPUs          int               `json:"gpus,omitempty"`
	GPUsFrom      string            `json:"gpus_from,omitempty"`
	GPUsUnknown   string            `json:"gpus_unknown,omitempty"`
	GPUProduct    string            `json:"gpu_product,omitempty"`
	Mixed         []string          `json:"gpu_products_mixed,omitempty"`
	Driver        string            `json:"driver,omitempty"`
	Disaggregated bool              `json:"disaggregated"`
	Ratio         string            `json:"ratio,omitempty"`
	Autoscalers   []string          `json:"autoscalers"`
	Components    []componentDoc    `json:"components"`
	Labels        map[string]string `json:"labels"`
	Notes         []string          `json:"notes"`
}

type componentDoc struct {
	Name           string   `json:"name"`
	Type           string   `json:"type,omitempty"`
	Replicas       int      `json:"replicas"`
	Ready          int      `json:"ready_replicas"`
	GPUsPerReplica int      `json:"gpus_per_replica,omitempty"`
	Image          string   `json:"image,omitempty"`
	ImageID        string   `json:"image_digest,omitempty"`
	Nodes          []string `json:"nodes,omitempty"`
}

// DiscoveryJSON prints what was found as one JSON document.
func DiscoveryJSON(w io.Writer, d Discovery) error {
	doc := discoveryDoc{SchemaVersion: schemaVersion, Namespace: d.Namespace, Deployments: []deploymentDoc{}}
	for _, g := range d.Deployments {
		out := deploymentDoc{
			Namespace: g.Namespace, Name: g.Name, Target: targetOf(g), UID: g.UID, Generation: g.Generation, APIVersion: g.APIVersion,
			Ready: g.Ready, NotReady: g.NotReady, Model: g.Model, RouterMode: g.RouterMode, Gateway: g.Gateway, URL: g.Frontend.URL(),
			GPUs: g.GPUs, GPUsFrom: g.GPUsFrom, GPUsUnknown: g.GPUsUnknown, GPUProduct: g.GPUProduct, Mixed: g.Mixed, Driver: g.Driver,
			Disaggregated: g.Disaggregated, Ratio: g.Ratio, Autoscalers: orEmpty(g.Autoscalers), Components: []componentDoc{}, Labels: g.Labels, Notes: orEmpty(g.Notes),
		}
		for _, c := range g.Components {
			out.Components = append(out.Components, componentDoc(c))
		}
		doc.Deployments = append(doc.Deployments, out)
	}
	return encode(w, doc)
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func targetOf(g kube.Deployment) string { return "k8s:" + g.Namespace + "/" + g.Name }

// DiscoveryText prints a block for each deployment.
func DiscoveryText(w io.Writer, d Discovery) error {
	p := &printer{w: w}
	for i, g := range d.Deployments {
		if i > 0 {
			p.line("")
		}
		p.deployment(g)
	}
	return p.err
}

func (p *printer) deployment(g kube.Deployment) {
	state := "ready"
	if !g.Ready {
		state = "NOT READY"
	}
	p.line("%s  %s", targetOf(g), state)
	p.line("  model   %s, router %s", orUnknown(g.Model), orUnknown(g.RouterMode))
	p.line("  serves  %s", orUnknown(g.Frontend.URL()))
	p.line("  GPUs    %s", gpus(g))
	if g.Disaggregated {
		p.line("  disaggregated, %s: GPUs of both are counted; no AICR gate is for such a deployment", g.Ratio)
	}
	p.components(g.Components)
	p.each("not ready", g.NotReady)
	p.each("autoscaler", g.Autoscalers)
	if g.Gateway {
		p.line("  gateway: requests are routed by an endpoint picker in front of the frontend")
	}
	p.each("note", g.Notes)
}

func (p *printer) each(what string, list []string) {
	for _, s := range list {
		p.line("  %s: %s", what, s)
	}
}

func gpus(g kube.Deployment) string {
	product := orUnknown(g.GPUProduct)
	if len(g.Mixed) > 0 {
		product = "MIXED: " + strings.Join(g.Mixed, ", ")
	}
	if g.Driver != "" {
		product += ", driver " + g.Driver
	}
	if g.GPUs == 0 {
		return fmt.Sprintf("unknown: %s (product %s)", g.GPUsUnknown, product)
	}
	return fmt.Sprintf("%d, by %s (product %s)", g.GPUs, g.GPUsFrom, product)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func (p *printer) components(list []kube.Component) {
	if p.err != nil || len(list) == 0 {
		return
	}
	tw := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	rows := [][]string{{"  component", "type", "ready", "GPUs each", "image", "nodes"}}
	for _, c := range list {
		image := orUnknown(c.Image)
		if c.ImageID != "" {
			image += "@" + c.ImageID
		}
		rows = append(rows, []string{"  " + c.Name, orUnknown(c.Type), fmt.Sprintf("%d/%d", c.Ready, c.Replicas), strconv.Itoa(c.GPUsPerReplica), image, strings.Join(c.Nodes, ",")})
	}
	for _, r := range rows {
		if _, p.err = fmt.Fprintln(tw, strings.Join(r, "\t")); p.err != nil {
			return
		}
	}
	p.err = tw.Flush()
}
