//go:build unix

package main

import (
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/sweep"
)

// TestKilledInTurns: two targets that are measured in turns by a command that is
// killed -9 at random moments, and once within a journal's line, end with the
// runs of one that nothing interrupted: in the order A B, B A, each once, at the
// same steps.
func TestKilledInTurns(t *testing.T) {
	t.Parallel()
	urlA, _ := startSim(t, "kneed?chunk=32&speed=8")
	urlB, _ := startSim(t, "kneed?chunk=32&speed=6")
	path := filepath.Join(t.TempDir(), "j.jsonl")
	args := []string{
		"sweep", "--target", urlA, "--ab", urlB, "--gpus", "1", "--effort", "quick", "--osl", "8",
		"--levels", killLevels, "--repeats", killRepeats, "--journal", path,
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("the moments are of seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	torn := false
	for k := range kills {
		c := start(t, nil, resumed(path, args)...)
		select { // a run takes about 3.5 s
		case <-time.After(time.Duration(rng.Int64N(int64(8 * time.Second)))):
		case <-c.done:
			t.Fatalf("kill %d: the sweep ended by itself with %d: %s", k+1, c.wait(), c.talked)
		}
		_ = c.cmd.Process.Kill()
		c.wait()
		if last := lastWritten(t, path); last != "" && !torn {
			torn = tear(t, last, false, rng)
		}
		soundPrefix(t, path)
		soundPrefix(t, path+".b")
	}
	c := start(t, nil, resumed(path, args)...)
	if code := c.wait(); code != exitDone && code != exitInconclusive {
		t.Fatalf("the last sweep ended with %d: %s", code, c.talked)
	}
	if !torn {
		tear(t, lastWritten(t, path), false, rng)
		if c = start(t, nil, resumed(path, args)...); c.wait() == exitInput {
			t.Fatalf("after a torn line: %s", c.talked)
		}
	}
	if said := c.out.String(); !strings.Contains(said, "A is "+urlA) || !strings.Contains(said, "measured in turns: ") {
		t.Errorf("the verdict: %s", said)
	}
	wholeTurns(t, path)
	again := start(t, nil, resumed(path, args)...)
	if again.wait(); strings.Contains(again.talked.String(), "A: [") || again.out.String() != c.out.String() {
		t.Errorf("a finished comparison was measured again, or judged otherwise: %s%s", again.talked, again.out)
	}
}

// lastWritten is the journal whose last run is the latest, "" before any run.
func lastWritten(t *testing.T, path string) string {
	t.Helper()
	var last time.Time
	at := ""
	for _, p := range []string{path, path + ".b"} {
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

// wholeTurns: the runs of both journals, in the order in which they were made,
// are those that the planner asks for, one after the other, to its end.
func wholeTurns(t *testing.T, path string) {
	t.Helper()
	a, err := sweep.ReadJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := sweep.ReadJournal(path + ".b")
	if err != nil {
		t.Fatal(err)
	}
	ra, rb := a.Runs[:0], b.Runs[:0]
	for made := 0; ; made++ {
		turn, err := sweep.NextTurn(a.Plan, ra, rb)
		if err != nil {
			t.Fatal(err)
		}
		if turn.Done {
			break
		}
		mine, other, all := &ra, rb, a.Runs
		if turn.Side == sweep.SideB {
			mine, other, all = &rb, ra, b.Runs
		}
		if len(*mine) == len(all) {
			t.Fatalf("after %d runs %s's next one, %+v, is missing", made, turn.Side, turn.Step)
		}
		r := all[len(*mine)]
		if !reflect.DeepEqual(r.Step, turn.Step) {
			t.Errorf("run %d of %s is of %+v, the planner wanted %+v", r.Seq, turn.Side, r.Step, turn.Step)
		}
		if n := len(other); n > 0 && !other[n-1].Started.Before(r.Started) {
			t.Errorf("run %d of %s came before run %d of the other side", r.Seq, turn.Side, n)
		}
		*mine = all[:len(*mine)+1]
	}
	if len(ra) != len(a.Runs) || len(rb) != len(b.Runs) || len(ra) != len(rb) {
		t.Errorf("%d of %d and %d of %d runs are in turns", len(ra), len(a.Runs), len(rb), len(b.Runs))
	}
	for _, p := range []string{path, path + ".b"} {
		if code, _, said := perfsweep(t, "knee", p); code != exitDone && code != exitInconclusive {
			t.Errorf("knee %s ends with %d: %s", p, code, said)
		}
	}
}
