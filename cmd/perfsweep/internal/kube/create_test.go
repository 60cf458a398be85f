package kube

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// What was made though its answer was lost is known, and removed with the rest.
func TestAnswerLost(t *testing.T) {
	for kind, good := range map[string]bool{dgdKind: true, "PersistentVolumeClaim": true, "Job": true, "ResourceClaimTemplate": true, "Lease": false} {
		t.Run(kind, func(t *testing.T) {
			f, c := newFakeAPI(t)
			f.addStorageClass("fast", true)
			f.created = func(f *fakeAPI, o map[string]any) {
				operator(f, o)
				if o["kind"] == kind {
					panic(http.ErrAbortHandler) // it is stored, and the connection breaks
				}
			}
			spec := testSpec()
			spec.GPUAccess = DRA
			d, err := c.Deploy(t.Context(), testRun(), spec, quiet)
			if (err == nil) != good {
				t.Errorf("Deploy: %v", err)
			}
			if err := d.Remove(t.Context()); err != nil {
				t.Error(err)
			}
			if got := f.kinds(); !maps.Equal(got, map[string]int{"StorageClass": 1}) {
				t.Errorf("left %v", got)
			}
		})
	}
}

// A signal does not break off the call that makes the generators' Job.
func TestLoadMadeDuringSignal(t *testing.T) {
	f := newFakeCluster(t)
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	ctx, cancel := context.WithCancel(t.Context())
	made := 0
	c, err := newClient(&rest.Config{Host: s.URL, WrapTransport: func(next http.RoundTripper) http.RoundTripper {
		return trip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost && (strings.HasSuffix(r.URL.Path, "/jobs") || strings.HasSuffix(r.URL.Path, "/secrets")) {
				made++
				if cancel(); r.Context().Err() != nil {
					t.Errorf("making %s is broken off: what it made is not known", r.URL.Path)
				}
			}
			return next.RoundTrip(r)
		})
	}}, "team", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.StartLoad(ctx, loadSpec(2)); !errors.Is(err, context.Canceled) || made != 2 {
		t.Errorf("%v, made %d", err, made)
	}
	if left := f.left(); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// Whether a run is alive is told by the API server's clock: this machine's may be
