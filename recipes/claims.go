package recipes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The device class of whole GPUs in dynamic resource allocation (DRA). AICR's
// check claims one of it for each worker where a node offers GPUs that way, and
// sets the limit nvidia.com/gpu elsewhere: both are its template.
const gpuDeviceClass = "gpu.nvidia.com"

// maxDocuments bounds the documents and list items of a deployment's file.
const maxDocuments = 256

// resourceClaim is an entry of a pod's resourceClaims, and a container's of
// resources.claims, which has the name alone.
type resourceClaim struct {
	Name                      string `yaml:"name"`
	ResourceClaimName         string `yaml:"resourceClaimName"`
	ResourceClaimTemplateName string `yaml:"resourceClaimTemplateName"`
}

// claimTemplate is a ResourceClaimTemplate of resource.k8s.io: up to v1beta1 a
// request holds what v1beta2 and v1 put below exactly.
type claimTemplate struct {
	Metadata struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	Spec struct {
		Spec struct {
			Devices struct {
				Requests    []deviceRequest `yaml:"requests"`
				Constraints []any           `yaml:"constraints"`
				Config      []any           `yaml:"config"`
			} `yaml:"devices"`
		} `yaml:"spec"`
	} `yaml:"spec"`
}

type deviceRequest struct {
	exactRequest   `yaml:",inline"`
	Exactly        *exactRequest `yaml:"exactly"`
	FirstAvailable []any         `yaml:"firstAvailable"`
}

type exactRequest struct {
	DeviceClassName string `yaml:"deviceClassName"`
	AllocationMode  string `yaml:"allocationMode"`
	Count           *int   `yaml:"count"`
	Selectors       []any  `yaml:"selectors"`
	AdminAccess     bool   `yaml:"adminAccess"`
}

// deploymentFile is what a file of a deployment holds: the deployment, and the
// claim templates that its pods name.
type deploymentFile struct {
	dgd    *dgd
	claims map[string]claimTemplate
	kind   string // of the first document, for the message
}

// readDeploymentFile reads one or more documents, or the list that kubectl
// prints; of other kinds nothing is needed.
func readDeploymentFile(b []byte) (deploymentFile, error) {
	f := deploymentFile{claims: map[string]claimTemplate{}}
	d := yaml.NewDecoder(bytes.NewReader(b))
	for n := 0; ; n++ {
		var doc yaml.Node
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err == nil && n == maxDocuments {
			err = fmt.Errorf("it has more than %d documents", maxDocuments)
		}
		if err == nil && len(doc.Content) == 1 {
			err = f.add(doc.Content[0], true)
		}
		if err != nil {
			return f, err
		}
	}
}

// add takes one object.
func (f *deploymentFile) add(n *yaml.Node, list bool) error {
	kind := scalar(lookup(n, "kind"))
	if f.kind == "" {
		f.kind = kind
	}
	switch {
	case kind == "List" && list:
		items := lookup(n, "items").val
		if items == nil || items.Kind != yaml.SequenceNode {
			return errors.New("its list has no items")
		}
		if len(items.Content) > maxDocuments {
			return fmt.Errorf("its list has more than %d items", maxDocuments)
		}
		for _, item := range items.Content {
			if err := f.add(item, false); err != nil {
				return err
			}
		}
	case kind == "DynamoGraphDeployment":
		if f.dgd != nil {
			return errors.New("it holds two deployments; give the one that was measured")
		}
		f.dgd = &dgd{}
		return plainly(n.Decode(f.dgd))
	case kind == "ResourceClaimTemplate":
		var c claimTemplate
		if err := n.Decode(&c); err != nil {
			return plainly(err)
		}
		if _, twice := f.claims[c.Metadata.Name]; twice {
			return fmt.Errorf("it holds two claim templates %q; give the one of the deployment's namespace", clip(c.Metadata.Name))
		}
		f.claims[c.Metadata.Name] = c
	}
	return nil
}

// plainly says which values are of the wrong kind, without the names that our
// code has for them.
func plainly(err error) error {
	var kinds *yaml.TypeError
	if !errors.As(err, &kinds) {
		return err
	}
	var said []string
	for _, e := range kinds.Errors {
		what, _, _ := strings.Cut(e, " into ")
		said = append(said, strings.Replace(what, "cannot unmarshal", "not expected here:", 1))
	}
	return errors.New(strings.Join(said, "; "))
}

// claim follows the claims that a container of a pod names.
func (c *Component) claim(pod, container []resourceClaim, templates map[string]claimTemplate) {
	for _, use := range container {
		at := -1
		for i, p := range pod {
			if p.Name == use.Name {
				at = i
			}
		}
		switch {
		case at < 0:
			c.Unresolved = append(c.Unresolved, use.Name)
		case pod[at].ResourceClaimTemplateName == "":
			c.Claims = append(c.Claims, fmt.Sprintf("%s is one claim for all pods, not one made from a template for each", clip(use.Name)))
		default:
			name := pod[at].ResourceClaimTemplateName
			t, there := templates[name]
			if !there {
				c.Unresolved = append(c.Unresolved, name)
				continue
			}
			c.GPUs += t.gpus(c)
		}
		c.Claimed = true
	}
}

// gpus counts the GPUs of a claim template, and tells c what AICR's does not have.
func (t claimTemplate) gpus(c *Component) (n int) {
	odd := func(format string, args ...any) { c.Claims = append(c.Claims, fmt.Sprintf(format, args...)) }
	devices := t.Spec.Spec.Devices
	if len(devices.Constraints) > 0 || len(devices.Config) > 0 {
		odd("%s has constraints or a configuration", clip(t.Metadata.Name))
	}
	for _, r := range devices.Requests {
		want := r.exactRequest
		if r.Exactly != nil {
			want = *r.Exactly
		}
		switch {
		case len(r.FirstAvailable) > 0:
			odd("%s takes the first available of several requests", clip(t.Metadata.Name))
			continue
		case want.DeviceClassName != gpuDeviceClass:
			odd("%s asks for device class %s, not %s", clip(t.Metadata.Name), clip(want.DeviceClassName), gpuDeviceClass)
			continue
		case want.AllocationMode != "" && want.AllocationMode != "ExactCount":
			odd("%s has allocation mode %s, not ExactCount", clip(t.Metadata.Name), clip(want.AllocationMode))
			continue
		}
		if len(want.Selectors) > 0 || want.AdminAccess {
			odd("%s selects among GPUs, or has admin access", clip(t.Metadata.Name))
		}
		count := 1
		if want.Count != nil {
			count = *want.Count
		}
		n += max(0, count)
	}
	return n
}
