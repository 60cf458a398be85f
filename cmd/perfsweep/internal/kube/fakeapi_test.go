package kube

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube/kubetest"
)

// fakeAPI stores objects as an API server does, as far as this package asks.
type fakeAPI struct {
	mu      sync.Mutex
	objects map[string]map[string]any // by path
	used    map[Access]bool
	denied  map[Access]bool
	groups  map[string][]string
	logs    map[string]string // by pod, and by "POD before" where that differs
	uid     int
	clock   time.Duration // ahead of ours
	foreign string        // a version of the groups in which others serve their kinds
	// created plays the operator and the controllers; it may add objects.
	created func(f *fakeAPI, o map[string]any)
}

func newFakeAPI(t *testing.T) (*fakeAPI, *Client) {
	t.Helper()
	f := &fakeAPI{
		objects: map[string]map[string]any{}, used: map[Access]bool{}, denied: map[Access]bool{}, logs: map[string]string{},
		groups:  map[string][]string{"nvidia.com": {"v1beta1", "v1alpha1"}, "resource.k8s.io": {"v1"}},
		created: func(*fakeAPI, map[string]any) {},
	}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	c, err := Open(writeKubeconfig(t, s.URL, "bench"), "")
	if err != nil {
		t.Fatal(err)
	}
	return f, c
}

// put stores an object as the API server would; the lock is held.
func (f *fakeAPI) put(path string, o map[string]any) {
	f.uid++
	child(o, "metadata")["uid"] = fmt.Sprintf("uid-%d", f.uid)
	f.objects[path] = o
}

func (f *fakeAPI) addPod(name string, labels map[string]any, status map[string]any) {
	f.put("/api/v1/namespaces/bench/pods/"+name, map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": "bench", "labels": labels}, "status": status,
	})
}

func (f *fakeAPI) kinds() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]int{}
	for _, o := range f.objects {
		out[o["kind"].(string)]++
	}
	return out
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if f.clock != 0 {
		w.Header().Set("Date", time.Now().Add(f.clock).UTC().Format(http.TimeFormat))
	}
	if parts[0] == "version" {
		kubetest.Reply(w, map[string]any{"major": "1"})
		return
	}
	if parts[0] == "apis" && len(parts) == 2 {
		f.group(w, parts[1])
		return
	}
	if parts[0] == "apis" && len(parts) == 3 {
		var kinds []any
		if parts[2] != f.foreign {
			kinds = []any{map[string]any{"name": graphPlural, "namespaced": true}, map[string]any{"name": claimTemplateKind.Resource, "namespaced": true}}
		}
		kubetest.Reply(w, map[string]any{"kind": "APIResourceList", "groupVersion": parts[1] + "/" + parts[2], "resources": kinds})
		return
	}
	group := ""
	if parts[0] == "apis" {
		group, parts = parts[1], parts[1:]
	}
	parts = parts[2:] // api/v1 or GROUP/VERSION
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	resource, name := parts[0], ""
	if len(parts) > 1 {
		name = parts[1]
	}
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	verb := map[string]string{"GET": "get", "POST": "create", "DELETE": "delete", "PATCH": "patch"}[r.Method]
	if r.Method == "GET" && name == "" {
		verb = "list"
	}
	a := Access{group, resource, verb}
	if resource == "selfsubjectaccessreviews" {
		kubetest.Review(w, r, func(group, resource, verb string) bool { return !f.denied[Access{group, resource, verb}] })
		return
	}
	f.used[a] = true
	if f.denied[a] {
		kubetest.Fail(w, 403, "Forbidden", fmt.Sprintf("User cannot %s resource", verb), "")
		return
	}
	if resource == "pods/log" {
		if before := name + " before"; r.URL.Query().Has("previous") && f.logs[before] != "" {
			name = before
		}
		_, _ = io.WriteString(w, f.logs[name])
		return
	}
	f.serve(w, r, verb)
}

