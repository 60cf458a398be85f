package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func loadSpec(pods int) LoadSpec {
	return LoadSpec{
		Namespace: "team", Image: "registry/perfsweep:1", Args: []string{"worker"}, Pods: pods, Port: 7077,
		Run: NewRun("host", time.Unix(0, 0)), Campaign: "abc", Target: "k8s:team/qwen", Version: "1",
		CPU: "2", Memory: "1Gi", Env: map[string]string{"A": "b"},
		SecretEnv: map[string]SecretKey{"API_KEY": {"keys", "openai"}}, OwnSecret: map[string]string{"TOKEN": "open sesame"},
	}
}

// path walks into an object: keys, and indices of lists.
func path(t *testing.T, o any, steps ...any) any {
	t.Helper()
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			o = o.(map[string]any)[s]
		case int:
			o = o.([]any)[s]
		}
	}
	return o
}

// What a restricted namespace demands, and what keeps a lost coordinator from
// leaving a Job for ever.
func TestJobObject(t *testing.T) {
	s := loadSpec(3)
	s.NodeSelector, s.PullSecrets, s.Avoid = map[string]string{"pool": "cpu"}, []string{"pull"}, []string{"gpu-1", "gpu-0", "gpu-1"}
	s.Tolerations = []Toleration{{Key: "dedicated", Value: "bench", Effect: "NoSchedule"}}
	job := s.job("perfsweep-load-x")
	pod := path(t, job, "spec", "template", "spec")
	for _, tt := range []struct {
		of    any
		steps []any
		want  any
	}{
		{job, []any{"spec", "completionMode"}, "Indexed"},
		{job, []any{"spec", "completions"}, int64(3)},
		{job, []any{"spec", "parallelism"}, int64(3)},
		{job, []any{"spec", "backoffLimitPerIndex"}, int64(podFailures)},
		{job, []any{"spec", "ttlSecondsAfterFinished"}, int64(300)},
		{job, []any{"spec", "activeDeadlineSeconds"}, int64(48 * 3600)},
		{job, []any{"metadata", "labels", ManagedByLabel}, ManagedBy},
		{job, []any{"metadata", "labels", RunLabel}, s.Run.ID},
		{job, []any{"metadata", "labels", CampaignLabel}, "abc"},
		{job, []any{"spec", "template", "metadata", "labels", RunLabel}, s.Run.ID},
		{pod, []any{"restartPolicy"}, "Never"},
		{pod, []any{"automountServiceAccountToken"}, false},
		{pod, []any{"securityContext", "runAsNonRoot"}, true},
		{pod, []any{"securityContext", "seccompProfile", "type"}, "RuntimeDefault"},
		{pod, []any{"containers", 0, "securityContext", "readOnlyRootFilesystem"}, true},
		{pod, []any{"containers", 0, "securityContext", "allowPrivilegeEscalation"}, false},
		{pod, []any{"containers", 0, "securityContext", "capabilities", "drop", 0}, "ALL"},
		{pod, []any{"containers", 0, "resources", "requests", "cpu"}, "2"},
		{pod, []any{"containers", 0, "resources", "limits"}, nil},
		{pod, []any{"nodeSelector", "pool"}, "cpu"},
		{pod, []any{"imagePullSecrets", 0, "name"}, "pull"},
		{pod, []any{"tolerations", 0, "operator"}, "Equal"},
	} {
		if got := path(t, tt.of, tt.steps...); got != tt.want {
			t.Errorf("%v is %v, want %v", tt.steps, got, tt.want)
		}
	}
	not := path(t, pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", 0, "matchFields").([]any)
	if len(not) != 2 || path(t, not, 0, "values", 0) != "gpu-0" || path(t, not, 1, "values", 0) != "gpu-1" {
		t.Errorf("avoided nodes: %v", not)
	}
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "open sesame") {
		t.Error("the token is in the Job, which many may read")
	}
}

