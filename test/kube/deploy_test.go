//go:build kube

package kube

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// deployed is the graph that the operator's part makes of what --deploy asks for.
var deployed = graph{name: "perf", preset: "flat?gpus=2", workers: 2, gpus: 1}

// operate plays the operator for deployments of one name that do not exist yet,
// so many one after the other: once one does, its pods are made, as its children,
// and its status tells when they are ready.
func operate(t *testing.T, ns string, g graph, times int) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go func() {
		last := ""
		for range times {
			last = operateNext(ctx, t, ns, g, last)
		}
	}()
}

// operateNext waits for a deployment that is not the last one.
func operateNext(ctx context.Context, t *testing.T, ns string, g graph, last string) (uid string) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for left := ""; (uid == "" || uid == last || left != "") && ctx.Err() == nil; {
		<-tick.C
		uid, _ = shared.try("", "-n", ns, "get", "dgd", g.name, "--ignore-not-found", "-o", "jsonpath={.metadata.uid}")
		if uid != "" && uid != last && last != "" { // what was the last one's goes a little later than it
			left, _ = shared.try("", "-n", ns, "get", "service,deployment", "-o", "name")
		}
	}
	if ctx.Err() != nil {
		return uid
	}
	owned := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"nvidia.com/v1beta1","kind":"DynamoGraphDeployment","name":%q,"uid":%q,"blockOwnerDeletion":true,"controller":true}]}}`, g.name, uid)
	for _, step := range []struct {
		stdin string
		args  []string
	}{
		{g.frontend() + g.worker(), []string{"create", "-f", "-"}},
		{"", []string{"patch", "service/" + g.name + "-frontend", "--type=merge", "-p", owned}},
		{"", []string{"patch", "deployment/" + g.name + "-frontend", "--type=merge", "-p", owned}},
		{"", []string{"patch", "deployment/" + g.name + "-worker", "--type=merge", "-p", owned}},
		{"", []string{"rollout", "status", "--timeout=90s", "deployment/" + g.name + "-frontend"}},
		{"", []string{"rollout", "status", "--timeout=90s", "deployment/" + g.name + "-worker"}},
		{"", []string{"patch", "dgd", g.name, "--subresource=status", "--type=merge", "-p", fmt.Sprintf(
			`{"status":{"observedGeneration":1,"state":"successful","conditions":[{"type":"Ready","status":"True","reason":"all_resources_are_ready"}],
				"components":{"Frontend":{"componentKind":"Deployment","replicas":1,"readyReplicas":1},"VllmDecodeWorker":{"componentKind":"Deployment","replicas":%[1]d,"readyReplicas":%[1]d}}}}`, g.workers)}},
	} {
		if _, err := shared.try(step.stdin, append([]string{"-n", ns}, step.args...)...); err != nil && ctx.Err() == nil {
			t.Logf("the operator's part: %v", err) // the command under test will say what it misses
			break
		}
	}
	return uid
}

// deployFile is a --deploy-file without a volume: the bed provisions none.
func deployFile(t *testing.T, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deploy.yaml")
	if err := os.WriteFile(path, []byte("image: "+shared.image+"\nmodel_cache: {off: true}\n"+more), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sweepDeployed are the arguments of a short sweep on a deployment of its own.
func sweepDeployed(ns, file string, more ...string) []string {
	return append([]string{
		"sweep", "--target", "k8s:" + ns + "/perf", "--deploy", "--deploy-file", file, "--gpus", "2", "--model", "simulated/model",
		"--effort", "quick", "--levels", "1,2,4", "--repeats", "1", "--max-runs", "3",
		"--load-image", shared.image, "--load-pods", "1", "--load-cpu", "100m", "--load-memory", "64Mi",
	}, more...)
}

// noDeployment: neither a deployment, nor anything with our marks, nor a pod.
func noDeployment(t *testing.T, ns string) {
	t.Helper()
	if out := kubectl(t, "-n", ns, "get", "dgd,jobs,pvc,leases,deployments,services,pods,secrets", "-o", "name"); out != "" {
		t.Errorf("left in %s:\n%s", ns, out)
	}
	if got := leftovers(t, ns); len(got) != 0 {
		t.Errorf("--leftovers lists %v", got)
	}
}

type leftover struct {
	Kind, Name, Run string
	Alive, Removed  bool
}

func leftovers(t *testing.T, ns string, more ...string) []leftover {
	t.Helper()
	return unmarshal[struct{ Leftovers []leftover }](t, run(t, 0, append([]string{"discover", "-n", ns, "--leftovers", "-o", "json"}, more...)...)).Leftovers
}

// The rights of the manifests are enough for all of it.
func TestDeployMeasureRemove(t *testing.T) {
	ns := namespace(t)
	operate(t, ns, deployed, 1)
	for _, file := range []string{"rbac.yaml", "rbac-outside.yaml", "rbac-deploy.yaml"} {
		kubectl(t, "-n", ns, "create", "-f", filepath.Join("..", "..", "deploy", file))
	}
	account := []string{"KUBECONFIG=" + kubeconfigOf(t, ns, "perfsweep")}
	a := shared.perfsweep(account, sweepDeployed(ns, deployFile(t, ""), "-o", "json")...)
	if a.code != 0 && a.code != 9 { // a flat curve of three levels has no knee
		t.Fatalf("exit %d\n%s\n%s", a.code, a.stdout, a.stderr)
	}
	for _, want := range []string{"made DynamoGraphDeployment " + ns + "/perf", "to be ready after", "removing " + ns + "/perf"} {
		if !strings.Contains(a.stderr, want) {
			t.Errorf("no %q in\n%s", want, a.stderr)
		}
	}
	if !json.Valid([]byte(a.stdout)) || !strings.Contains(a.stdout, `"levels"`) {
		t.Errorf("no curve in\n%s", a.stdout)
	}
	if a := shared.perfsweep(account, "discover", "-n", ns, "--leftovers", "--clean"); a.code != 0 || strings.Contains(a.stdout+a.stderr, "forbidden") {
		t.Errorf("exit %d\n%s\n%s", a.code, a.stdout, a.stderr)
	}
	noDeployment(t, ns)
}

// A deployment that does not get ready ends with the scheduler's own sentence.
func TestDeployNeverReady(t *testing.T) {
	ns := namespace(t)
	big := deployed
	big.gpus = 99
	operate(t, ns, big, 1)
	a := run(t, 1, sweepDeployed(ns, deployFile(t, ""), "--deploy-timeout", "25s")...)
	for _, want := range []string{"--deploy-timeout 25s has passed", "Insufficient nvidia.com/gpu", "cannot be scheduled"} {
		if !strings.Contains(a.stderr, want) {
			t.Errorf("no %q in\n%s", want, a.stderr)
		}
	}
	noDeployment(t, ns)
}

// A crash loop ends the wait long before the deadline, with the last lines.
func TestDeployCrashLoop(t *testing.T) {
	ns := namespace(t)
	broken := deployed
	broken.preset = "no-such-preset"
	operate(t, ns, broken, 1)
	a := run(t, 1, sweepDeployed(ns, deployFile(t, ""))...)
	for _, want := range []string{"has ended 3 times", "no-such-preset"} {
		if !strings.Contains(a.stderr, want) {
			t.Errorf("no %q in\n%s", want, a.stderr)
		}
	}
	noDeployment(t, ns)
}

// begun is a command that was started, and what it says.
type begun struct {
	cmd  *exec.Cmd
	said *bytes.Buffer // read after Wait
	line chan string
}

// begin starts a command and returns when it has said something.
func begin(t *testing.T, until string, args ...string) *begun {
	t.Helper()
	b := &begun{cmd: exec.Command(shared.binary, args...), said: &bytes.Buffer{}, line: make(chan string, 1000)}
	b.cmd.Env = append(os.Environ(), "KUBECONFIG="+shared.kubeconfig)
	pipe, err := b.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.cmd.Process.Kill() })
	go func() {
		defer close(b.line)
		for s := bufio.NewScanner(io.TeeReader(pipe, b.said)); s.Scan(); {
			b.line <- s.Text()
		}
	}()
	over := time.After(commandLimit)
	for {
		select {
		case s, ok := <-b.line:
			if !ok {
				t.Fatalf("it ended before it said %q:\n%s", until, b.said)
			}
			if strings.Contains(s, until) {
				return b
			}
		case <-over:
			t.Fatalf("it did not say %q", until)
		}
	}
}

// end waits for the command's end and returns its exit code.
func (b *begun) end(t *testing.T) int {
	t.Helper()
	for range b.line { // until the pipe is closed
	}
	_ = b.cmd.Wait() // the code is looked at below
	return b.cmd.ProcessState.ExitCode()
}

func TestDeployInterrupted(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"ctrl-c": syscall.SIGINT, "terminated": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			b := begin(t, "there are no pods yet", sweepDeployed(ns, deployFile(t, ""))...)
			if err := b.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if code := b.end(t); code != 130 || !strings.Contains(b.said.String(), "another Ctrl-C leaves what is not removed yet, for perfsweep discover -n "+ns+" --leftovers --clean=") {
				t.Errorf("exit %d\n%s", code, b.said)
			}
			noDeployment(t, ns)
		})
	}
}

// What a killed run left is alive until its lease has run out; then it goes.
func TestDeployKilled(t *testing.T) {
	ns := namespace(t)
	b := begin(t, "there are no pods yet", sweepDeployed(ns, deployFile(t, ""))...)
	if err := b.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	b.end(t)
	found := leftovers(t, ns, "--clean")
	if len(found) != 2 {
		t.Fatalf("left %v, want a deployment and a lease", found)
	}
	for _, l := range found {
		if !l.Alive || l.Removed {
			t.Errorf("%v: what renewed its lease a moment ago is alive, and not removed", l)
		}
	}
	// A deployment of the same name is not taken over.
	if a := run(t, 2, sweepDeployed(ns, deployFile(t, ""))...); !strings.Contains(a.stderr, "exists already") {
		t.Error(a.stderr)
	}
	kubectl(t, "-n", ns, "patch", "lease", "perfsweep-"+found[0].Run, "--type=merge", "-p", `{"spec":{"renewTime":"2020-01-01T00:00:00.000000Z"}}`)
	for _, l := range leftovers(t, ns, "--clean") {
		if l.Alive || !l.Removed {
			t.Errorf("%v: not removed", l)
		}
	}
	noDeployment(t, ns)
}

// --keep leaves the deployment, cleaning up after ended runs spares it, and its
// run's name removes it.
func TestDeployKept(t *testing.T) {
	ns := namespace(t)
	b := begin(t, "there are no pods yet", sweepDeployed(ns, deployFile(t, ""), "--keep")...)
	_ = b.cmd.Process.Signal(syscall.SIGINT)
	if code := b.end(t); code != 130 || !strings.Contains(b.said.String(), "kept: DynamoGraphDeployment "+ns+"/perf") {
		t.Fatalf("exit %d\n%s", code, b.said)
	}
	found := leftovers(t, ns, "--clean")
	if len(found) != 1 || found[0].Removed || found[0].Alive {
		t.Fatalf("left %v, want the deployment, kept", found)
	}
	leftovers(t, ns, "--clean="+found[0].Run)
	noDeployment(t, ns)
}

// The bed has no StorageClass: that is said before anything is made.
func TestDeployCacheWithoutStorageClass(t *testing.T) {
	ns := namespace(t)
	for more, want := range map[string]string{
		"model_cache: {}":                       "no default is set",
		"model_cache: {storage_class: missing}": "needs StorageClass missing, and the cluster has none",
	} {
		file := filepath.Join(t.TempDir(), "deploy.yaml")
		if err := os.WriteFile(file, []byte(more), 0o600); err != nil {
			t.Fatal(err)
		}
		if a := run(t, 2, sweepDeployed(ns, file)...); !strings.Contains(a.stderr, want) {
			t.Errorf("no %q in\n%s", want, a.stderr)
		}
	}
	noDeployment(t, ns)
}

func TestDeployWithoutRights(t *testing.T) {
	ns := namespace(t)
	kubeconfig := user(t, ns, `[{apiGroups: [nvidia.com], resources: [dynamographdeployments], verbs: [get, list, create]}]`)
	a := shared.perfsweep([]string{"KUBECONFIG=" + kubeconfig}, sweepDeployed(ns, deployFile(t, ""))...)
	for _, want := range []string{"nothing was made", `{apiGroups: ["nvidia.com"], resources: ["dynamographdeployments"], verbs: ["delete"]}`, `resources: ["leases"], verbs: ["create"]`} {
		if a.code != 1 || !strings.Contains(a.stderr, want) {
			t.Errorf("exit %d, no %q in\n%s", a.code, want, a.stderr)
		}
	}
	if got := leftovers(t, ns); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}
