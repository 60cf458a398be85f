//go:build dynamo

package dynamo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/test/docs"
	"github.com/perfsweep/perfsweep/test/internal/live"
)

// documented and workerPage are the frontend and its worker's metrics in the
// pages, for which those that a test starts are put in.
const (
	documented = "http://127.0.0.1:8000"
	workerPage = "http://127.0.0.1:8101/metrics"
)

// TestDocs runs the commands that the pages type against a real frontend, with
// its address in the place of the documented one. The commands that start it are
// held against the flags that Dynamo's own help names: the frontend itself is
// started like every other one here, apart from a reader's ports and model.
func TestDocs(t *testing.T) {
	pages, err := docs.Pages(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	bin := build(t)
	ran := 0
	for _, p := range pages {
		var commands []docs.Command
		for _, b := range p.Blocks {
			if b.Class == docs.Dynamo {
				commands = append(commands, b.Commands...)
			}
		}
		if len(commands) == 0 {
			continue
		}
		ran += len(commands)
		t.Run(p.File, func(t *testing.T) { follow(t, bin, p.File, commands) })
	}
	if ran == 0 {
		t.Error("no page has a command for a Dynamo frontend")
	}
}

// follow types the commands of a page.
func follow(t *testing.T, bin, page string, commands []docs.Command) {
	s := live.Dynamo{Workers: 1, Cap: 16, Speedup: 2}.Start(t)
	dir := t.TempDir()
	repo, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(repo, "recipes"), filepath.Join(dir, "recipes")); err != nil {
		t.Fatal(err)
	}
	code := 0
	for i, c := range commands {
		at := fmt.Sprintf("%s:%d: %s", page, c.Line, c.Text)
		words, err := docs.Words(strings.NewReplacer(documented, s.Base, workerPage, s.Pages[0]).Replace(c.Text))
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		var printed string
		switch words[0] {
		case "perfsweep":
			a := execute(t, 5*time.Minute, dir, bin, words[1:]...)
			printed, code = string(a.stderr)+string(a.stdout), a.exit
		case "cp":
			if out, err := inFolder(dir, words...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", at, err, out)
			}
			code = 0
		case "env":
			knows(t, at, s, words)
			code = 0
		case "echo":
			printed = strconv.Itoa(code)
		default:
			t.Fatalf("%s: this suite does not know %s", at, words[0])
		}
		asked := i+1 < len(commands) && commands[i+1].Text == docs.Status
		if code != 0 && !asked && c.Text != docs.Status {
			t.Fatalf("%s: exit code %d; it printed\n%s", at, code, printed)
		}
		if want := docs.Lines(strings.Join(c.Want, "\n")); len(want) > 0 && !docs.Matches(want, docs.Lines(printed), docs.SameShape) {
			t.Errorf("%s: exit code %d, printed\n%s\nthe page says\n%s", at, code, printed, strings.Join(want, "\n"))
		}
	}
}

func inFolder(dir string, words ...string) *exec.Cmd {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = dir
	return cmd
}

// knows holds a command env NAME=VALUE… python3 -m MODULE FLAGS… against the
// module's own help, in the environment that the worker of the test runs in.
func knows(t *testing.T, at string, s live.Engine, words []string) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.Workers[0]))
	if err != nil {
		t.Fatal(err)
	}
	python, _, _ := strings.Cut(string(line), "\x00")
	begin := 1
	for begin < len(words) && strings.Contains(words[begin], "=") {
		begin++
	}
	if begin+2 >= len(words) || words[begin] != "python3" || words[begin+1] != "-m" {
		t.Fatalf("%s: want env NAME=VALUE… python3 -m MODULE FLAGS…", at)
	}
	help, err := exec.CommandContext(t.Context(), python, "-m", words[begin+2], "--help").CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", at, err, help)
	}
	for _, w := range words[begin+3:] {
		if strings.HasPrefix(w, "--") && !strings.Contains(string(help), w) {
			t.Errorf("%s: the help of %s does not know %s", at, words[begin+2], w)
		}
	}
}
