//go:build kube

package kube

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// small is a load that a busy machine can carry.
var small = []string{"--effort", "quick", "--repeats", "1", "--isl", "16", "--osl", "16", "--osl-stddev", "0"}

// aWhile are the flags of runs of half a minute, so many of them: what is done
// from outside while the first one lasts may take a busy machine some seconds.
func aWhile(runs string) []string { return []string{"--effort", "standard", "--max-runs", runs} }

// fromPods are the flags that make the load in a cluster.
func fromPods(pods string, more ...string) []string {
	return append([]string{"--load-pods", pods, "--load-image", shared.image, "--load-cpu", "20m", "--load-memory", "32Mi"}, more...)
}

func sweepArgs(ns, name, journal string, more ...string) []string {
	args := append([]string{"sweep", "--target", "k8s:" + ns + "/" + name, "--journal", journal}, small...)
	return append(args, more...)
}

// recorded is what these tests read of a journal.
type recorded struct {
	ID   string // the campaign's
	Runs []recordedRun
}

type recordedRun struct {
	Window     int
	Deployment string `json:"deployment_id"`
	Step       struct {
		ConcurrencyPerGPU int    `json:"concurrency_per_gpu"`
		Kind              string `json:"kind"`
	} `json:"step"`
	Violations []struct {
		Gate     string `json:"gate"`
		Observed string `json:"observed"`
	} `json:"violations"`
	Result struct {
		Concurrency int `json:"concurrency"`
		Window      struct {
			TokPerSec float64 `json:"output_tok_per_s"`
		} `json:"window"`
		LoadPods []struct {
			Name    string `json:"name"`
			Streams int    `json:"streams"`
		} `json:"load_pods"`
		LostPods      []string `json:"lost_pods"`
		StartSpreadMS float64  `json:"start_spread_ms"`
	} `json:"result"`
}

func readJournal(t *testing.T, path string) recorded {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var j recorded
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if i == 0 {
			err = json.Unmarshal([]byte(line), &j)
		} else {
			var r recordedRun
			err = json.Unmarshal([]byte(line), &r)
			j.Runs = append(j.Runs, r)
		}
		if err != nil {
			t.Fatalf("%s:%d: %v", path, i+1, err)
		}
	}
	return j
}

// nothingLeft demands that no object of ours is in a namespace.
func nothingLeft(t *testing.T, ns string) {
	t.Helper()
	if left := ours(t, ns); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

func ours(t *testing.T, ns string) string {
	t.Helper()
	return kubectl(t, "-n", ns, "get", "jobs,pods,secrets", "-l", "app.kubernetes.io/managed-by=perfsweep", "-o", "name")
}

// process is a perfsweep that runs beside the test.
type process struct {
	*exec.Cmd
	mu    sync.Mutex
	said  bytes.Buffer
	ended chan struct{}
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(shared.binary, args...), ended: make(chan struct{})}
	p.Env = append(os.Environ(), "KUBECONFIG="+shared.kubeconfig)
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for s := bufio.NewScanner(stderr); s.Scan(); {
			p.mu.Lock()
			p.said.WriteString(s.Text() + "\n")
			p.mu.Unlock()
		}
		_ = p.Wait() // the exit code is read from the state
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill() // it may have ended
		<-p.ended
	})
	return p
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// says waits until it has said something.
func (p *process) says(t *testing.T, what string) {
	t.Helper()
	await(t, commandLimit, "the line "+what, func() bool {
		select {
		case <-p.ended:
			if !strings.Contains(p.text(), what) {
				t.Fatalf("it ended (%s) without saying %q:\n%s", p.ProcessState, what, p.text())
			}
		default:
		}
		return strings.Contains(p.text(), what)
	})
}

func (p *process) end(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(commandLimit):
		t.Fatalf("it does not end:\n%s", p.text())
	}
	return p.ProcessState.ExitCode()
}

// loadPods are the names of the pods that make load in a namespace.
func loadPods(t *testing.T, ns string) []string {
	t.Helper()
	return strings.Fields(kubectl(t, "-n", ns, "get", "pods", "-l", "app.kubernetes.io/component=load", "-o", "name"))
}

// Three pods share a level exactly, and nothing of theirs stays. Two levels make
// no knee, so a sweep of them ends with 9.
func TestSweepFromPods(t *testing.T) {
	ns, journal := namespace(t), filepath.Join(t.TempDir(), "s.jsonl")
	graph{name: "llama", preset: "kneed?gpus=2", workers: 2, gpus: 1}.up(t, ns)
	kubectl(t, "-n", ns, "create", "secret", "generic", "keys", "--from-literal=openai=sk-test-0123456789")
	a := run(t, 9, sweepArgs(ns, "llama", journal, fromPods("3", "--levels", "4,8", "--api-key-secret", "keys/openai")...)...)
	j := readJournal(t, journal)
	if len(j.Runs) < 2 || j.ID == "" {
		t.Fatalf("%d runs of campaign %q\n%s", len(j.Runs), j.ID, a.stderr)
	}
	for _, r := range j.Runs {
		n := 0
		for _, p := range r.Result.LoadPods {
			n += p.Streams
		}
		if len(r.Result.LoadPods) != 3 || n != 2*r.Step.ConcurrencyPerGPU || r.Result.Concurrency != n || !(r.Result.Window.TokPerSec > 0) {
			t.Errorf("%d per GPU on 2 GPUs: %+v", r.Step.ConcurrencyPerGPU, r.Result)
		}
		t.Logf("%d streams from 3 pods: %.0f tok/s, first sends within %.1f ms, %v", n, r.Result.Window.TokPerSec, r.Result.StartSpreadMS, r.Violations)
	}
	text, err := os.ReadFile(journal)
	if err != nil || bytes.Contains(text, []byte("sk-test")) || strings.Contains(a.stdout+a.stderr, "sk-test") {
		t.Errorf("the API key is in the journal or in the output (%v)", err)
	}
	nothingLeft(t, ns)
}

