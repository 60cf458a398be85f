package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/sweep"
)

// What the windows' stories measure: a point proved by short answers.
const (
	windowEngine = "batch-cap?chunk=32"
	windowOSL    = 8
	windowPoint  = 16

	here, there = "http://here.invalid:8000", "http://there.invalid:8000"
)

func windowPlan() sweep.Plan {
	p := quickPlan()
	p.Point = windowPoint
	return p
}

// windowJournals writes window1.jsonl, whose one window names deployment a, and
// window2.jsonl, which goes on with a second one on deployment b.
func windowJournals(t *testing.T, dir string) {
	t.Helper()
	first, second := filepath.Join(dir, "window1.jsonl"), filepath.Join(dir, "window2.jsonl")
	synctest.Test(t, func(t *testing.T) {
		inWindow(t, "", first, "--deployment", "a")
		copyFile(t, first, second)
		time.Sleep(time.Minute)
		inWindow(t, "", second, "--deployment", "b", "--window", "2")
	})
}

// inWindow goes on with a journal in virtual time and must succeed.
func inWindow(t *testing.T, address, journal string, args ...string) sweep.Curve {
	t.Helper()
	c, d, _, err := virtually(t.Context(), t, windowEngine, windowOSL, windowPlan(), address, append(args, "--journal", journal)...)
	if err != nil || !d.Point.Healthy {
		t.Fatalf("%q: %+v, %v", args, d, err)
	}
	return c
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// secondWindow is what C6 says of a journal.
func secondWindow(t *testing.T, journal string) calibrate.GateResult {
	t.Helper()
	c, err := sweep.ReadJournal(journal)
	if err != nil {
		t.Fatal(err)
	}
	p := propose(c)
	i := slices.IndexFunc(p.Gates, func(g calibrate.GateResult) bool { return g.ID == "C6" })
	return p.Gates[i]
}

// A window on another deployment, which may be elsewhere, meets C6 at once; one
// on the same deployment, or on one that is not named, when half an hour has
// passed, for which --window-gap waits.
func TestFurtherWindow(t *testing.T) {
	dir := t.TempDir()
	named, unnamed := filepath.Join(dir, "named.jsonl"), filepath.Join(dir, "unnamed.jsonl")
	synctest.Test(t, func(t *testing.T) {
		inWindow(t, here, named, "--deployment", "a")
		inWindow(t, here, unnamed)
	})
	for name, s := range map[string]struct {
		first   string
		second  []string
		address string
		state   calibrate.GateState
		waits   time.Duration
	}{
		"another deployment":      {named, []string{"--deployment", "b"}, here, calibrate.Met, 0},
		"another address":         {named, []string{"--deployment", "b"}, there, calibrate.Met, 0},
		"same deployment":         {named, []string{"--deployment", "a"}, here, calibrate.Unmet, 0},
		"not named at first":      {unnamed, []string{"--deployment", "b"}, here, calibrate.Unmet, 0},
		"not named":               {unnamed, nil, here, calibrate.Unmet, 0},
		"not named, half an hour": {unnamed, []string{"--window-gap", "30m"}, here, calibrate.Met, 29 * time.Minute},
		"same, a minute short":    {named, []string{"--deployment", "a", "--window-gap", "29m"}, here, calibrate.Unmet, 28 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			journal := filepath.Join(t.TempDir(), "j.jsonl")
			copyFile(t, s.first, journal)
			synctest.Test(t, func(t *testing.T) {
				before, err := sweep.ReadJournal(s.first)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Until(before.WindowEnd(1)) + time.Minute)
				began := time.Now()
				after := inWindow(t, s.address, journal, append(s.second, "--window", "2")...)
				first, second := len(before.Runs), len(after.Runs)-len(before.Runs)
				if after.Windows() != 2 || second < 6 || second > 10 {
					t.Fatalf("%d windows, %d runs after %d", after.Windows(), second, first)
				}
				if got := after.Runs[first].Started.Sub(began); got < s.waits || got > s.waits+time.Minute+10*time.Second {
					t.Errorf("the second window began after %s, want %s", got, s.waits)
				}
				if g := secondWindow(t, journal); g.State != s.state || s.state == calibrate.Unmet && !strings.Contains(g.Remedy, "--window 3") {
					t.Errorf("C6 %s: %s; %s", g.State, g.Observed, g.Remedy)
				}
				for _, r := range after.Runs[first:] {
					if elsewhere := s.address != here; r.Window != 2 || (r.Target == there) != elsewhere {
						t.Errorf("run %d is of window %d at %q", r.Seq, r.Window, r.Target)
					}
				}
				if after.Fingerprint.Target != here || after.Fingerprint.Deployment != before.Fingerprint.Deployment {
					t.Errorf("the header became %+v", after.Fingerprint)
				}
			})
		})
	}
}