func (f *fakeAPI) serve(w http.ResponseWriter, r *http.Request, verb string) {
	path := r.URL.Path
	switch verb {
	case "list":
		f.list(w, path, r.URL.Query().Get("labelSelector"))
	case "create":
		var o map[string]any
		_ = json.NewDecoder(r.Body).Decode(&o)
		path += "/" + child(o, "metadata")["name"].(string)
		if f.objects[path] != nil {
			kubetest.Fail(w, 409, "AlreadyExists", "it exists", "")
			return
		}
		f.put(path, o)
		f.created(f, o)
		kubetest.Reply(w, o)
	default:
		o := f.objects[path]
		if o == nil {
			kubetest.Fail(w, 404, "NotFound", "not found", "")
			return
		}
		var body struct {
			Preconditions struct{ UID string }
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if verb == "delete" {
			if uid := body.Preconditions.UID; uid != "" && uid != child(o, "metadata")["uid"] {
				kubetest.Fail(w, 409, "Conflict", "another UID", "")
				return
			}
			delete(f.objects, path)
			if o["kind"] == dgdKind { // as garbage collection does
				delete(f.objects, "/api/v1/namespaces/bench/services/perf-frontend")
			}
		}
		kubetest.Reply(w, o)
	}
}

func (f *fakeAPI) list(w http.ResponseWriter, path, selector string) {
	items := []any{}
	for p, o := range f.objects {
		parent := p[:strings.LastIndex(p, "/")]
		if ns := strings.Index(parent, "/namespaces/"); ns >= 0 && !strings.Contains(path, "/namespaces/") {
			rest := strings.SplitN(parent[ns+len("/namespaces/"):], "/", 2)
			parent = parent[:ns] + "/" + rest[1]
		}
		if parent == path && kubetest.Selected(child(o, "metadata"), selector) {
			items = append(items, o)
		}
	}
	kubetest.Reply(w, map[string]any{"kind": "List", "apiVersion": "v1", "metadata": map[string]any{}, "items": items})
}

func (f *fakeAPI) group(w http.ResponseWriter, group string) {
	versions := []map[string]any{}
	for _, v := range f.groups[group] {
		versions = append(versions, map[string]any{"groupVersion": group + "/" + v, "version": v})
	}
	if len(versions) == 0 {
		kubetest.Fail(w, 404, "NotFound", "no such group", "")
		return
	}
	kubetest.Reply(w, map[string]any{"kind": "APIGroup", "name": group, "versions": versions, "preferredVersion": versions[0]})
}

// operator plays the controllers: Jobs complete, deployments get ready.
func operator(f *fakeAPI, o map[string]any) {
	switch o["kind"] {
	case "Job":
		o["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}}
	case dgdKind:
		setReady(o)
		f.put("/api/v1/namespaces/bench/services/perf-frontend", map[string]any{
			"apiVersion": "v1", "kind": "Service", "spec": map[string]any{"ports": []any{map[string]any{"name": "http", "port": int64(8000)}}},
			"metadata": map[string]any{"name": "perf-frontend", "namespace": "bench", "labels": map[string]any{dgdLabel: "perf", "nvidia.com/dynamo-component-type": "frontend"}},
		})
	}
}

func setReady(o map[string]any) {
	status := map[string]any{}
	for _, c := range child(o, "spec")["components"].([]any) {
		m := c.(map[string]any)
		status[m["name"].(string)] = map[string]any{"componentKind": "Deployment", "replicas": m["replicas"], "readyReplicas": m["replicas"]}
	}
	o["status"] = map[string]any{"state": "successful", "components": status, "conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "all_resources_are_ready"}}}
}

func (f *fakeAPI) addStorageClass(name string, isDefault bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put("/apis/storage.k8s.io/v1/storageclasses/"+name, map[string]any{
		"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
		"metadata": map[string]any{"name": name, "annotations": map[string]any{defaultClass: fmt.Sprint(isDefault)}},
	})
}

func (f *fakeAPI) usedAccess() map[Access]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.used)
}
