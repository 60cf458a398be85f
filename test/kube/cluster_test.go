//go:build kube

package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// answer is what a command came to.
type answer struct {
	code           int
	stdout, stderr string
}

// commandLimit bounds a command that is expected to end by itself.
const commandLimit = 3 * time.Minute

// perfsweep runs the binary on this machine, outside the cluster. env is added
// to the environment, which names the cluster.
func (c *cluster) perfsweep(env []string, args ...string) answer {
	return c.within(commandLimit, env, args...)
}

func (c *cluster) within(limit time.Duration, env []string, args ...string) answer {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.binary, args...)
	cmd.Env = append(append(os.Environ(), "KUBECONFIG="+c.kubeconfig), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	a := answer{stdout: stdout.String(), stderr: stderr.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		a.code, a.stderr = -1, fmt.Sprintf("%s did not end within %s\n%s", cmd, limit, a.stderr)
	case errors.As(err, &exit):
		a.code = exit.ExitCode()
	case err != nil:
		a.code, a.stderr = -1, err.Error()
	}
	return a
}

// run is perfsweep with an expected exit code.
func run(t *testing.T, code int, args ...string) answer {
	t.Helper()
	a := shared.perfsweep(nil, args...)
	if a.code != code {
		t.Fatalf("perfsweep %s: exit %d, want %d\n%s\n%s", strings.Join(args, " "), a.code, code, a.stdout, a.stderr)
	}
	return a
}

// unmarshal reads a command's JSON.
func unmarshal[T any](t *testing.T, a answer) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(a.stdout), &v); err != nil {
		t.Fatalf("%v in\n%s\n%s", err, a.stdout, a.stderr)
	}
	return v
}

// try runs kubectl with something on its standard input.
func (c *cluster) try(stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.kubectl[0], append(c.kubectl[1:len(c.kubectl):len(c.kubectl)], args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig) // which may be several files
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w\n%s\n%s", strings.Join(args, " "), err, out, stdin)
	}
	return strings.TrimSpace(string(out)), err
}

// kubectl is try for what must succeed.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := shared.try("", args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// apply creates the objects of a YAML text in a namespace.
func apply(t *testing.T, ns, yaml string) {
	t.Helper()
	if _, err := shared.try(yaml, "-n", ns, "create", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

// unfit is what no namespace's name may hold.
var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// namespace makes one for a test. When that fails, the events and pods explain
// it; a bed goes away as a whole, any other cluster is tidied up.
func namespace(t *testing.T) string {
	t.Helper()
	ns := fmt.Sprintf("%.40s-%d", strings.Trim(unfit.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-"), time.Now().UnixNano()%1e9)
	kubectl(t, "create", "namespace", ns)
	t.Cleanup(func() {
		if t.Failed() {
			for _, what := range []string{"events", "all,dgd"} {
				out, err := shared.try("", "-n", ns, "get", what, "-o", "wide")
				t.Logf("%s of %s: %v\n%s", what, ns, err, out)
			}
		}
		// The tests share the nodes: what a deployment holds, the next one lacks.
		_, _ = shared.try("", "delete", "namespace", ns, "--wait=false")
	})
	return ns
}

// await polls until ok is true or the limit is reached.
func await(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	over := time.After(limit)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-over:
			t.Fatalf("%s: not within %s", what, limit)
		case <-tick.C:
		}
	}
}

// user makes a ServiceAccount with some rules in its namespace (a YAML flow
// list of RBAC rules) and returns a kubeconfig that has no more than those.
func user(t *testing.T, ns, rules string) (kubeconfig string) {
	t.Helper()
	apply(t, ns, `
apiVersion: v1
kind: ServiceAccount
metadata: {name: bench}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: bench}
rules: `+rules+`
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: bench}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: bench}
subjects: [{kind: ServiceAccount, name: bench, namespace: `+ns+`}]
`)
	return kubeconfigOf(t, ns, "bench")
}

// kubeconfigOf has the rights of a ServiceAccount.
func kubeconfigOf(t *testing.T, ns, account string) (kubeconfig string) {
	t.Helper()
	token := map[string]any{"token": kubectl(t, "-n", ns, "create", "token", account)}
	return kubeconfigFile(t, admin(t).cluster, token, ns, "here")
}