func TestStartLoad(t *testing.T) {
	f := newFakeCluster(t)
	j, err := f.StartLoad(t.Context(), loadSpec(2))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"jobs/" + j.Name(), "pods/" + j.Name() + "-0-a", "pods/" + j.Name() + "-1-a", "secrets/" + j.Name()}
	if got := f.left(); !slices.Equal(got, want) {
		t.Errorf("the cluster holds %v, want %v", got, want)
	}
	if owner := path(t, f.objects["secrets/"+j.Name()], "metadata", "ownerReferences", 0, "uid"); owner != "uid-"+j.Name() {
		t.Errorf("the Secret belongs to %v", owner)
	}
	if n := j.Pods()[1].Name(); n != j.Name()+"-1-a" {
		t.Errorf("pod 1 is %s", n)
	}
	for range 2 { // twice is as good as once
		if err := j.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := f.left(); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

// Why the generators do not run is said in the words of who knows, and nothing
// is left behind.
func TestStartLoadRefused(t *testing.T) {
	waiting := func(reason, message string) map[string]any {
		return map[string]any{"suffix": "a", "phase": "Pending", "containerStatuses": []any{map[string]any{
			"name": loadContainer, "state": map[string]any{"waiting": map[string]any{"reason": reason, "message": message}},
		}}}
	}
	all := func(status map[string]any) func(map[string]any) []map[string]any {
		return func(job map[string]any) []map[string]any { return []map[string]any{fakePod(job, 0, status)} }
	}
	for _, tt := range []struct {
		name   string
		pods   func(map[string]any) []map[string]any
		events []map[string]any
		deny   map[string]string
		log    string
		of     int           // pods, 1 unless said
		wait   time.Duration // 5 s unless said, in which a busy machine can look once
		want   []string
	}{
		{name: "unschedulable", pods: all(map[string]any{"suffix": "a", "phase": "Pending", "conditions": []any{map[string]any{
			"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes are available: 2 Insufficient cpu.",
		}}}), want: []string{"cannot be scheduled: 0/2 nodes are available: 2 Insufficient cpu.", "0 of 1 load generator runs after 5s"}},
		{name: "image", pods: all(waiting("ImagePullBackOff", "no such manifest")), want: []string{"cannot get its image (ImagePullBackOff): no such manifest"}},
		{name: "no secret", pods: all(waiting("CreateContainerConfigError", `secret "keys" not found`)), want: []string{`secret "keys" not found`}},
		{name: "crash", pods: all(map[string]any{"suffix": "a", "phase": "Failed", "containerStatuses": []any{map[string]any{
			"name": loadContainer, "state": map[string]any{"terminated": map[string]any{"exitCode": 2, "reason": "Error"}},
		}}}), log: "perfsweep: unknown command \"worker\"\n", want: []string{"exit code 2 (Error)", `unknown command "worker"`}},
		{name: "quota", pods: func(job map[string]any) []map[string]any { return []map[string]any{fakePod(job, 0, running("a"))} }, of: 2, wait: 10 * time.Second, // its fourth look asks for events
			events: []map[string]any{{"reason": "FailedCreate", "lastTimestamp": "2026-11-30T12:00:00Z", "message": "Error creating: exceeded quota: few"}},
			want:   []string{"1 of 2 load generators runs after 10s: the pods are refused: exceeded quota: few; ask for less with --load-pods"}},
		{name: "job forbidden", deny: map[string]string{"create jobs": `User "u" cannot create resource "jobs"`}, want: []string{`resources: ["jobs"], verbs: ["create"]`}},
		{name: "proxy forbidden", deny: map[string]string{"create pods/proxy": "no", "get pods/log": "no"}, want: []string{`resources: ["pods/proxy"], verbs: ["create"]`, `resources: ["pods/log"], verbs: ["get"]`, "nothing was made"}},
		{name: "secret forbidden", deny: map[string]string{"create secrets": `User "u" cannot create resource "secrets"`}, want: []string{`resources: ["secrets"], verbs: ["create"]`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			f := newFakeCluster(t)
			if f.log = tt.log; tt.pods != nil {
				f.pods = tt.pods
			}
			f.events, f.deny = tt.events, tt.deny
			s := loadSpec(max(tt.of, 1))
			s.Wait = cmp.Or(tt.wait, 5*time.Second)
			_, err := f.StartLoad(t.Context(), s)
			for _, w := range tt.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("%v, want %q", err, w)
				}
			}
			if got := f.left(); len(got) != 0 {
				t.Errorf("left behind: %v", got)
			}
		})
	}
}

