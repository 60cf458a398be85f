//go:build unix

package main

import (
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
	c := killed(t, args, 8*time.Second, path, path+".b")
	if said := c.out.String(); !strings.Contains(said, "A is "+urlA) || !strings.Contains(said, "measured in turns: ") {
		t.Errorf("the verdict: %s", said)
	}
	wholeTurns(t, path)
	again := start(t, nil, resumed(path, args)...)
	if again.wait(); strings.Contains(again.talked.String(), "A: [") || again.out.String() != c.out.String() {
		t.Errorf("a finished comparison was measured again, or judged otherwise: %s%s", again.talked, again.out)
	}
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
