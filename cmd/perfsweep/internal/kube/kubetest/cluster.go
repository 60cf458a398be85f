// Package kubetest answers like a Kubernetes API server for a few objects, for
// tests that need no real one.
package kubetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Cluster is an API server that reads, and grants every right that it does not
// refuse. It is an http.Handler.
type Cluster struct {
	// Versions are those in which DynamoGraphDeployments are served.
	Versions []string
	// Refuse maps "VERB RESOURCE", such as "list pods" or "get nodes", to a
	// status: 403 is no permission, 404 a kind that is not installed. With a
	// version behind, 500 is a conversion webhook that fails. Reviews of rights
	// say no to every 403.
	Refuse map[string]int

	mu      sync.Mutex
	objects []map[string]any
	asked   []string
}

// New makes a cluster of the objects in a YAML text; its documents have an
// apiVersion, a kind, and a metadata.name.
func New(text string) (*Cluster, error) {
	c := &Cluster{Versions: []string{"v1beta1", "v1alpha1"}, Refuse: map[string]int{}}
	for d := yaml.NewDecoder(bytes.NewReader([]byte(text))); ; {
		var o map[string]any
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the objects of a test: %w", err)
		}
		if o != nil {
			c.objects = append(c.objects, o)
		}
	}
}

// Asked lists the requests so far, as "VERB RESOURCE NAMESPACE", sorted and
// without repetition. The verb of what does not read is its method, such as post.
func (c *Cluster) Asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(c.asked)))
}

// address is the meaning of a request's path.
type address struct{ group, version, namespace, resource, name string }

// parse reads /api/VERSION/… and /apis/GROUP/VERSION/….
func parse(path string) (a address, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) >= 2 && parts[0] == "api":
		a.version, parts = parts[1], parts[2:]
	case len(parts) >= 2 && parts[0] == "apis":
		a.group, parts = parts[1], parts[2:]
		if len(parts) > 0 {
			a.version, parts = parts[0], parts[1:]
		}
	default:
		return a, false
	}
	if len(parts) >= 3 && parts[0] == "namespaces" {
		a.namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 0 {
		a.resource, parts = parts[0], parts[1:]
	}
	if len(parts) > 0 {
		a.name, parts = parts[0], parts[1:]
	}
	return a, len(parts) == 0
}

// ServeHTTP implements http.Handler.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, ok := parse(r.URL.Path)
	verb := "list"
	switch {
	case r.Method != http.MethodGet:
		verb = strings.ToLower(r.Method)
	case a.name != "":
		verb = "get"
	}
	c.mu.Lock()
	c.asked = append(c.asked, strings.TrimSpace(verb+" "+a.resource+" "+a.namespace))
	c.mu.Unlock()
	switch {
	case ok && verb == "post" && a.resource == "selfsubjectaccessreviews":
		Review(w, r, func(_, resource, verb string) bool { return c.Refuse[verb+" "+resource] != http.StatusForbidden })
	case !ok || r.Method != http.MethodGet:
		Fail(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource", "")
	case a.resource == "":
		c.directory(w, a)
	case c.Refuse[verb+" "+a.resource] == http.StatusForbidden:
		Fail(w, http.StatusForbidden, "Forbidden", fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q", a.resource, "bench", verb, a.resource, a.group), "")
	case c.Refuse[verb+" "+a.resource] == http.StatusNotFound:
		Fail(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource", "")
	case c.Refuse[verb+" "+a.resource+" "+a.version] == http.StatusInternalServerError:
		Fail(w, http.StatusInternalServerError, "InternalError", "conversion webhook for "+a.group+" failed: connection refused", "")
	default:
		c.objectsAt(w, r, a)
	}
}

// directory lists the versions of Dynamo's group, and its kinds.
func (c *Cluster) directory(w http.ResponseWriter, a address) {
	switch {
	case a.group == "keda.sh" && c.Refuse["list scaledobjects"] != http.StatusNotFound:
		Reply(w, map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": a.group})
	case a.group != "nvidia.com" || len(c.Versions) == 0:
		Fail(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource", "")
	case a.version == "":
		var versions []any
		for _, v := range c.Versions {
			versions = append(versions, map[string]any{"groupVersion": a.group + "/" + v, "version": v})
		}
		Reply(w, map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": a.group, "versions": versions})
	default:
		kinds := []any{}
		if slices.Contains(c.Versions, a.version) {
			for _, k := range []string{"dynamographdeployments", "dynamographdeploymentscalingadapters"} {
				kinds = append(kinds, map[string]any{"name": k, "namespaced": true, "verbs": []string{"get", "list"}})
			}
		}
		Reply(w, map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": a.group + "/" + a.version, "resources": kinds})
	}
}

// objectsAt answers a get or a list.
func (c *Cluster) objectsAt(w http.ResponseWriter, r *http.Request, a address) {
	items := []any{}
	for _, o := range c.objects {
		version, _ := o["apiVersion"].(string)
		group, v, grouped := strings.Cut(version, "/")
		if !grouped {
			group, v = "", version
		}
		kind, _ := o["kind"].(string)
		meta, _ := o["metadata"].(map[string]any)
		converted := group == "nvidia.com" && slices.Contains(c.Versions, a.version)
		switch {
		case group != a.group || v != a.version && !converted,
			strings.ToLower(kind)+"s" != a.resource,
			a.namespace != "" && meta["namespace"] != a.namespace,
			a.name != "" && meta["name"] != a.name,
			!Selected(meta, r.URL.Query().Get("labelSelector")):
			continue
		}
		o = maps.Clone(o)
		o["apiVersion"] = strings.TrimPrefix(a.group+"/"+a.version, "/")
		if a.name != "" {
			Reply(w, o)
			return
		}
		items = append(items, o)
	}
	if a.name != "" {
		Fail(w, http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", a.resource, a.name), a.name)
		return
	}
	Reply(w, map[string]any{"kind": "List", "apiVersion": strings.TrimPrefix(a.group+"/"+a.version, "/"), "metadata": map[string]any{}, "items": items})
}
