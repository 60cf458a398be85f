package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Names of the Dynamo operator.
const (
	dynamoGroup    = "nvidia.com"
	graphPlural    = "dynamographdeployments"
	adapterPlural  = "dynamographdeploymentscalingadapters"
	labelGraph     = "nvidia.com/dynamo-graph-deployment-name"
	labelComponent = "nvidia.com/dynamo-component"
	labelType      = "nvidia.com/dynamo-component-type"
)

// graphVersions are the API versions that are understood, the richer one first.
var graphVersions = [...]string{"v1beta1", "v1alpha1"}

// survey reads a cluster once: what is asked for twice is remembered.
type survey struct {
	c        *Client
	graphsOf []schema.GroupVersionResource // served, in the order to try
	adapters *schema.GroupVersionResource  // of scaling, nil where not served
	lists    map[string]listing
	nodes    map[string]listing
}

type listing struct {
	items []object
	err   error
}

// survey asks which kinds of Dynamo's the cluster serves.
func (c *Client) survey(ctx context.Context) (*survey, error) {
	s := &survey{c: c, lists: map[string]listing{}, nodes: map[string]listing{}}
	var group metav1.APIGroup
	switch found, err := c.about(ctx, "/apis/"+dynamoGroup, &group); {
	case err != nil:
		return nil, err
	case !found:
		return nil, s.noDynamo("")
	}
	var served []string
	for _, v := range group.Versions {
		if !slices.Contains(graphVersions[:], v.Version) {
			served = append(served, clip(v.Version))
		}
	}
	for _, version := range graphVersions {
		if !slices.ContainsFunc(group.Versions, func(v metav1.GroupVersionForDiscovery) bool { return v.Version == version }) {
			continue
		}
		var kinds metav1.APIResourceList
		if found, err := c.about(ctx, "/apis/"+dynamoGroup+"/"+version, &kinds); err != nil {
			return nil, err
		} else if !found {
			continue
		}
		for _, k := range kinds.APIResources {
			gvr := schema.GroupVersionResource{Group: dynamoGroup, Version: version, Resource: k.Name}
			switch {
			case k.Name == graphPlural:
				s.graphsOf = append(s.graphsOf, gvr)
			case k.Name == adapterPlural && s.adapters == nil:
				s.adapters = &gvr
			}
		}
	}
	if len(s.graphsOf) == 0 {
		return nil, s.noDynamo(strings.Join(served, ", "))
	}
	return s, nil
}

// noDynamo is the error of a cluster without the definition.
func (s *survey) noDynamo(others string) error {
	if others != "" {
		others = "; of " + dynamoGroup + " it serves the versions " + others + ", which may need a newer perfsweep"
	}
	return fmt.Errorf("the cluster at %s serves no DynamoGraphDeployment (%s/%s.%s)%s: install the Dynamo operator with its CRDs, choose another --context, or name the server's URL with --target http://…",
		s.c.Server(), strings.Join(graphVersions[:], " or "), graphPlural, dynamoGroup, others)
}

// about reads one page of the API's directory.
func (c *Client) about(ctx context.Context, path string, into any) (found bool, err error) {
	resp, err := c.send(ctx, c.short, "GET", path, nil, nil)
	if err == nil {
		defer func() { _ = resp.Body.Close() }() // read as far as it matters
		err = statusError(resp)
	}
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err == nil {
		err = json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into)
	}
	return err == nil, explain(err, "get", strings.TrimPrefix(path, "/apis/"), "", "")
}

// graph reads one deployment, graphs those of a namespace. A version that the
// operator cannot convert to is not the last word: what is stored in the other
// one needs no conversion.
func (s *survey) graph(ctx context.Context, ns, name string) (o object, err error) {
	err = s.eachVersion(func(gvr schema.GroupVersionResource) error {
		u, err := s.c.resource(gvr, ns).Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			o = u.Object
		}
		return explain(err, "get", resourceName(gvr), ns, name)
	})
	return o, err
}

func (s *survey) graphs(ctx context.Context, ns string) (list []object, err error) {
	err = s.eachVersion(func(gvr schema.GroupVersionResource) error {
		var err error
		list, err = s.list(ctx, gvr, ns, "")
		return err
	})
	return list, err
}

func (s *survey) eachVersion(read func(schema.GroupVersionResource) error) (err error) {
	for _, gvr := range s.graphsOf {
		if err = read(gvr); err == nil || !strings.Contains(err.Error(), "conversion webhook") {
			return err
		}
	}
	return fmt.Errorf("%w; the Dynamo operator converts between its API versions: is its pod running?", err)
}

// maxObjects bounds a list of the API server.
const maxObjects = 20_000

// list reads the objects of a kind in a namespace that have a label.
func (s *survey) list(ctx context.Context, gvr schema.GroupVersionResource, ns, label string) ([]object, error) {
	key := gvr.String() + " " + ns + " " + label
	if l, ok := s.lists[key]; ok {
		return l.items, l.err
	}
	var l listing
	l.items, l.err = s.c.listAll(ctx, gvr, ns, label)
	s.lists[key] = l
	return l.items, l.err
}

func (c *Client) listAll(ctx context.Context, gvr schema.GroupVersionResource, ns, selector string) ([]object, error) {
	var out []object
	options := metav1.ListOptions{LabelSelector: selector, Limit: 500}
	for {
		page, err := c.resource(gvr, ns).List(ctx, options)
		if err != nil {
			return nil, explain(err, "list", resourceName(gvr), ns, "")
		}
		for _, item := range page.Items {
			out = append(out, item.Object)
		}
		if len(out) > maxObjects {
			return nil, fmt.Errorf("list %s in namespace %s: more than %d objects; name a smaller namespace", resourceName(gvr), clip(ns), maxObjects)
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return out, nil
		}
	}
}

// node reads one node.
func (s *survey) node(ctx context.Context, name string) (object, error) {
	if l, ok := s.nodes[name]; ok {
		return l.items[0], l.err
	}
	u, err := s.c.resource(nodeKind, "").Get(ctx, name, metav1.GetOptions{})
	l := listing{items: []object{nil}, err: explain(err, "get", resourceName(nodeKind), "", name)}
	if err == nil {
		l.items[0] = u.Object
	}
	s.nodes[name] = l
	return l.items[0], l.err
}

// missingKind reports whether an error only says that a cluster does not have a
// kind: then it has no object of it either.
func missingKind(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Reason != metav1.StatusReasonNotFound {
		return false
	}
	d := status.Status().Details
	return d == nil || d.Name == ""
}
