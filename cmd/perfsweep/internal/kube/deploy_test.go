package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// deployTime is many times what a deployment in a fake cluster takes.
const deployTime = 5 * time.Minute

func quiet(string) {}

func testRun() Run { return NewRun("host", time.Unix(1e9, 0)) }

// What a run makes it removes, and nothing else; and it does with the rights
// that it asked for.
func TestDeployAndRemove(t *testing.T) {
	f, c := newFakeAPI(t)
	f.created = operator
	f.addStorageClass("fast", true)
	spec := testSpec()
	spec.GPUAccess = DRA
	ctx, stop := context.WithTimeout(t.Context(), deployTime)
	defer stop()
	d, err := c.Deploy(ctx, testRun(), spec, quiet)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"StorageClass": 1, "Lease": 1, "ResourceClaimTemplate": 1, "PersistentVolumeClaim": 1, "Job": 1, dgdKind: 1, "Service": 1}
	if got := f.kinds(); !maps.Equal(got, want) {
		t.Errorf("made %v, want %v", got, want)
	}
	if kept := d.Kept(); !strings.Contains(kept, dgdKind+" bench/perf") || !strings.Contains(kept, "--clean="+d.run.ID) {
		t.Error(kept)
	}
	if err := d.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.kinds(); !maps.Equal(got, map[string]int{"StorageClass": 1}) {
		t.Errorf("left %v", got)
	}
	allowed := map[Access]bool{{"storage.k8s.io", "storageclasses", "list"}: true, {"apps", "deployments", "list"}: true,
		{"autoscaling", "horizontalpodautoscalers", "list"}: true, {"keda.sh", "scaledobjects", "list"}: true} // told where it may be
	for _, a := range DeployAccess(spec) {
		allowed[a] = true
	}
	for a := range f.usedAccess() {
		if !allowed[a] {
			t.Errorf("%s was used and not asked for", a.rule())
		}
	}
}

// A cancelled run still removes; what another one made in the place of ours
// stays.
func TestRemoveAfterSignal(t *testing.T) {
	f, c := newFakeAPI(t)
	f.created = operator
	spec := testSpec()
	spec.ModelCache.Off = true
	ctx, cancel := context.WithTimeout(t.Context(), deployTime)
	defer cancel()
	d, err := c.Deploy(ctx, testRun(), spec, quiet)
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	for _, o := range f.objects {
		if o["kind"] == dgdKind {
			child(o, "metadata")["uid"] = "of somebody else"
		}
	}
	f.mu.Unlock()
	cancel()
	if err := d.Remove(ctx); err != nil {
		t.Fatal(err)
	}
	if got := f.kinds(); !maps.Equal(got, map[string]int{dgdKind: 1, "Service": 1}) {
		t.Errorf("left %v, want the other one's deployment", got)
	}
}

func TestDeployRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*fakeAPI)
		spec    func(*DeploySpec)
		want    string
	}{
		"no operator":        {func(f *fakeAPI) { delete(f.groups, "nvidia.com") }, nil, "is the Dynamo operator"},
		"another version":    {func(f *fakeAPI) { f.groups["nvidia.com"] = []string{"v9"} }, nil, "serves the API nvidia.com as v9"},
		"others' kinds only": {func(f *fakeAPI) { f.groups["nvidia.com"], f.foreign = []string{"v1alpha1"}, "v1alpha1" }, nil, "dynamographdeployments in none of"},
		"no DRA":             {func(f *fakeAPI) { delete(f.groups, "resource.k8s.io") }, func(s *DeploySpec) { s.GPUAccess = DRA }, "use gpu_access: device-plugin"},
		"no StorageClass":    {nil, nil, "no default is set"},
		"no right to delete": {func(f *fakeAPI) { f.denied[Access{dynamoGroup, "dynamographdeployments", "delete"}] = true }, nil, `{apiGroups: ["nvidia.com"], resources: ["dynamographdeployments"], verbs: ["delete"]}`},
		"no right to logs":   {func(f *fakeAPI) { f.denied[Access{"", "pods/log", "get"}] = true }, nil, `resources: ["pods/log"]`},
		"a bad spec":         {nil, func(s *DeploySpec) { s.RouterMode = "direct" }, "router_mode"},
	} {
		t.Run(name, func(t *testing.T) {
			f, client := newFakeAPI(t)
			spec := testSpec()
			if c.prepare != nil {
				c.prepare(f)
			}
			if c.spec != nil {
				c.spec(&spec)
			}
			d, err := client.Deploy(t.Context(), testRun(), spec, quiet)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if err := d.Remove(t.Context()); err != nil {
				t.Error(err)
			}
			if got := f.kinds(); len(got) > 0 {
				t.Errorf("made %v", got)
			}
		})
	}
}

// The GPU operator serves kinds of its own in nvidia.com, in versions of its own.
func TestVersionIsThatOfTheKind(t *testing.T) {
	f, c := newFakeAPI(t)
	f.foreign = "v1beta1"
	if v, err := c.pickVersion(t.Context(), graphKind, v1beta1, v1alpha1); v != v1alpha1 || err != nil {
		t.Errorf("version %q, %v; want the one that serves the kind", v, err)
	}
}

