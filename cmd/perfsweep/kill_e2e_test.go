//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// startSim serves a simulator from a process of its own, as a cluster is, and
// returns its URL.
func startSim(t *testing.T, preset string) (url string, sim *child) {
	t.Helper()
	sim = start(t, nil, "simulate", preset, "--listen", "127.0.0.1:0")
	return sim.hear(t, sim.out, "http://"), sim
}

// TestKilled: a sweep that is killed -9 at random moments, and once within a
// line of its journal, goes on with --resume. At the end the journal holds
// each run once, and says what it would say had nothing happened.
func TestKilled(t *testing.T) {
	t.Parallel()
	url, _ := startSim(t, "kneed?chunk=32&speed=8")
	path := filepath.Join(t.TempDir(), "j.jsonl")
	args := []string{
		"sweep", "--target", url, "--gpus", "1", "--effort", "quick", "--osl", "8",
		"--levels", killLevels, "--repeats", killRepeats, "--journal", path,
	}
	killed(t, args, 5*time.Second, path)
	wholeCampaign(t, path)
}

// killed kills a sweep -9 as often as kills says, each time at a drawn moment
// before most has passed, and goes on with it to its end. Once it tears the last
// line of the journals, the first of which the command names. A run takes about
// 3.5 s; the seed is fixed, so that each commit meets the same moments.
func killed(t *testing.T, args []string, most time.Duration, journals ...string) *child {
	t.Helper()
	rng := rand.New(rand.NewPCG(20261130, 0))
	torn := false
	for k := range kills {
		c := start(t, nil, resumed(journals[0], args)...)
		select {
		case <-time.After(time.Duration(rng.Int64N(int64(most)))):
		case <-c.done:
			t.Fatalf("kill %d: the sweep ended by itself with %d: %s", k+1, c.wait(), c.talked)
		}
		_ = c.cmd.Process.Kill()
		c.wait()
		torn = torn || k >= kills/2 && tear(t, rng, journals)
		for _, path := range journals {
			soundPrefix(t, path)
		}
	}
	c := start(t, nil, resumed(journals[0], args)...)
	if code := c.wait(); code != exitDone && code != exitInconclusive {
		t.Fatalf("the last sweep ended with %d: %s", code, c.talked)
	}
	if !torn {
		if !tear(t, rng, journals) {
			t.Fatal("a finished sweep recorded no run")
		}
		if c = start(t, nil, resumed(journals[0], args)...); c.wait() == exitInput {
			t.Fatalf("after a torn line: %s", c.talked)
		}
	}
	return c
}

// resumed adds --resume once there is a journal.
func resumed(path string, args []string) []string {
	if _, err := os.Stat(path); err != nil {
		return args
	}
	return append(args[:len(args):len(args)], "--resume")
}

// tear cuts the last line of the journal whose last run is the latest; false if
// there is no run yet.
func tear(t *testing.T, rng *rand.Rand, journals []string) bool {
	t.Helper()
	path := lastWritten(journals)
	if path == "" {
		return false
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	last := len(whole[len(whole)-1])
	if err := os.Truncate(path, int64(len(b)-1-rng.IntN(last-1)-1)); err != nil {
		t.Fatal(err)
	}
	return true
}

// lastWritten is the journal whose last run is the latest, "" before any run.
func lastWritten(journals []string) string {
	var last time.Time
	at := ""
	for _, p := range journals {
		c, err := sweep.ReadJournal(p)
		if err != nil || len(c.Runs) == 0 {
			continue // soundPrefix says what may be wrong
		}
		if s := c.Runs[len(c.Runs)-1].Started; s.After(last) {
			last, at = s, p
		}
	}
	return at
}

// soundPrefix: whatever was killed, the journal reads.
func soundPrefix(t *testing.T, path string) {
	t.Helper()
	if _, err := sweep.ReadJournal(path); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, sweep.ErrEmptyJournal) {
		t.Fatal(err)
	}
}

// wholeCampaign: every run is there once and is the one that the planner asked
// for, and knee answers as on a journal that nothing interrupted.
func wholeCampaign(t *testing.T, path string) {
	t.Helper()
	c, err := sweep.ReadJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range c.Runs {
		d := sweep.NextStep(c.Plan, c.Runs[:i])
		if r.Seq != i+1 || d.Done || !reflect.DeepEqual(d.Step, r.Step) {
			t.Errorf("run %d is number %d, of step %+v; the planner wanted %+v", i+1, r.Seq, r.Step, d.Step)
		}
		if i > 0 && r.Result.NextRequest <= c.Runs[i-1].Result.NextRequest {
			t.Errorf("run %d repeats the prompts of the one before", i+1)
		}
	}
	if d := sweep.NextStep(c.Plan, c.Runs); !d.Done {
		t.Errorf("the campaign is not at its end: %+v is missing", d.Step)
	}
	again := filepath.Join(t.TempDir(), "uninterrupted.jsonl")
	writeJournal(t, again, c)
	code, killed, _ := perfsweep(t, "knee", path, "-o", "json")
	if code2, whole, _ := perfsweep(t, "knee", again, "-o", "json"); code != code2 || killed != whole || !strings.Contains(whole, `"status"`) {
		t.Errorf("knee gives %d and\n%s\nuninterrupted %d and\n%s", code, killed, code2, whole)
	}
}

