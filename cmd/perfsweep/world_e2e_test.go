//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/recipes"
)

// scripted is a server that lists models and counts what else it is asked.
type scripted struct {
	*httptest.Server
	lists, chats atomic.Int64
}

func serve(t *testing.T, models ...string) *scripted {
	t.Helper()
	s := &scripted{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			s.chats.Add(1)
			http.Error(w, "not in this test", http.StatusTeapot)
			return
		}
		s.lists.Add(1)
		type model struct {
			ID string `json:"id"`
		}
		list := []model{}
		for _, m := range models {
			list = append(list, model{m})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list})
	}))
	t.Cleanup(s.Close)
	return s
}

// TestNoSuchModel: without the model that is asked for there is no load, and
// nothing is written.
func TestNoSuchModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		models []string
		model  string
		code   int
		says   string
	}{
		{"another one", []string{"there"}, "wanted", exitInput, `"wanted"; it serves there`},
		{"several and none chosen", []string{"one", "two"}, "", exitInput, "choose one of one, two"},
		{"none yet", nil, "wanted", exitWorld, "wait until its workers are ready"},
		{"none yet and none chosen", nil, "", exitWorld, "wait until its workers are ready"},
	} {
		s := serve(t, c.models...)
		path := filepath.Join(t.TempDir(), "j.jsonl")
		args := []string{"sweep", "--target", s.URL, "--gpus", "1", "--journal", path}
		if c.model != "" {
			args = append(args, "--model", c.model)
		}
		code, out, said := perfsweep(t, args...)
		if code != c.code || !strings.Contains(said, c.says) || out != "" {
			t.Errorf("%s: exit code %d, stdout %q: %s", c.name, code, out, said)
		}
		if s.chats.Load() != 0 || s.lists.Load() == 0 {
			t.Errorf("%s: %d lists of models and %d other requests", c.name, s.lists.Load(), s.chats.Load())
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a journal was begun", c.name)
		}
	}
}

// TestSilentTarget: a port that takes connections and never answers ends the
// command by itself, before any load.
func TestSilentTarget(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(asked)
				return
			}
			go func() {
				b, _ := io.ReadAll(c) // until the client gives up
				asked <- string(b)
				_ = c.Close()
			}()
		}
	}()
	code, _, said := perfsweep(t, "sweep", "--target", "http://"+l.Addr().String(), "--gpus", "1", "--model", "m")
	if code != exitWorld || !strings.Contains(said, "no answer from http://"+l.Addr().String()) {
		t.Errorf("exit code %d: %s", code, said)
	}
	if first := <-asked; !strings.HasPrefix(first, "GET /v1/models ") || strings.Contains(first, "POST") {
		t.Errorf("the target was sent %q", first)
	}
	_ = l.Close()
}

// unprivileged makes a command one to which the permissions of dir apply, also
// where the tests run as root.
func unprivileged(t *testing.T, dir string) func(*exec.Cmd) {
	t.Helper()
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return func(c *exec.Cmd) {
		c.Dir = dir
		if os.Geteuid() != 0 {
			return
		}
		// The test binary lies where only its user may go; TestMain takes it
		// for the command by its name.
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(self)
		if err != nil {
			t.Fatal(err)
		}
		c.Path = filepath.Join(dir, "perfsweep")
		if err := os.WriteFile(c.Path, b, 0o755); err != nil {
			t.Fatal(err)
		}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534, NoSetGroups: true}}
	}
}

const plainOverlay = "kind: RecipeMetadata\napiVersion: aicr.run/v1beta1\nmetadata:\n  name: o\nspec:\n  criteria:\n    accelerator: h100\n"

// TestForbidden: what may not be written is said before the first request.
func TestForbidden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		args    []string
		overlay os.FileMode
		code    int
		says    string
	}{
		{"read-only folder of an overlay", []string{"calibrate", "--overlay", "closed/o.yaml", "--write"}, 0o644, exitWorld, "make the folder writable"},
		{"read-only folder of a journal", []string{"sweep", "--journal", "closed/j.jsonl"}, 0o644, exitWorld, "choose another place"},
		{"read-only journal", []string{"sweep", "--journal", "closed/o.yaml"}, 0o444, exitWorld, "closed/o.yaml"},
		{"unreadable overlay", []string{"check", "--overlay", "closed/o.yaml"}, 0, exitInput, "permission denied"},
	} {
		s := serve(t, "m")
		dir := t.TempDir()
		closed := filepath.Join(dir, "closed")
		as := unprivileged(t, dir)
		if err := os.Mkdir(closed, 0o755); err != nil {
			t.Fatal(err)
		}
		overlay := filepath.Join(closed, "o.yaml")
		if err := os.WriteFile(overlay, []byte(plainOverlay), c.overlay); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(closed, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
		p := start(t, as, append(c.args, "--target", s.URL, "--gpus", "1")...)
		if code := p.wait(); code != c.code || !strings.Contains(p.talked.String(), c.says) {
			t.Errorf("%s: exit code %d: %s", c.name, code, p.talked)
		}
		if s.lists.Load() != 0 || s.chats.Load() != 0 {
			t.Errorf("%s: the target was asked", c.name)
		}
		if entries, err := os.ReadDir(closed); err != nil || len(entries) != 1 {
			t.Errorf("%s: %v left in the folder, %v", c.name, entries, err)
		}
	}
}

// TestReaderGone: whoever reads stdout and stderr may go away ("| head"); the
// measurement goes on and its journal is whole.
func TestReaderGone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j.jsonl")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	c := start(t, func(c *exec.Cmd) { c.Stdout, c.Stderr = w, w },
		"sweep", "--target", "sim:kneed?chunk=32&speed=8", "--effort", "quick", "--osl", "8", "--levels", "8,32", "--repeats", "1", "--journal", path)
	if code := c.wait(); code != exitWorld {
		t.Errorf("exit code %d, want %d: its answer went nowhere", code, exitWorld)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	wholeCampaign(t, path)
}

// TestOverlayChangedMeanwhile: an edit that somebody made during the
// measurement is kept; what was measured is shown all the same.
func TestOverlayChangedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "o.yaml")
	ov, err := recipes.Parse(path, []byte(plainOverlay))
	if err != nil {
		t.Fatal(err)
	}
	const theirs = plainOverlay + "# theirs\n"
	if err := os.WriteFile(path, []byte(theirs), 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	a := &app{out: &out, err: io.Discard}
	p := calibrate.Proposal{Outcome: calibrate.OutcomeOK, Writable: true, Comment: []string{"why"}, Gate: recipes.Gate{
		Model: "m", ConcurrencyPerGPU: 32, RoutingMode: "dynamo-router", FloorPerGPU: 1000, CeilingTTFTP99MS: 400,
	}}
	err = a.finishCalibrate(&calibrateFlags{overlay: path, write: true}, overlayFile{Overlay: ov, src: []byte(plainOverlay)}, calibrate.Policy{}, report.Calibration{Proposal: p, Overlay: path})
	if code, _ := exitCode(t.Context(), err); code != exitWorld || err == nil || !strings.Contains(err.Error(), "was changed meanwhile") {
		t.Errorf("exit code %d, %v", code, err)
	}
	if got, _ := os.ReadFile(path); string(got) != theirs {
		t.Errorf("their change was lost:\n%s", got)
	}
	if s := out.String(); !strings.Contains(s, "not written:") || !strings.Contains(s, ">= 1000") {
		t.Errorf("the answer is not shown:\n%s", s)
	}
}