// A pod that its node could not keep is replaced: nothing is wrong with it, as
// there is with one that ended by itself.
func TestDisrupted(t *testing.T) {
	for name, c := range map[string]struct {
		status    map[string]any
		disrupted bool
	}{
		"evicted":     {map[string]any{"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}, true},
		"preempted":   {map[string]any{"phase": "Failed", "conditions": []any{map[string]any{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}}, "containerStatuses": []any{map[string]any{"name": "load", "state": map[string]any{"terminated": map[string]any{"exitCode": int64(137)}}}}}, true},
		"no CPU left": {map[string]any{"phase": "Failed", "reason": "OutOfcpu"}, true},
		"ended":       {map[string]any{"phase": "Failed", "containerStatuses": []any{map[string]any{"name": "load", "state": map[string]any{"terminated": map[string]any{"exitCode": int64(2)}}}}}, false},
		"still there": {map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "DisruptionTarget", "status": "True"}}}, false},
	} {
		p, err := view[podView](unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "p"}, "status": c.status}})
		if err != nil {
			t.Fatal(err)
		}
		if why := p.waitsFor(); p.disrupted() != c.disrupted || c.disrupted && (why.ended || why.final || why.reason == "") {
			t.Errorf("%s: disrupted %v, %+v", name, p.disrupted(), why)
		}
	}
}

// A refusal to create pods at all is told by events only.
func TestRefusal(t *testing.T) {
	event := func(at, message string) eventView {
		return eventView{Reason: "FailedCreate", LastTimestamp: at, Message: message}
	}
	for _, tt := range []struct {
		name     string
		events   []eventView
		want     string
		hopeless bool
	}{
		{"none", []eventView{{Reason: "SuccessfulCreate", Message: "Created pod"}}, "", false},
		{"quota", []eventView{event("2026-11-30T12:00:00Z", `Error creating: pods "x" is forbidden: exceeded quota: cpu`)}, `the pods are refused: pods "x" is forbidden: exceeded quota: cpu; ask for less with --load-pods, --load-cpu and --load-memory, or name another namespace with --load-namespace`, false},
		{"a quota on limits", []eventView{event("2026-11-30T12:00:00Z", `Error creating: pods "x" is forbidden: failed quota: q: must specify limits.cpu for: load`)}, `the pods are refused: pods "x" is forbidden: failed quota: q: must specify limits.cpu for: load; give the namespace a LimitRange with default limits, or name another namespace with --load-namespace`, true},
		{"a range", []eventView{event("2026-11-30T12:00:00Z", `Error creating: pods "x" is forbidden: maximum cpu usage per Container is 1, but limit is 2`)}, `the pods are refused: pods "x" is forbidden: maximum cpu usage per Container is 1, but limit is 2; change --load-cpu and --load-memory, or name another namespace with --load-namespace`, true},
		{"a range's limit", []eventView{event("2026-11-30T12:00:00Z", `Error creating: Pod "x" is invalid: spec.containers[0].resources.requests: Invalid value: "1500m": must be less than or equal to cpu limit of 1`)}, `the pods are refused: Pod "x" is invalid: spec.containers[0].resources.requests: Invalid value: "1500m": must be less than or equal to cpu limit of 1; change --load-cpu and --load-memory, or name another namespace with --load-namespace`, true},
		{"something else", []eventView{event("2026-11-30T12:00:00Z", `Error creating: internal error`)}, `the pods are refused: internal error`, false},
		{"policy", []eventView{
			event("2026-11-30T12:00:00Z", "Error creating: exceeded quota"),
			event("2026-11-30T12:00:09Z", `Error creating: pods "x" is forbidden: violates PodSecurity "restricted:latest"`),
		}, `the pods are refused: pods "x" is forbidden: violates PodSecurity "restricted:latest"; have the namespace's label pod-security.kubernetes.io/enforce allow them, or name another namespace with --load-namespace`, true},
		{"a rule of the cluster", []eventView{event("2026-11-30T12:00:00Z", `Error creating: pods "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`)}, `the pods are refused: pods "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no; have the policy allow them, or name another namespace with --load-namespace`, true},
		{"a webhook", []eventView{event("2026-11-30T12:00:00Z", `Error creating: admission webhook "w" denied the request: no`)}, `the pods are refused: admission webhook "w" denied the request: no; have the policy allow them, or name another namespace with --load-namespace`, true},
	} {
		if got := refusal(tt.events, loadWays()); got.reason != tt.want || got.hopeless != tt.hopeless {
			t.Errorf("%s: %q, %v", tt.name, got.reason, got.hopeless)
		}
	}
}

