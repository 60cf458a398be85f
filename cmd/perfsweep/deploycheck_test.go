package main

import (
	"bytes"
	"context"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/kube/kubetest"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// inEmptyCluster runs perfsweep against a cluster without a deployment and
// returns the requests that were meant to change it.
func inEmptyCluster(t *testing.T, args ...string) (code int, said string, changes []string) {
	t.Helper()
	return heardInEmptyCluster(t.Context(), t, io.Discard, args...)
}

// heardInEmptyCluster lets somebody hear what is said meanwhile.
func heardInEmptyCluster(ctx context.Context, t *testing.T, heard io.Writer, args ...string) (code int, said string, changes []string) {
	t.Helper()
	k, err := kubetest.New("")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(k)
	defer s.Close()
	config := filepath.Join(t.TempDir(), "config")
	text := "current-context: c\nclusters: [{name: c, cluster: {server: \"" + s.URL + "\"}}]\ncontexts: [{name: c, context: {cluster: c, namespace: team}}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, stderr bytes.Buffer
	code = run(ctx, append(args, "--kubeconfig", config), strings.NewReader(""), &out, io.MultiWriter(&stderr, heard))
	for _, asked := range k.Asked() {
		if verb, _, _ := strings.Cut(asked, " "); verb != "get" && verb != "list" {
			changes = append(changes, asked)
		}
	}
	return code, stderr.String(), changes
}

// begunJournal is that of a calibration on a deployment called mine, without a
// run yet.
func begunJournal(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "j.jsonl")
	plan := sweep.DefaultPlan(sweep.Quick)
	plan.Confirm = true
	j, err := sweep.CreateJournal(path, sweep.Curve{
		Fingerprint: sweep.Fingerprint{Target: "k8s:team/perf", Model: "simulated/model", GPUs: 2, Workload: loadgen.WorkloadSpec{Name: loadgen.Synthetic}, Effort: sweep.Quick, Deployment: "mine"},
		Plan:        plan, Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// What can be known to be wrong is said while nothing has been made.
func TestRefusedBeforeDeploying(t *testing.T) {
	overlay := filepath.Join(t.TempDir(), "o.yaml")
	if err := os.WriteFile(overlay, []byte("kind: RecipeMetadata\napiVersion: aicr.run/v1beta1\nmetadata: {name: o}\nspec:\n  criteria: {accelerator: h100}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := []string{"sweep", "--target", "k8s:team/perf", "--deploy", "--gpus", "2", "--model", "simulated/model", "--effort", "quick"}
	deploy := func(command string, more ...string) []string {
		return slices.Concat([]string{command}, bare[1:], []string{"--load-image", "perfsweep:test"}, more)
	}
	calibrate := func(more ...string) []string {
		return deploy("calibrate", append([]string{"--overlay", overlay}, more...)...)
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"two targets":            {deploy("sweep", "--ab", "k8s:team/other"), "--deploy brings up one deployment, and --ab measures two"},
		"a window of nothing":    {calibrate("--window", "2", "--journal", filepath.Join(t.TempDir(), "none")), "holds no earlier window"},
		"a window too far":       {calibrate("--window", "3", "--journal", begunJournal(t)), "is in window 1; window 2 comes first"},
		"an unfinished window":   {calibrate("--window", "2", "--journal", begunJournal(t)), "is not finished; continue it first"},
		"another deployment":     {calibrate("--journal", begunJournal(t), "--resume"), `is measured on "mine", and --deploy makes another one`},
		"another workload":       {calibrate("--journal", begunJournal(t), "--deployment", "mine"), "was measured under another fingerprint (workload."},
		"no image for the load":  {bare, "give --load-image IMAGE"},
		"no such number of pods": {calibrate("--load-pods", "many"), `--load-pods "many"`},
		"more pods than streams": {deploy("sweep", "--levels", "1", "--load-pods", "9"), "--load-pods 9: the largest level has 2 streams"},
		"a header":               {deploy("sweep", "--header", "nothing"), "--header number 1"},
		"a key of this machine":  {deploy("sweep", "--api-key-env", "PATH"), "--api-key-secret NAME/KEY"},
		"a count":                {deploy("sweep", "--label", "workers=two"), "--label workers=two"},
	} {
		t.Run(name, func(t *testing.T) {
			code, said, changes := inEmptyCluster(t, tt.args...)
			if code != exitInput || !strings.Contains(said, tt.want) {
				t.Errorf("exit %d, no %q in\n%s", code, tt.want, said)
			}
			if len(changes) > 0 || strings.Contains(said, "deploying") {
				t.Errorf("asked for %q\n%s", changes, said)
			}
		})
	}
	// The same flags without the mistake go as far as asking for the rights.
	_, said, changes := inEmptyCluster(t, calibrate()...)
	if !slices.Contains(changes, "post selfsubjectaccessreviews") {
		t.Errorf("asked for %q\n%s", changes, said)
	}
}

// whenSaid calls something when a text is written to it.
type whenSaid struct {
	text string
	do   func()
}

func (w whenSaid) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(w.text)) {
		w.do()
	}
	return len(b), nil
}

// Until the next window begins, nothing holds GPUs for it: --window-gap has passed
// before the cluster is asked to change anything.
func TestWaitsWithoutDeployment(t *testing.T) {
	dir := t.TempDir()
	journal, overlay := filepath.Join(dir, "j.jsonl"), filepath.Join(dir, "o.yaml")
	synctest.Test(t, func(t *testing.T) { inWindow(t, "", journal, "--deployment", "a") })
	if err := os.WriteFile(overlay, []byte("kind: RecipeMetadata\napiVersion: aicr.run/v1beta1\nmetadata: {name: o}\nspec:\n  criteria: {accelerator: h100}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := func(gap string) []string {
		return []string{
			"calibrate", "--overlay", overlay, "--target", "k8s:team/perf", "--deploy", "--gpus", "1", "--model", "simulated/model", "--load-image", "perfsweep:test",
			"--effort", "quick", "--osl", "8", "--concurrency-per-gpu", "16", "--journal", journal, "--deployments", "2", "--window-gap", gap,
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// The journal is of the year 2000, when time in a synctest bubble begins.
	code, said, changes := heardInEmptyCluster(ctx, t, whenSaid{"window 2 begins in", cancel}, args("1000000h")...)
	if code != exitInterrupted || len(changes) > 0 || strings.Contains(said, "deploying") {
		t.Errorf("exit %d, asked for %q\n%s", code, changes, said)
	}
	_, said, changes = inEmptyCluster(t, args("1h")...)
	if !slices.Contains(changes, "post selfsubjectaccessreviews") || !strings.Contains(said, "deploying team/perf") || strings.Contains(said, "begins in") {
		t.Errorf("asked for %q\n%s", changes, said)
	}
}
