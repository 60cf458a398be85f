package kube

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube/kubetest"
)

// fakeCluster is an API server that keeps Jobs and Secrets, makes the pods of a
// Job as a test says, and counts what it is asked. It knows nothing else.
type fakeCluster struct {
	*Client
	mu      sync.Mutex
	objects map[string]map[string]any // by "jobs/NAME"
	asked   []string                  // "verb resource"
	deny    map[string]string         // "verb resource" → the API server's words
	// pods makes the pods of a Job when it is created.
	pods   func(job map[string]any) []map[string]any
	events []map[string]any
	log    string
	// control answers calls through pods/proxy.
	control http.HandlerFunc
}

func newFakeCluster(t *testing.T) *fakeCluster {
	f := &fakeCluster{objects: map[string]map[string]any{}, deny: map[string]string{}, pods: runningPods}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	c, err := Open(writeKubeconfig(t, s.URL, "team"), "")
	if err != nil {
		t.Fatal(err)
	}
	f.Client = c
	return f
}

func meta(o map[string]any) map[string]any { return o["metadata"].(map[string]any) }

// fakePod is a pod of a Job under an index.
func fakePod(job map[string]any, index int, status map[string]any) map[string]any {
	name := fmt.Sprintf("%s-%d-%s", meta(job)["name"], index, status["suffix"])
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"name": name, "namespace": "team", "uid": "uid-" + name, "creationTimestamp": "2026-11-30T12:00:00Z",
			"labels": map[string]any{jobLabel: meta(job)["name"], indexLabel: fmt.Sprint(index)},
		},
		"spec": map[string]any{"nodeName": "node-a"}, "status": status,
	}
}

func running(suffix string) map[string]any {
	return map[string]any{
		"suffix": suffix, "phase": "Running", "podIP": "10.0.0.1",
		"containerStatuses": []any{map[string]any{"name": loadContainer, "ready": true, "restartCount": 0}},
	}
}

func podsOf(job map[string]any) int {
	return int(job["spec"].(map[string]any)["completions"].(float64))
}

func runningPods(job map[string]any) []map[string]any {
	var out []map[string]any
	for i := range podsOf(job) {
		out = append(out, fakePod(job, i, running("a")))
	}
	return out
}

// ServeHTTP implements http.Handler.
func (f *fakeCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, rest, _ := strings.Cut(r.URL.Path, "/namespaces/team/")
	kind, name, _ := strings.Cut(rest, "/")
	name, sub, _ := strings.Cut(name, "/")
	verb := map[string]string{http.MethodPost: "create", http.MethodDelete: "delete", http.MethodGet: "get"}[r.Method]
	if verb == "get" && name == "" {
		verb = "list"
	}
	if i := strings.Index(name, ":"); i > 0 {
		name = name[:i]
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	what := kind
	if sub != "" {
		what = kind + "/" + strings.SplitN(sub, "/", 2)[0]
	}
	if strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") {
		kubetest.Review(w, r, func(_, resource, verb string) bool { return f.deny[verb+" "+resource] == "" })
		return
	}
	f.asked = append(f.asked, verb+" "+what)
	if why := f.deny[verb+" "+what]; why != "" {
		kubetest.Fail(w, http.StatusForbidden, "Forbidden", why, "it")
		return
	}
	key := kind + "/" + name
	switch {
	case strings.HasSuffix(what, "/log"):
		_, _ = io.WriteString(w, f.log)
	case strings.HasSuffix(what, "/proxy"):
		f.control(w, r)
	case verb == "create":
		f.create(w, r, kind)
	case verb == "list":
		f.list(w, r, kind)
	case f.objects[key] == nil:
		kubetest.Fail(w, http.StatusNotFound, "NotFound", "not found", "it")
	case verb == "delete":
		f.remove(key)
		kubetest.Reply(w, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
	default:
		kubetest.Reply(w, f.objects[key])
	}
}

func (f *fakeCluster) create(w http.ResponseWriter, r *http.Request, kind string) {
	var o map[string]any
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		kubetest.Fail(w, http.StatusBadRequest, "BadRequest", err.Error(), "it")
		return
	}
	name := meta(o)["name"].(string)
	meta(o)["uid"] = "uid-" + name
	f.objects[kind+"/"+name] = o
	if kind == "jobs" {
		o["status"] = map[string]any{"active": podsOf(o)}
		for _, p := range f.pods(o) {
			f.objects["pods/"+meta(p)["name"].(string)] = p
		}
	}
	kubetest.Reply(w, o)
}

// remove takes the pods of a Job with it.
func (f *fakeCluster) remove(key string) {
	name, isJob := strings.CutPrefix(key, "jobs/")
	delete(f.objects, key)
	for k, o := range f.objects {
		if isJob && strings.HasPrefix(k, "pods/") && labelsOf(o)[jobLabel] == name {
			delete(f.objects, k)
		}
	}
}

func labelsOf(o map[string]any) map[string]any {
	l, _ := meta(o)["labels"].(map[string]any)
	return l
}

func (f *fakeCluster) list(w http.ResponseWriter, r *http.Request, kind string) {
	items := []any{}
	for k, o := range f.objects {
		if strings.HasPrefix(k, kind+"/") && kubetest.Selected(meta(o), r.URL.Query().Get("labelSelector")) {
			items = append(items, o)
		}
	}
	if kind == "events" {
		for _, e := range f.events {
			items = append(items, e)
		}
	}
	kubetest.Reply(w, map[string]any{"kind": "List", "apiVersion": "v1", "metadata": map[string]any{}, "items": items})
}

// left lists what is in the cluster.
func (f *fakeCluster) left() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var keys []string
	for k := range f.objects {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
