package kube

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube/kubetest"
)

// rights are sets of what is allowed or was used.
type rights map[Access]bool

// usage is what an API server was asked for, in a namespace and beyond.
type usage struct {
	mu       sync.Mutex
	in, wide rights
}

// of connects to an API server and takes note of what it is asked from now on.
func (u *usage) of(t *testing.T, api http.Handler, namespace string) *Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.note(r)
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	c, err := Open(writeKubeconfig(t, s.URL, namespace), "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// note reads a request as the API server's authorization does. The directory and
// reviews of one's own rights are open to everybody who is known.
func (u *usage) note(r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group := ""
	if parts[0] == "apis" {
		group, parts = parts[1], parts[1:]
	}
	if parts = parts[min(2, len(parts)):]; len(parts) == 0 || parts[0] == "selfsubjectaccessreviews" {
		return
	}
	into := u.wide
	if parts[0] == "namespaces" && len(parts) > 2 {
		into, parts = u.in, parts[2:]
	}
	a := Access{group, parts[0], map[string]string{"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[r.Method]}
	switch {
	case len(parts) > 2:
		a.Resource += "/" + parts[2]
	case len(parts) == 1 && r.Method == http.MethodGet:
		a.Verb = "list"
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	into[a] = true
}

func newUsage() *usage { return &usage{in: rights{}, wide: rights{}} }

// granted are the rights of the one role in a manifest, each named once.
func granted(t *testing.T, file string) rights {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "deploy", file))
	if err != nil {
		t.Fatal(err)
	}
	out := rights{}
	for d := yaml.NewDecoder(bytes.NewReader(raw)); ; {
		var role struct {
			Rules []struct {
				APIGroups []string `yaml:"apiGroups"`
				Resources []string
				Verbs     []string
			}
		}
		if err := d.Decode(&role); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, r := range role.Rules {
			for _, g := range r.APIGroups {
				for _, name := range r.Resources {
					for _, v := range r.Verbs {
						a := Access{g, name, v}
						if out[a] {
							t.Errorf("%s grants %s twice", file, a.rule())
						}
						out[a] = true
					}
				}
			}
		}
	}
}

func without(all, some rights) rights {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(a Access, _ bool) bool { return some[a] })
	return out
}

// same demands that what was used is what a manifest grants.
func same(t *testing.T, file string, used rights) {
	t.Helper()
	has := granted(t, file)
	for a := range without(used, has) {
		t.Errorf("%s lacks %s, which is used", file, a.rule())
	}
	for a := range without(has, used) {
		t.Errorf("%s grants %s, which nothing uses", file, a.rule())
	}
}

// within demands that what is asked for beforehand is granted.
func within(t *testing.T, asked []Access, files ...string) {
	t.Helper()
	has := rights{}
	for _, f := range files {
		maps.Copy(has, granted(t, f))
	}
	for _, a := range asked {
		if !has[a] {
			t.Errorf("%s is asked for, and not in %v", a.rule(), files)
		}
	}
}

// Each manifest grants what is used, and nothing that is not.
func TestManifestsOfRights(t *testing.T) {
	inside, outside, deploying := newUsage(), newUsage(), newUsage()
	useDiscovery(t, inside)
	p := useLoad(t, inside)
	p.job.c = outside.of(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }), "team")
	if _, err := p.Call(t.Context(), http.MethodPost, "/level", nil, nil); err != nil {
		t.Fatal(err)
	}
	useDeploy(t, deploying)
	base := granted(t, "rbac.yaml")
	same(t, "rbac.yaml", inside.in)
	same(t, "rbac-outside.yaml", without(outside.in, base))
	same(t, "rbac-deploy.yaml", without(deploying.in, base))
	wide := maps.Clone(inside.wide)
	maps.Copy(wide, deploying.wide)
	same(t, "rbac-nodes.yaml", wide)

	spec := testSpec()
	spec.GPUAccess = DRA
	within(t, (&Client{inCluster: true}).LoadAccess(), "rbac.yaml")
	within(t, (&Client{}).LoadAccess(), "rbac.yaml", "rbac-outside.yaml")
	within(t, DeployAccess(spec), "rbac.yaml", "rbac-deploy.yaml")
}

