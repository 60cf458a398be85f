// Package kubetest answers like a Kubernetes API server for a few objects, for
// tests that need no real one.
package kubetest

import (
	"bytes"
	"encoding/json"
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
		c.review(w, r)
	case !ok || r.Method != http.MethodGet:
		fail(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource", "")
	case a.resource == "":
		c.directory(w, a)
	case c.Refuse[verb+" "+a.resource] == http.StatusForbidden:
		fail(w, http.StatusForbidden, "Forbidden", fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q", a.resource, "bench", verb, a.resource, a.group), "")
	case c.Refuse[verb+" "+a.resource] == http.StatusNotFound:
		fail(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource", "")
	case c.Refuse[verb+" "+a.resource+" "+a.version] == http.StatusInternalServerError:
		fail(w, http.StatusInternalServerError, "InternalError", "conversion webhook for "+a.group+" failed: connection refused", "")
	default:
		c.objectsAt(w, r, a)
	}
}

// review says whether a right is granted.
func (c *Cluster) review(w http.ResponseWriter, r *http.Request) {
	var o struct {
		Spec struct {
			ResourceAttributes struct{ Resource, Subresource, Verb string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		fail(w, http.StatusBadRequest, "BadRequest", err.Error(), "")
		return
	}
	a := o.Spec.ResourceAttributes
	what := a.Verb + " " + a.Resource
	if a.Subresource != "" {
		what += "/" + a.Subresource
	}
	reply(w, map[string]any{
		"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": map[string]any{},
		"status": map[string]any{"allowed": c.Refuse[what] != http.StatusForbidden},
	})
}

// directory lists the versions of Dynamo's group, and its kinds.
func (c *Cluster) directory(w http.ResponseWriter, a address) {
	switch {
	case a.group == "keda.sh" && c.Refuse["list scaledobjects"] != http.StatusNotFound:
		reply(w, map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": a.group})
	case a.group != "nvidia.com" || len(c.Versions) == 0:
		fail(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource", "")
	case a.version == "":
		var versions []any
		for _, v := range c.Versions {
			versions = append(versions, map[string]any{"groupVersion": a.group + "/" + v, "version": v})
		}
		reply(w, map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": a.group, "versions": versions})
	default:
		kinds := []any{}
		if slices.Contains(c.Versions, a.version) {
			for _, k := range []string{"dynamographdeployments", "dynamographdeploymentscalingadapters"} {
				kinds = append(kinds, map[string]any{"name": k, "namespaced": true, "verbs": []string{"get", "list"}})
			}
		}
		reply(w, map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": a.group + "/" + a.version, "resources": kinds})
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
			!selected(meta, r.URL.Query().Get("labelSelector")):
			continue
		}
		o = maps.Clone(o)
		o["apiVersion"] = strings.TrimPrefix(a.group+"/"+a.version, "/")
		if a.name != "" {
			reply(w, o)
			return
		}
		items = append(items, o)
	}
	if a.name != "" {
		fail(w, http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", a.resource, a.name), a.name)
		return
	}
	reply(w, map[string]any{"kind": "List", "apiVersion": strings.TrimPrefix(a.group+"/"+a.version, "/"), "metadata": map[string]any{}, "items": items})
}

// selected understands "key" and "key=value", with commas between several.
func selected(meta map[string]any, selector string) bool {
	labels, _ := meta["labels"].(map[string]any)
	for term := range strings.SplitSeq(selector, ",") {
		key, value, valued := strings.Cut(term, "=")
		if got, ok := labels[key]; term != "" && (!ok || valued && got != value) {
			return false
		}
	}
	return true
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that has gone away
}

func fail(w http.ResponseWriter, code int, reason, message, name string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
		"reason": reason, "message": message, "details": map[string]any{"name": name},
	})
}
