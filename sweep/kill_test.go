//go:build unix

package sweep

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee"
)

// childJournal names the journal that a re-executed test binary writes.
const childJournal = "PERFSWEEP_TEST_JOURNAL"

func TestMain(m *testing.M) {
	if path := os.Getenv(childJournal); path != "" {
		if err := writeCampaign(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeCampaign is what a command does: create or resume, and go on. It says so
// before and after each run, and waits for a byte of stdin then, until that ends.
func writeCampaign(path string) error {
	made := 0
	c := campaign(nil, &made)
	j, curve, err := ResumeJournal(path)
	switch {
	case errors.Is(err, ErrEmptyJournal), errors.Is(err, os.ErrNotExist):
		if j, err = CreateJournal(path, c.Curve); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		c.Curve = curve
	}
	c.Journal = j
	allowed := bufio.NewReader(os.Stdin)
	c.Notify = func(e Event) {
		fmt.Println(e.Done)
		_, _ = allowed.ReadByte() // an end is a leave for all that follows
	}
	if _, err := c.Run(context.Background()); err != nil {
		return err
	}
	return j.Close()
}

// TestKilledWriter kills a campaign -9 again and again, cuts its journal
// within a line, and resumes it: nothing is lost, nothing is made twice.
func TestKilledWriter(t *testing.T) {
	made := 0
	whole := campaign(t, &made)
	if _, err := whole.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "j.jsonl")
	rng := rand.New(rand.NewPCG(1, 2))
	killed := 0
	if len(whole.Curve.Runs) < 22 {
		t.Fatalf("a campaign of %d runs may end before the last kill", len(whole.Curve.Runs))
	}
	for killed < 20 && startAndKill(t, path, rng.IntN(3), time.Duration(rng.IntN(1000))*time.Microsecond) {
		killed++
		c, err := ReadJournal(path)
		if err != nil && !errors.Is(err, ErrEmptyJournal) && !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("after kill %d: %v", killed, err)
		}
		sameRuns(t, c.Runs, whole.Curve.Runs[:len(c.Runs)])
		if info, err := os.Stat(path); err == nil && killed == 10 {
			if err := os.Truncate(path, max(info.Size()-25, 0)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if killed < 20 {
		t.Fatalf("only %d writers were killed before the campaign was done", killed)
	}
	if startAndKill(t, path, toItsEnd, 0) {
		t.Fatal("the last writer was killed")
	}
	c, err := ReadJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	sameRuns(t, c.Runs, whole.Curve.Runs)
	if a, b := c.Fit(), whole.Curve.Fit(); a.Knee != b.Knee || a.KneeLow != b.KneeLow || a.Status != b.Status {
		t.Errorf("the knee of the resumed journal is %v %s, of the uninterrupted one %v %s", a.Knee, a.Status, b.Knee, b.Status)
	}
}

// toItsEnd is more words than a child has: it is not killed.
const toItsEnd = 1 << 30

// startAndKill runs a child, kills it after it has spoken a few times and a
// little later, and reports whether it was killed. A child that is to be killed
// may go no further than to its next word, which makes at most one run of two
// words, however late the kill comes.
func startAndKill(t *testing.T, path string, lines int, later time.Duration) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // for one that hangs
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childJournal+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	leave, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if lines == toItsEnd {
		_ = leave.Close()
	} else {
		_, _ = leave.Write(make([]byte, lines)) // a writer that is gone already shows below
	}
	said := bufio.NewScanner(out)
	for range lines {
		if !said.Scan() {
			break
		}
	}
	if lines != toItsEnd {
		time.AfterFunc(later, func() { _ = cmd.Process.Kill() })
	}
	_, _ = io.Copy(io.Discard, out)
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false
	case errors.As(err, &exit) && exit.ExitCode() == -1 && ctx.Err() == nil:
		return true
	}
	t.Fatalf("the writer failed by itself: %v", err)
	return false
}

// cheapFit stands in for knee.Find where only the planner is under test.
func cheapFit(runs []knee.Run, _ knee.Options) knee.Fit {
	best := knee.Fit{Status: knee.Insufficient}
	for _, r := range runs {
		if float64(r.ConcurrencyPerGPU) > best.Knee {
			best = knee.Fit{Status: knee.Knee, Knee: float64(r.ConcurrencyPerGPU), KneeLow: 1}
		}
	}
	return best
}