// What has our name and is not ours is neither measured nor removed.
func TestDeployOfATakenName(t *testing.T) {
	f, c := newFakeAPI(t)
	f.mu.Lock()
	f.put("/apis/nvidia.com/v1beta1/namespaces/bench/dynamographdeployments/perf", map[string]any{"kind": dgdKind, "apiVersion": "nvidia.com/v1beta1", "metadata": map[string]any{"name": "perf", "namespace": "bench"}})
	f.mu.Unlock()
	spec := testSpec()
	spec.ModelCache.Off = true
	d, err := c.Deploy(t.Context(), testRun(), spec, quiet)
	var in *InputError
	if !errors.As(err, &in) || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("%v", err)
	}
	if err := d.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.kinds(); !maps.Equal(got, map[string]int{dgdKind: 1}) {
		t.Errorf("left %v", got)
	}
}

// A failed download and a crash loop end the wait with the last lines.
func TestDeployFails(t *testing.T) {
	t.Run("download", func(t *testing.T) {
		f, c := newFakeAPI(t)
		f.addStorageClass("fast", true)
		f.logs["perf-populate-x"] = "401 Client Error\nRepository Not Found\n"
		f.created = func(f *fakeAPI, o map[string]any) {
			if o["kind"] == "Job" {
				o["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}}}
				f.addPod("perf-populate-x", map[string]any{"batch.kubernetes.io/job-name": "perf-model-cache-populate"}, map[string]any{"phase": "Failed"})
			}
		}
		_, err := c.Deploy(t.Context(), testRun(), testSpec(), quiet)
		if err == nil || !strings.Contains(err.Error(), "BackoffLimitExceeded") || !strings.Contains(err.Error(), "401 Client Error\n    Repository Not Found") {
			t.Error(err)
		}
	})
	for name, logs := range map[string]map[string]string{
		"crash":                  {"w-0": "the next attempt\n", "w-0 before": "CUDA error: out of memory\n"},
		"crash, its log removed": {"w-0": "CUDA error: out of memory\n", "w-0 before": logGone + "containerd://0565c473"},
	} {
		t.Run(name, func(t *testing.T) {
			f, c := newFakeAPI(t)
			f.logs = logs
			f.created = func(f *fakeAPI, o map[string]any) {
				if o["kind"] == dgdKind {
					f.addPod("w-0", map[string]any{"nvidia.com/dynamo-graph-deployment-name": "perf"}, map[string]any{"containerStatuses": []any{map[string]any{
						"name": "main", "ready": false, "restartCount": int64(3), "state": map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}},
						"lastState": map[string]any{"terminated": map[string]any{"exitCode": int64(1), "reason": "Error"}},
					}}})
				}
			}
			spec := testSpec()
			spec.ModelCache.Off = true
			_, err := c.Deploy(t.Context(), testRun(), spec, quiet)
			if err == nil || !strings.Contains(err.Error(), "container main of pod w-0 has ended 3 times; it wrote:\n    CUDA error: out of memory") {
				t.Error(err)
			}
		})
	}
}

// What a worker's restarts tell comes before what its pod waits for.
func TestPodTrouble(t *testing.T) {
	restarted := func(n int, ready bool) podView {
		var p podView
		p.Metadata.Name = "w-0"
		c := containerStatus{Name: "main", RestartCount: n, Ready: ready}
		p.Status.ContainerStatuses = []containerStatus{c}
		return p
	}
	for _, c := range []struct {
		n             int
		ready         bool
		want, crashed string
	}{
		{0, false, "", ""}, {1, false, "has ended 1 time", ""}, {crashLimit, false, "has ended 3 times", "main"}, {crashLimit, true, "", ""},
	} {
		why, crashed := restarted(c.n, c.ready).podTrouble()
		if !strings.Contains(why.reason, c.want) || (why.reason == "") != (c.want == "") || crashed != c.crashed {
			t.Errorf("%+v: %q, %q", c, why.reason, crashed)
		}
	}
}

// What does not repair itself ends the wait early, what may repair itself ends
// it with the deadline; both say why. A change is told at once.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := func(stuck string) func(context.Context) (state, error) {
			return func(context.Context) (state, error) { return state{why: []string{"the reason"}, stuck: stuck}, nil }
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
		defer cancel()
		begun := time.Now()
		var told []string
		err := await(ctx, "it", func(s string) { told = append(told, s) }, look("no such image"))
		if err == nil || !strings.Contains(err.Error(), "no such image") || time.Since(begun) > 4*time.Minute {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		if n := len(told); n < 5 || n > 10 {
			t.Errorf("told %d times: %q", n, told)
		}
		begun = time.Now()
		err = await(ctx, "it", quiet, look(""))
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "the reason") || time.Since(begun) < 20*time.Minute {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		n := 0
		err = await(t.Context(), "it", quiet, func(context.Context) (state, error) { n++; return state{done: n == 3}, nil })
		if err != nil || n != 3 {
			t.Errorf("%v after %d looks", err, n)
		}
	})
}