// useDiscovery reads deployments in a namespace, one of which has its GPUs by claims.
func useDiscovery(t *testing.T, u *usage) {
	t.Helper()
	k, err := kubetest.New(recorded(t, "beta.yaml", claimed4()...) + claimTemplate)
	if err != nil {
		t.Fatal(err)
	}
	c := u.of(t, k, "team")
	if l, err := c.Discover(t.Context(), "team"); err != nil || len(l) != 1 {
		t.Fatalf("%v, %v", l, err)
	}
	if d, err := c.Deployment(t.Context(), "team", "qwen"); err != nil || d.GPUs != 8 || len(d.Notes) != 0 {
		t.Fatalf("%+v, %v", d, err)
	}
	if _, err := c.MetricsPages(t.Context(), "team", "qwen"); err != nil {
		t.Fatal(err)
	}
}

// useLoad runs a load generator through all that it may go through.
func useLoad(t *testing.T, u *usage) *LoadPod {
	t.Helper()
	f := newFakeCluster(t)
	c := u.of(t, f, "team")
	if _, err := c.OtherLoads(t.Context(), "team", "k8s:team/qwen"); err != nil {
		t.Fatal(err)
	}
	j, err := c.StartLoad(t.Context(), loadSpec(1))
	if err != nil {
		t.Fatal(err)
	}
	p := j.Pods()[0]
	if _, err := p.Alive(t.Context()); err != nil {
		t.Fatal(err)
	}
	if words := c.lastWords(t.Context(), "team", p.Name(), loadContainer, false); strings.Contains(words, "cannot be read") {
		t.Fatal(words)
	}
	f.mu.Lock()
	delete(f.objects, "pods/"+p.Name()) // events tell why there is none
	f.mu.Unlock()
	if n, _, _, err := j.look(t.Context(), true); err != nil || n != 0 {
		t.Fatalf("%d run, %v", n, err)
	}
	if n, err := c.RemoveLoads(t.Context(), "team", loadSpec(1).Campaign); err != nil || n != 1 {
		t.Fatalf("removed %d, %v", n, err)
	}
	return p
}

// useDeploy brings a deployment up and removes it, and cleans up after one that
// was left with a Secret.
func useDeploy(t *testing.T, u *usage) {
	t.Helper()
	f, _ := newFakeAPI(t)
	f.created = operator
	f.addStorageClass("fast", true)
	c := u.of(t, f, "bench")
	spec := testSpec()
	spec.GPUAccess = DRA
	for _, clean := range []bool{false, true} {
		d, err := c.Deploy(t.Context(), testRun(), spec, quiet)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.lease.write(t.Context(), d.run.Started); err != nil { // and so it has run out
			t.Fatal(err)
		}
		if !clean {
			if err := d.Remove(t.Context()); err != nil {
				t.Fatal(err)
			}
			continue
		}
		f.mu.Lock()
		secret := map[string]any{"kind": "Secret", "apiVersion": "v1", "metadata": map[string]any{"name": "token", "namespace": "bench"}}
		d.run.mark(secret)
		f.put("/api/v1/namespaces/bench/secrets/token", secret)
		f.mu.Unlock()
		found, notes, err := c.Leftovers(t.Context(), "bench")
		if err != nil || len(notes) != 0 || len(found) != 6 {
			t.Fatalf("%v, %v, %v", found, notes, err)
		}
		removed, err := c.Clean(t.Context(), found, d.run.ID)
		if err != nil || len(removed) != len(found) {
			t.Fatalf("removed %v, %v", removed, err)
		}
		d.lease.stop()
		d.lease.done.Wait()
	}
	if left := fmt.Sprint(f.kinds()); left != "map[StorageClass:1]" {
		t.Errorf("left %s", left)
	}
}