// wrong, or that of the machine that holds the lease.
func TestLeasesByOneClock(t *testing.T) {
	for name, clock := range map[string]time.Duration{"ours is ahead": -time.Hour, "ours is behind": time.Hour} {
		t.Run(name, func(t *testing.T) {
			f, c := newFakeAPI(t)
			f.clock = clock
			living, dead := testRun(), testRun()
			lease, err := c.HoldLease(t.Context(), living, "bench")
			if err != nil {
				t.Fatal(err)
			}
			o := map[string]any{"kind": "Lease", "apiVersion": "v1", "metadata": map[string]any{"name": "dead", "namespace": "bench"},
				"spec": map[string]any{"renewTime": time.Now().Add(clock - 10*time.Minute).UTC().Format(microTime)}}
			dead.mark(o)
			other := map[string]any{"kind": "Lease", "apiVersion": "v1", "metadata": map[string]any{"name": "other", "namespace": "bench"},
				"spec": map[string]any{"renewTime": time.Now().Add(clock - time.Minute).UTC().Format(microTime)}}
			another := testRun()
			another.mark(other)
			f.mu.Lock()
			f.put("/apis/coordination.k8s.io/v1/namespaces/bench/leases/dead", o)
			f.put("/apis/coordination.k8s.io/v1/namespaces/bench/leases/other", other)
			f.mu.Unlock()
			found, _, err := c.Leftovers(t.Context(), "bench")
			if err != nil || len(found) != 3 {
				t.Fatalf("%v, %v", found, err)
			}
			for _, l := range found {
				if want := l.Run != dead.ID; l.Alive != want {
					t.Errorf("%s: alive %v", l.Name, l.Alive)
				}
			}
			if err := lease.release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// An API server that does not answer in time is away, in a survey like in any call.
func TestSurveyOutOfTime(t *testing.T) {
	c, _ := open(t, recorded(t, "beta.yaml"))
	s, err := c.survey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.graph(t.Context(), "team", "qwen")
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := s.describe(over, o); err == nil || !passing(err) || !strings.Contains(err.Error(), "dynamographdeployments.nvidia.com qwen in namespace team") {
		t.Errorf("%v; passing: %v", err, err != nil && passing(err))
	}
}

// The end of a frontend's log explains why it does not serve: of the process that
// ended where it is started again and again, of the pod that is not being removed.
func TestFrontendWords(t *testing.T) {
	labels := map[string]any{labelGraph: "perf", labelType: "frontend"}
	status := func(ready bool, restarts int64) map[string]any {
		return map[string]any{"phase": "Running", "containerStatuses": []any{
			map[string]any{"name": "sidecar", "ready": true}, map[string]any{"name": "main", "ready": ready, "restartCount": restarts}}}
	}
	for name, c := range map[string]struct {
		make func(*fakeAPI)
		want []string
	}{
		"ready": {func(f *fakeAPI) {
			f.addPod("fe-0", labels, status(true, 1))
			f.addPod("w-0", map[string]any{labelGraph: "perf", labelType: "worker"}, status(true, 0))
			f.addPod("other", map[string]any{labelGraph: "perf2", labelType: "frontend"}, status(true, 0))
		}, []string{"its frontend is pod fe-0; it wrote:\n    discovery task panicked\n    at lib.rs"}},
		"restarted": {func(f *fakeAPI) { f.addPod("fe-0", labels, status(false, 2)) }, []string{"pod fe-0 (container main of pod fe-0 has ended 2 times); it wrote:\n    the last one"}},
		"one that has ended": {func(f *fakeAPI) {
			f.addPod("fe-1", labels, map[string]any{"phase": "Failed"})
			f.addPod("fe-0", labels, status(true, 0))
		}, []string{"its frontend is pod fe-0;"}},
		"pending": {func(f *fakeAPI) {
			f.addPod("fe-0", labels, map[string]any{"phase": "Pending", "conditions": []any{map[string]any{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes"}}})
		}, []string{"pod fe-0 (pod fe-0 cannot be scheduled: 0/2 nodes)"}},
		"none": {func(*fakeAPI) {}, []string{"no pod in namespace bench has the labels of its frontend"}},
		"no right": {func(f *fakeAPI) {
			f.addPod("fe-0", labels, status(true, 0))
			f.denied[Access{"", "pods/log", "get"}] = true
		}, []string{"its frontend is pod fe-0; its log cannot be read", `resources: ["pods/log"]`}},
		"no right to pods": {func(f *fakeAPI) { f.denied[Access{"", "pods", "list"}] = true }, []string{"its frontend's log cannot be read", `resources: ["pods"]`}},
	} {
		t.Run(name, func(t *testing.T) {
			f, client := newFakeAPI(t)
			f.logs["fe-0"], f.logs["fe-0 before"] = "discovery task panicked\nat lib.rs\n", "the last one\n"
			f.mu.Lock()
			c.make(f)
			f.mu.Unlock()
			got := client.FrontendWords(t.Context(), "bench", "perf")
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q, want %q", got, want)
				}
			}
		})
	}
}

// What somebody removes while it is brought up is no mistake of the user's.
func TestDeployRemovedMeanwhile(t *testing.T) {
	f, c := newFakeAPI(t)
	f.created = func(f *fakeAPI, o map[string]any) {
		if o["kind"] == dgdKind {
			delete(f.objects, "/apis/nvidia.com/v1beta1/namespaces/bench/dynamographdeployments/perf")
		}
	}
	spec := testSpec()
	spec.ModelCache.Off = true
	d, err := c.Deploy(t.Context(), testRun(), spec, quiet)
	var in *InputError
	if err == nil || errors.As(err, &in) || !strings.Contains(err.Error(), "bench/perf is not there any more") {
		t.Errorf("%v", err)
	}
	if err := d.Remove(t.Context()); err != nil {
		t.Error(err)
	}
}

// A removal that fails names what is left, and not what is gone.
func TestRemoveInPart(t *testing.T) {
	f, c := newFakeAPI(t)
	f.created = operator
	f.addStorageClass("fast", true)
	d, err := c.Deploy(t.Context(), testRun(), testSpec(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.denied[Access{"", "persistentvolumeclaims", "delete"}] = true
	f.mu.Unlock()
	err = d.Remove(t.Context())
	if err == nil || !strings.Contains(err.Error(), "kept: PersistentVolumeClaim bench/perf-model-cache; remove it with perfsweep discover -n bench --leftovers --clean="+d.run.ID) {
		t.Errorf("%v", err)
	}
}

// A name that is taken is told by whose it is: what an earlier run left is removed
// by that run's name, which needs no waiting for its lease to run out.
func TestTakenBy(t *testing.T) {
	run := testRun()
	for name, c := range map[string]struct {
		mark func(map[string]any)
		want string
		not  string
	}{
		"somebody":       {func(map[string]any) {}, "measure what is there without --deploy", "--clean"},
		"an earlier run": {run.mark, "it is of run " + run.ID + ", begun on host at 2001-09-09T01:46:40Z: if that is at work still, wait for it or give --target another name; if it has ended, remove what it left with perfsweep discover -n bench --leftovers --clean=" + run.ID, "without --deploy"},
		"one that was kept": {func(o map[string]any) {
			run.mark(o)
			child(child(o, "metadata"), "annotations")[KeepAnnotation] = "true"
		}, "kept on purpose by run " + run.ID + ": measure what is there without --deploy", "at work"},
	} {
		t.Run(name, func(t *testing.T) {
			f, client := newFakeAPI(t)
			o := map[string]any{"kind": dgdKind, "apiVersion": "nvidia.com/v1beta1", "metadata": map[string]any{"name": "perf", "namespace": "bench"}}
			c.mark(o)
			f.mu.Lock()
			f.put("/apis/nvidia.com/v1beta1/namespaces/bench/dynamographdeployments/perf", o)
			f.mu.Unlock()
			spec := testSpec()
			spec.ModelCache.Off = true
			d, err := client.Deploy(t.Context(), testRun(), spec, quiet)
			var in *InputError
			if !errors.As(err, &in) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.not) {
				t.Errorf("%v", err)
			}
			if err := d.Remove(t.Context()); err != nil {
				t.Error(err)
			}
			if got := f.kinds(); !maps.Equal(got, map[string]int{dgdKind: 1}) {
				t.Errorf("left %v", got)
			}
		})
	}
}