// A pod that is lost in the middle of a level makes its run INVALID, is
// replaced, and the level is measured again.
func TestLoadPodKilled(t *testing.T) {
	ns, journal := namespace(t), filepath.Join(t.TempDir(), "s.jsonl")
	graph{name: "llama", preset: "kneed?gpus=1", workers: 1, gpus: 1}.up(t, ns)
	p := start(t, append(sweepArgs(ns, "llama", journal, fromPods("2", "--levels", "8")...), aWhile("2")...)...)
	p.says(t, "[1] 8 per GPU")
	kubectl(t, "-n", ns, "delete", loadPods(t, ns)[1], "--grace-period=0", "--force")
	if code := p.end(t); code != 9 {
		t.Fatalf("exit %d\n%s", code, p.text())
	}
	j := readJournal(t, journal)
	first, last := j.Runs[0], j.Runs[len(j.Runs)-1]
	if len(j.Runs) < 2 || len(first.Result.LostPods) != 1 || len(first.Violations) == 0 || first.Violations[0].Gate != "V8" {
		t.Errorf("the run with the lost pod: %+v\n%s", first, p.text())
	}
	if len(last.Result.LostPods) > 0 || len(last.Result.LoadPods) != 2 {
		t.Errorf("the run after it: %+v\n%s", last, p.text())
	}
	nothingLeft(t, ns)
}

// kill -9 leaves a Job; who continues the journal removes it, and measures
// nothing twice.
func TestCoordinatorKilled(t *testing.T) {
	ns, journal := namespace(t), filepath.Join(t.TempDir(), "s.jsonl")
	graph{name: "llama", preset: "kneed?gpus=1", workers: 1, gpus: 1}.up(t, ns)
	args := sweepArgs(ns, "llama", journal, fromPods("2", "--levels", "4,8")...)
	p := start(t, args...)
	p.says(t, "[2] ")
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	if ours(t, ns) == "" {
		t.Error("a killed process has left nothing, so this test shows nothing")
	}
	before := readJournal(t, journal)
	a := run(t, 9, append(args, "--resume")...)
	if !strings.Contains(a.stderr, "removed 1 Job of load generators that an earlier process") {
		t.Errorf("the Job that was left is not removed:\n%s", a.stderr)
	}
	after := readJournal(t, journal)
	if len(before.Runs) != 1 || len(after.Runs) < 2 || after.ID != before.ID || after.Runs[0].Result.LoadPods[0].Name != before.Runs[0].Result.LoadPods[0].Name {
		t.Errorf("%d runs before, %d after, campaigns %s and %s", len(before.Runs), len(after.Runs), before.ID, after.ID)
	}
	if v := before.Runs[0].Violations; len(v) == 0 && after.Runs[1].Step.ConcurrencyPerGPU != 8 {
		t.Errorf("4 per GPU was measured, and after it again %d", after.Runs[1].Step.ConcurrencyPerGPU)
	}
	nothingLeft(t, ns)
}

func TestInterruptLeavesNothing(t *testing.T) {
	ns, journal := namespace(t), filepath.Join(t.TempDir(), "s.jsonl")
	graph{name: "llama", preset: "kneed?gpus=1", workers: 1, gpus: 1}.up(t, ns)
	p := start(t, sweepArgs(ns, "llama", journal, fromPods("2", "--levels", "4,8")...)...)
	p.says(t, "[1] ")
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := p.end(t); code != 130 {
		t.Errorf("exit %d\n%s", code, p.text())
	}
	nothingLeft(t, ns)
}

// Two runs at once do not touch each other's pods, and warn of each other where
// they measure one thing.
func TestTwoAtOnce(t *testing.T) {
	ns, dir := namespace(t), t.TempDir()
	graph{name: "llama", preset: "kneed?gpus=1", workers: 1, gpus: 1}.up(t, ns)
	one, two := filepath.Join(dir, "1.jsonl"), filepath.Join(dir, "2.jsonl")
	a := start(t, append(sweepArgs(ns, "llama", one, fromPods("2", "--levels", "4")...), aWhile("1")...)...)
	a.says(t, "[1] ")
	b := start(t, sweepArgs(ns, "llama", two, fromPods("2", "--levels", "4,8")...)...)
	if code := a.end(t); code != 9 {
		t.Errorf("the first: exit %d\n%s", code, a.text())
	}
	if code := b.end(t); code != 9 {
		t.Errorf("the second: exit %d\n%s", code, b.text())
	}
	if !strings.Contains(b.text(), "others put load on k8s:"+ns+"/llama at this moment") {
		t.Errorf("no warning of the first:\n%s", b.text())
	}
	for _, path := range []string{one, two} {
		for _, r := range readJournal(t, path).Runs {
			if len(r.Result.LostPods) > 0 || len(r.Result.LoadPods) != 2 {
				t.Errorf("%s: %+v", path, r.Result)
			}
		}
	}
	nothingLeft(t, ns)
}