// TestInterrupted: Ctrl-C in the middle of a run ends with 130 and says how to
// go on; the journal is whole, and going on finishes it.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	url, sim := startSim(t, "kneed?chunk=32&speed=8")
	path := filepath.Join(t.TempDir(), "j.jsonl")
	args := []string{"sweep", "--target", url, "--gpus", "1", "--effort", "quick", "--osl", "8", "--levels", "8,32", "--repeats", "3", "--journal", path}
	for _, s := range []struct {
		sig  syscall.Signal
		step string
	}{{syscall.SIGINT, "[1]"}, {syscall.SIGTERM, "[2]"}} {
		c := start(t, nil, resumed(path, args)...)
		c.hear(t, c.talked, s.step)
		if err := c.cmd.Process.Signal(s.sig); err != nil {
			t.Fatal(err)
		}
		if code := c.wait(); code != exitInterrupted {
			t.Errorf("%s in run %s: exit code %d, want %d: %s", s.sig, s.step, code, exitInterrupted, c.talked)
		}
		if !strings.Contains(c.talked.String(), "--resume") || c.out.String() != "" {
			t.Errorf("%s: stdout %q, stderr without the way on: %s", s.sig, c.out, c.talked)
		}
		if code, _, said := perfsweep(t, "knee", path, "-o", "json"); code != exitInconclusive {
			t.Errorf("the journal after %s: knee ends with %d: %s", s.sig, code, said)
		}
	}
	if code, _, said := perfsweep(t, resumed(path, args)...); code != exitInconclusive {
		t.Errorf("resumed: %d: %s", code, said)
	}
	wholeCampaign(t, path)

	stopSim(t, sim, syscall.SIGINT)
}

// stopSim: the simulator says what it served when it is stopped.
func stopSim(t *testing.T, sim *child, sig syscall.Signal) {
	t.Helper()
	if err := sim.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	if code := sim.wait(); code != exitDone {
		t.Errorf("the simulator ended with %d: %s", code, sim.talked)
	}
	if said := sim.talked.String(); !strings.Contains(said, "\nserved ") || strings.Contains(said, "\nserved 0 requests") {
		t.Errorf("the simulator's totals: %s", said)
	}
	if out := sim.out.String(); !strings.HasPrefix(out, "http://") || strings.Count(out, "\n") != 1 {
		t.Errorf("the simulator's stdout is %q, not its URL", out)
	}
}

// lastingAddress is one that a server can take again after it was gone: its port
// lies below those that the kernel hands out, to other tests among others.
func lastingAddress(t *testing.T) string {
	t.Helper()
	for i := range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20_000+(os.Getpid()+i)%10_000))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return l.Addr().String()
	}
	t.Fatal("no port of a thousand is free")
	return ""
}

// TestTargetDies: a target that goes away in the middle is the world's fault.
// What never reached it is not recorded, so that the journal can be finished
// when it is back.
func TestTargetDies(t *testing.T) {
	t.Parallel()
	const preset = "kneed?chunk=32&speed=8"
	address := lastingAddress(t)
	url := "http://" + address
	sim := start(t, nil, "simulate", preset, "--listen", address)
	sim.hear(t, sim.out, url)
	path := filepath.Join(t.TempDir(), "j.jsonl")
	args := []string{"sweep", "--target", url, "--gpus", "1", "--effort", "quick", "--osl", "8", "--levels", "8,32", "--repeats", "3", "--journal", path}
	c := start(t, nil, args...)
	c.hear(t, c.talked, "[2]")
	_ = sim.cmd.Process.Kill()
	if code := c.wait(); code != exitWorld || !strings.Contains(c.talked.String(), "--resume") || c.out.String() != "" {
		t.Fatalf("exit code %d, stdout %q: %s", code, c.out, c.talked)
	}
	back := start(t, nil, "simulate", preset, "--listen", address)
	back.hear(t, back.out, url)
	if code, _, said := perfsweep(t, resumed(path, args)...); code != exitInconclusive {
		t.Errorf("resumed: %d: %s", code, said)
	}
	stopSim(t, back, syscall.SIGTERM)
	wholeCampaign(t, path)
	curve, err := sweep.ReadJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range curve.Runs {
		if r.Result.All[loadgen.OK] == 0 {
			t.Errorf("run %d, in which no request was answered, is recorded: %v", r.Seq, r.Result.All)
		}
	}
}