func TestCloseAfterInterrupt(t *testing.T) {
	f := newFakeCluster(t)
	f.pods = func(job map[string]any) []map[string]any { return nil }
	ctx, cancel := context.WithCancel(t.Context())
	s := loadSpec(1)
	s.Wait = time.Minute
	done := make(chan error)
	go func() {
		_, err := f.StartLoad(ctx, s)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the interruption", err)
	}
	if got := f.left(); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

// A failed removal says what may be left and how to remove it.
func TestCloseForbidden(t *testing.T) {
	f := newFakeCluster(t)
	j, err := f.StartLoad(t.Context(), loadSpec(1))
	if err != nil {
		t.Fatal(err)
	}
	f.deny["delete jobs"] = `User "u" cannot delete resource "jobs"`
	if err := j.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "kubectl -n team delete job,secret "+j.Name()) {
		t.Errorf("%v", err)
	}
}

func TestRemoveLoads(t *testing.T) {
	f := newFakeCluster(t)
	mine, other := loadSpec(1), loadSpec(1)
	other.Campaign = "def"
	left, err := f.StartLoad(t.Context(), mine)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := f.StartLoad(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	names, err := f.OtherLoads(t.Context(), "team", "k8s:team/qwen")
	if slices.Sort(names); err != nil || len(names) != 2 {
		t.Errorf("loads on the target: %v, %v", names, err)
	}
	n, err := f.RemoveLoads(t.Context(), "team", "abc")
	if n != 1 || err != nil {
		t.Fatalf("removed %d, %v", n, err)
	}
	if got := strings.Join(f.left(), " "); strings.Contains(got, left.Name()) || !strings.Contains(got, "jobs/"+kept.Name()) {
		t.Errorf("left: %s", got)
	}
}

// Two calls a pod and level, whatever its streams, and what they meet is told.
func TestLoadPod(t *testing.T) {
	f := newFakeCluster(t)
	j, err := f.StartLoad(t.Context(), loadSpec(1))
	if err != nil {
		t.Fatal(err)
	}
	p := j.Pods()[0]
	f.control = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Perfsweep-Token") != "t" || r.URL.Path[strings.LastIndex(r.URL.Path, "/"):] != "/level" {
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprint(w, "ok")
	}
	got, err := p.Call(t.Context(), http.MethodPost, "/level", http.Header{"Perfsweep-Token": {"t"}}, []byte("{}"))
	if string(got) != "ok" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := p.Call(t.Context(), http.MethodGet, "/level", nil, nil); err == nil || !strings.Contains(err.Error(), "no token") {
		t.Errorf("%v, want the generator's words", err)
	}
	was, err := p.Alive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// A restart is another incarnation, and so is a replacement.
	f.mu.Lock()
	name := "pods/" + p.Name()
	path(t, f.objects[name], "status", "containerStatuses", 0).(map[string]any)["restartCount"] = 1
	f.mu.Unlock()
	if now, err := p.Alive(t.Context()); now == was || err != nil {
		t.Errorf("after a restart: %s, %v", now, err)
	}
	f.mu.Lock()
	delete(f.objects, name)
	job := f.objects["jobs/"+j.Name()]
	f.objects["pods/new"] = fakePod(job, 0, running("b"))
	f.mu.Unlock()
	if now, err := p.Alive(t.Context()); err == nil {
		t.Errorf("a pod that is gone is %s", now)
	}
	if err := j.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.Name() != j.Name()+"-0-b" {
		t.Errorf("the replacement is not known: %s", p.Name())
	}
}
