package live

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Scripted is an engine that the scripts NAME-up.sh and NAME-down.sh start and
// stop: "llamacpp" or "vllm".
type Scripted struct {
	Name  string
	Slots int // requests that it serves at once; others queue
	Flags []string
	// StartTimeout covers the first start, which installs the engine.
	StartTimeout time.Duration
}

// Start starts the engine and stops it when the test ends. While it runs, a
// folder NAME.engine below the test's temporary one holds what an outsider
// needs to stop it, should the test be killed: port, and group, the process
// group of a start that has not ended.
func (s Scripted) Start(t *testing.T) Engine {
	t.Helper()
	up, down := s.Name+"-up.sh", s.Name+"-down.sh"
	folder := scripts(t, "engines", up, down)
	free, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(free)
	notes := filepath.Join(t.TempDir(), s.Name+".engine")
	if err := os.Mkdir(notes, 0o755); err != nil {
		t.Fatal(err)
	}
	note(t, notes, "port", port)
	t.Cleanup(func() { s.stop(t, filepath.Join(folder, down), port) })

	ctx, cancel := context.WithTimeout(t.Context(), s.StartTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(folder, up), append([]string{port, strconv.Itoa(s.Slots)}, s.Flags...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	note(t, notes, "group", strconv.Itoa(cmd.Process.Pid))
	err = cmd.Wait()
	if gone := os.Remove(filepath.Join(notes, "group")); gone != nil {
		t.Fatal(gone)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, &stderr)
	}
	return s.parse(t, stdout.String())
}

func note(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// parse reads the line that the script ends with.
func (s Scripted) parse(t *testing.T, out string) Engine {
	t.Helper()
	var e Engine
	for word := range strings.FieldsSeq(out) {
		if base, ok := strings.CutPrefix(word, "base_url="); ok {
			e.Base = strings.TrimSuffix(base, "/v1")
		}
		if model, ok := strings.CutPrefix(word, "model="); ok {
			e.Model = model
		}
	}
	if e.Base == "" || e.Model == "" {
		t.Fatalf("%s-up.sh printed no base_url and model:\n%s", s.Name, out)
	}
	return e
}

// stop runs the script, whatever became of the start: the server is in a
// session of its own and would outlive the test.
func (s Scripted) stop(t *testing.T, script, port string) {
	if t.Failed() {
		if cache, err := os.UserCacheDir(); err == nil {
			logEnd(t, filepath.Join(cache, "perfsweep-engines", "run", s.Name+"-"+port+".log"))
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, script, port)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", cmd, err, out)
	}
}