func TestSkew(t *testing.T) {
	operator := func(tag, chart string) map[string]any {
		return map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"helm.sh/chart": chart}},
			"spec":     map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"image": "nvcr.io/nvidia/ai-dynamo/kubernetes-operator:" + tag}}}}},
		}
	}
	for _, c := range []struct{ tag, chart, image, want string }{
		{"1.2.1", "dynamo-operator-1.2.1", "nvcr.io:443/x/vllm-runtime:1.2.0-cuda13", ""},
		{"1.4.0", "dynamo-operator-1.4.0", "x/vllm-runtime:1.2.1-cuda13@sha256:00", "image 1.2.1-cuda13, chart dynamo-operator-1.4.0, operator 1.4.0"},
		{"1.2.1", "dynamo-operator-1.1.0", "x/vllm-runtime:1.2.1", "chart dynamo-operator-1.1.0"},
		{"1.2.1", "", "x/vllm-runtime:nightly", ""},
		{"latest", "", "x/y:1.2", ""},
	} {
		if got := skew(operator(c.tag, c.chart), c.image); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// A crashed run's things are found and removed, a living one's are not, nor is
// what was kept on purpose or only looks like ours.
func TestLeftovers(t *testing.T) {
	f, c := newFakeAPI(t)
	add := func(kind, path string, run Run, more func(map[string]any)) {
		name := path[strings.LastIndex(path, "/")+1:]
		o := map[string]any{"kind": kind, "apiVersion": "v1", "metadata": map[string]any{"name": name, "namespace": "bench"}}
		run.mark(o)
		if more != nil {
			more(o)
		}
		f.mu.Lock()
		f.put(path, o)
		f.mu.Unlock()
	}
	dead, living, working, kept := testRun(), testRun(), testRun(), testRun()
	lease := func(at time.Time) func(map[string]any) {
		return func(o map[string]any) { o["spec"] = map[string]any{"renewTime": at.UTC().Format(microTime)} }
	}
	const (
		dgdPath   = "/apis/nvidia.com/v1beta1/namespaces/bench/dynamographdeployments/"
		leasePath = "/apis/coordination.k8s.io/v1/namespaces/bench/leases/"
		jobPath   = "/apis/batch/v1/namespaces/bench/jobs/"
	)
	active := func(o map[string]any) { o["status"] = map[string]any{"active": int64(2)} }
	add(dgdKind, dgdPath+"dead", dead, nil)
	add("Job", jobPath+"dead", dead, active) // the lease tells more than its Job
	add("Lease", leasePath+"dead", dead, lease(time.Now().Add(-time.Hour)))
	add(dgdKind, dgdPath+"living", living, nil)
	add("Lease", leasePath+"living", living, lease(time.Now()))
	add("Job", jobPath+"working", working, active)
	add("Secret", "/api/v1/namespaces/bench/secrets/working", working, nil)
	add(dgdKind, dgdPath+"kept", kept, func(o map[string]any) { child(child(o, "metadata"), "annotations")[KeepAnnotation] = "true" })
	add("Secret", "/api/v1/namespaces/bench/secrets/foreign", Run{}, func(o map[string]any) { delete(child(child(o, "metadata"), "labels"), RunLabel) })

	for _, ns := range []string{"bench", ""} {
		found, notes, err := c.Leftovers(t.Context(), ns)
		if err != nil || len(notes) > 0 || len(found) != 8 {
			t.Fatalf("in %q: %v, %v, %v", ns, found, notes, err)
		}
		for _, l := range found {
			if want := l.Name == "living" || l.Name == "working"; l.Alive != want {
				t.Errorf("%s: alive %v", l.Made, l.Alive)
			}
		}
	}
	found, _, _ := c.Leftovers(t.Context(), "bench")
	removed, err := c.Clean(t.Context(), found, "")
	if err != nil || len(removed) != 3 {
		t.Errorf("removed %v, %v", removed, err)
	}
	if got, want := f.kinds(), (map[string]int{dgdKind: 2, "Lease": 1, "Job": 1, "Secret": 2}); !maps.Equal(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
	found, _, _ = c.Leftovers(t.Context(), "bench")
	for _, run := range []Run{living, kept} {
		if _, err := c.Clean(t.Context(), found, run.ID); err != nil {
			t.Error(err)
		}
	}
	if got, want := f.kinds(), (map[string]int{"Job": 1, "Secret": 2}); !maps.Equal(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
	if _, err := c.Clean(t.Context(), found, "nobody"); err == nil {
		t.Error("a run that is not there is no mistake")
	}
	// What may not be looked at is said, not taken for nothing.
	f.mu.Lock()
	f.denied[Access{"", "secrets", "list"}] = true
	f.mu.Unlock()
	if _, notes, err := c.Leftovers(t.Context(), "bench"); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "secrets") {
		t.Errorf("%v, %v", notes, err)
	}
	if s := fmt.Sprint(found[0].Describe(time.Now())); !strings.Contains(s, "run "+found[0].Run) {
		t.Error(s)
	}
}
