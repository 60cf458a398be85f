package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/loadgen/enginesim"
	"github.com/perfsweep/perfsweep/test/docs"
)

// today is when the pages are read.
var today = time.Date(2026, time.December, 1, 9, 0, 0, 0, time.UTC)

// cheap are the pages that are read in short form too.
var cheap = []string{"README.md", "docs/explanation.md", "docs/howto/router-ab.md"}

// TestDocs runs the commands of every page in the order of the page, in a folder
// that looks like the root of the repository, and compares what they print. The
// clock is virtual, so that half an hour costs nothing and no machine is too busy.
func TestDocs(t *testing.T) {
	pages, err := docs.Pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	if testing.Short() { // the race detector is seven times slower
		pages = slices.DeleteFunc(pages, func(p docs.Page) bool { return !slices.Contains(cheap, p.File) })
	}
	for _, p := range pages {
		t.Run(p.File, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("GOGC", "400") // the servers are in this process too, and make garbage of their own
			layOut(t, repo, p)
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(today))
				s := reader{T: t, page: p, sims: map[string]*enginesim.Sim{}}
				defer s.close()
				for _, b := range p.Blocks {
					if b.Class == docs.Offline || b.Class == docs.Simulator {
						ran += s.block(b)
					}
				}
			})
		})
	}
	if ran == 0 {
		t.Error("no page has a command")
	}
}

// layOut makes the working directory the root of the repository, with the files that
// the page shows.
func layOut(t *testing.T, repo string, p docs.Page) {
	t.Helper()
	for _, name := range []string{"docs", "deploy", "recipes", "calibrate"} {
		if err := os.Symlink(filepath.Join(repo, name), name); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range p.Files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// reader does what a page says.
type reader struct {
	*testing.T
	page docs.Page
	sims map[string]*enginesim.Sim // by address, for as long as the page is read
	code int                       // of the last command
}

// block runs the commands of a block and counts them.
func (s *reader) block(b docs.Block) int {
	same := docs.SameShape
	if b.Class == docs.Offline {
		same = func(a, b string) bool { return a == b }
	}
	for i, c := range b.Commands {
		at := fmt.Sprintf("%s:%d: %s", s.page.File, c.Line, c.Text)
		words, err := docs.Words(c.Text)
		if err != nil {
			s.Fatalf("%s: %v", at, err)
		}
		asked := i+1 < len(b.Commands) && b.Commands[i+1].Text == docs.Status
		got := docs.Lines(s.command(at, words))
		s.Logf("%s: exit code %d\n%s", at, s.code, strings.Join(got, "\n"))
		if s.code != exitDone && !asked && c.Text != docs.Status {
			s.Fatalf("%s: exit code %d, and the page does not say so; it printed\n%s", at, s.code, strings.Join(got, "\n"))
		}
		if want := docs.Lines(strings.Join(c.Want, "\n")); len(want) > 0 && !docs.Matches(want, got, same) {
			s.Errorf("%s: exit code %d, printed\n%s\nthe page says\n%s", at, s.code, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	return len(b.Commands)
}

// command runs one command and returns all that it prints, in order.
func (s *reader) command(at string, words []string) string {
	var out bytes.Buffer
	switch words[0] {
	case "perfsweep":
		if strings.Contains(strings.Join(words, " "), "*") {
			s.Fatalf("%s: nothing here expands a *", at)
		}
		talk := plainText{&out}
		a := &app{out: talk, err: talk, args: words[1:], open: s.open}
		s.code = a.execute(context.Background())
	case "echo":
		if strings.Join(words, " ") != docs.Status {
			s.Fatalf("%s: echo prints exit codes only", at)
		}
		out.WriteString(strconv.Itoa(s.code) + "\n")
	case "cp", "mkdir", "grep":
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		var exit *exec.ExitError
		if s.code = 0; errors.As(err, &exit) {
			s.code = exit.ExitCode()
		} else if err != nil {
			s.Fatalf("%s: %v", at, err)
		}
	default:
		s.Fatalf("%s: %s is not run here; choose another class for the block", at, words[0])
	}
	return out.String()
}

// fewChunks replaces the tokens a chunk of a simulator that a page measures
// without saying: it moves no knee, and chunks are what a simulation costs.
const fewChunks = 32

// open finds a target of the page: a simulator that is dialled in memory, or one
// that stands for the server at an address.
func (s *reader) open(spec string, gpus int) (*target, error) {
	if name, ok := strings.CutPrefix(spec, "sim:"); ok {
		p, err := enginesim.ParseTarget(name)
		if err != nil {
			return nil, badInput(err)
		}
		public := p.Public()
		p.Chunk = max(p.Chunk, fewChunks)
		sim := enginesim.New(p)
		return &target{baseURL: "http://sim.invalid", public: "sim:" + public, gpus: p.GPUs, simulated: true, sim: sim, dial: sim.Dial}, nil
	}
	t, err := openTarget(spec, gpus)
	if err != nil {
		return nil, err
	}
	if s.sims[spec] == nil {
		p, err := enginesim.ParseTarget(s.page.Servers[spec])
		if err != nil {
			s.Fatalf("%s: which simulator stands for %s? write <!-- serve: %s PRESET -->: %v", s.page.File, spec, spec, err)
		}
		if p.GPUs != gpus {
			s.Fatalf("%s: %s has %d GPUs, the command says %d", s.page.File, spec, p.GPUs, gpus)
		}
		s.sims[spec] = enginesim.New(p)
	}
	t.dial = s.sims[spec].Dial
	return t, nil
}

func (s *reader) close() {
	for _, sim := range s.sims {
		_ = sim.Close() // it keeps nothing
	}
}