// What does not belong into a journal's next window is refused before a run,
// and Ctrl-C ends the wait for one: nothing is recorded.
func TestWindowRefused(t *testing.T) {
	dir := t.TempDir()
	journal := filepath.Join(dir, "j.jsonl")
	synctest.Test(t, func(t *testing.T) {
		first := inWindow(t, here, journal, "--deployment", "a")
		for name, c := range map[string]struct {
			address, engine string
			args            []string
			want            string
		}{
			"window 3":             {here, windowEngine, []string{"--window", "3"}, "window 2 comes first"},
			"another deployment":   {here, windowEngine, []string{"--deployment", "b"}, `measured on "a", not on "b"`},
			"elsewhere, not named": {there, windowEngine, []string{"--window", "2"}, "target: " + here},
			"elsewhere, the same":  {there, windowEngine, []string{"--window", "2", "--deployment", "a"}, "target: " + here},
			"another model":        {here, windowEngine + "&model=other", []string{"--window", "2", "--deployment", "b"}, "model: simulated/model, now other"},
			"another size":         {here, windowEngine + "&gpus=2", []string{"--window", "2", "--deployment", "b"}, "gpus: 1, now 2"},
			"a simulator":          {"", windowEngine, []string{"--window", "2", "--deployment", "b"}, "simulated: false, now true"},
		} {
			before, err := os.ReadFile(journal)
			if err != nil {
				t.Fatal(err)
			}
			_, _, _, err = virtually(t.Context(), t, c.engine, windowOSL, windowPlan(), c.address, append(c.args, "--journal", journal)...)
			if code, _ := exitCode(t.Context(), err); code != exitInput || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %d, %v; want %q", name, code, err, c.want)
			}
			if after, err := os.ReadFile(journal); err != nil || string(after) != string(before) {
				t.Errorf("%s: the journal was changed (%v)", name, err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, _, _, err := virtually(ctx, t, windowEngine, windowOSL, windowPlan(), here, "--journal", journal, "--window", "2", "--window-gap", "6h")
		if code, _ := exitCode(ctx, err); !errors.Is(err, context.DeadlineExceeded) || code != exitInterrupted {
			t.Fatal(err)
		}
		if c, err := sweep.ReadJournal(journal); err != nil || len(c.Runs) != len(first.Runs) {
			t.Errorf("%d runs after %d, %v", len(c.Runs), len(first.Runs), err)
		}
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// No pod that makes load is started before --window-gap is over.
func TestWindowGapHoldsNoPods(t *testing.T) {
	var old sweep.Curve
	synctest.Test(t, func(t *testing.T) {
		old = inWindow(t, here, filepath.Join(t.TempDir(), "j.jsonl"), "--deployment", "a")
	})
	c, said, k := inWatchedCluster(t, "k8s:team/qwen")
	c.plan = sweep.Plan{Confirm: true, Window: 2}
	c.windows = windowFlags{number: 2, gap: time.Since(old.WindowEnd(1)) + time.Hour} // it was measured in virtual time
	ctx, cancel := context.WithCancel(t.Context())
	at, err := c.resolve(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c.app.err = writerFunc(func(b []byte) (int, error) { // it says what it waits for, and is interrupted
		cancel()
		return said.Write(b)
	})
	// Some of the hour has passed by then, on a busy machine more than a second.
	if _, err := c.beforeLoad(ctx, at, &old); !errors.Is(err, context.Canceled) || !regexp.MustCompile(`window 2 begins in (1h0m0s|5\dm\d+s)`).MatchString(said.String()) {
		t.Errorf("%v\n%s", err, said)
	}
	for _, asked := range k.Asked() {
		if strings.Contains(asked, "jobs") {
			t.Errorf("asked for %q", asked)
		}
	}
}
