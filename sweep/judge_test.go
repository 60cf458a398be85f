package sweep

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// recorded is a campaign of healthy runs, steady and gate in turns, whose
// workers were counted and whose shares are known.
func recorded(n int) Curve {
	c := head()
	c.Fingerprint.GPUs = 1
	begun := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for i := range n {
		kind := loadgen.Steady
		if i%2 == 1 {
			kind = loadgen.Gate
		}
		r := Run{Seq: i + 1, Step: Step{ConcurrencyPerGPU: 64, Kind: kind, Purpose: Confirm}, Started: begun.Add(time.Duration(i) * time.Minute), Result: healthyRun(kind)}
		all := Roll{Ready: 2, IDs: []string{"1", "2"}}
		r.Workers = &Workers{Expected: 2, From: "as at the preflight", Before: all, After: all}
		r.Servers = &Servers{Shares: []Share{{"1", 1000, 30}, {"2", 1000, 30}}}
		c.Runs = append(c.Runs, r)
	}
	return c
}

// kept writes a curve as it stands, and is where.
func kept(t *testing.T, c Curve) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "j.jsonl")
	j, err := CreateJournal(path, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Runs {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// reread writes a curve as it stands and reads it.
func reread(t *testing.T, c Curve, read func(string) (Curve, error)) Curve {
	t.Helper()
	got, err := read(kept(t, c))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func resumed(path string) (Curve, error) {
	j, c, err := ResumeJournal(path)
	if err == nil {
		err = j.Close()
	}
	return c, err
}

// damages hurt the numbers of run 7, which is steady, or 8, a gate run, and say
// nothing of it.
func damages() []struct {
	name   string
	run    int
	gate   string
	damage func(*Run)
} {
	return []struct {
		name   string
		run    int
		gate   string
		damage func(*Run)
	}{
		{"a worker lost", 7, "V1", func(r *Run) { r.Workers.After.Ready, r.Workers.After.IDs = 1, []string{"2"} }},
		{"no count", 8, "V1", func(r *Run) { r.Workers = nil }},
		{"a restart", 8, "V1", func(r *Run) { r.Servers.Changed = []string{"worker 1 restarted"} }},
		{"timeouts", 8, "V2", func(r *Run) { r.Result.Measured[loadgen.Timeout] = 900; r.Result.All[loadgen.Timeout] = 900 }},
		{"timeouts in the warm-up", 7, "V2", func(r *Run) { r.Result.All[loadgen.Timeout] = 9 }},
		{"no outcomes", 7, "V2", func(r *Run) { r.Result.Measured, r.Result.All = nil, nil }},
		{"outcomes of a part", 7, "V2", func(r *Run) { r.Result.All = nil }},
		{"no load", 7, "V3", func(r *Run) { r.Result.Health.LittleResidual = 0.4 }},
		{"no health", 7, "V3", func(r *Run) { r.Result.Health = loadgen.Health{} }},
		{"no health nor kind", 7, "V3", func(r *Run) { r.Result.Health, r.Result.Kind = loadgen.Health{}, "" }},
		{"longer answers", 8, "V4", func(r *Run) {
			r.Result.OutputTokensPerRequest *= 1.1
			r.Result.WholeRun.OutputTokens *= 1.1
			r.Result.WholeRun.OutputTokPerSec *= 1.1
		}},
		{"no window", 7, "V4", func(r *Run) { r.Result.Window = loadgen.Estimate{} }},
		{"a drift", 7, "V5", func(r *Run) {
			for i := range r.Result.Series {
				r.Result.Series[i] *= 0.8 + 0.4*float64(i)/120
			}
		}},
		{"a stall", 8, "V6", func(r *Run) { clear(r.Result.Series[40:60]) }},
		{"a silence", 7, "V6", func(r *Run) { r.Result.LongestSilenceMS = 9000 }},
		{"no series", 8, "V6", func(r *Run) { r.Result.Series = nil }},
		{"a busy worker", 7, "V7", func(r *Run) { r.Servers.Shares[0].Completed = 3000 }},
		{"a busy client", 8, "V8", func(r *Run) { r.Result.Health.CPUShare = 0.95 }},
		{"a late client", 7, "V8", func(r *Run) { r.Result.Health.LagP99MS = 50 }},
	}
}

// TestRecordsAreJudgedAgain: what is wrong with the numbers of a run makes it
// INVALID, whatever its record says, and whoever reads it.
func TestRecordsAreJudgedAgain(t *testing.T) {
	for _, read := range []func(string) (Curve, error){ReadJournal, resumed} {
		if c := reread(t, recorded(10), read); c.Rejudged != "" || len(viewOf(c.Runs).valid[64]) != 5 {
			t.Fatalf("healthy: %q, %+v", c.Rejudged, c.Runs[0].Violations)
		}
		for _, d := range damages() {
			c := recorded(10)
			d.damage(&c.Runs[d.run-1])
			got := reread(t, c, read)
			for _, r := range got.Runs {
				if r.Seq == d.run && (len(r.Violations) == 0 || r.Violations[0].Gate != d.gate || r.Violations[0].Observed == "" || r.Violations[0].Remedy == "") || r.Seq != d.run && !r.Valid() {
					t.Errorf("%s: run %d has %+v, want %s of run %d alone", d.name, r.Seq, r.Violations, d.gate, d.run)
				}
			}
			if !strings.Contains(got.Rejudged, d.gate) || !strings.Contains(got.Rejudged, "and does not say so") || strings.Count(got.Rejudged, "run ") != 1 {
				t.Errorf("%s: told %q", d.name, got.Rejudged)
			}
		}
	}
}

// TestRecordsMayAccuseThemselves: a violation that no number shows stands.
func TestRecordsMayAccuseThemselves(t *testing.T) {
	c := recorded(10)
	c.Runs[2].Violations = []Violation{{Gate: "V6", Observed: "stood still"}, {Gate: "V6", Observed: "twice"}}
	c.Runs[3].Violations = []Violation{{Gate: "pause\x1b[2J"}}
	got := reread(t, c, ReadJournal)
	if len(got.Runs[2].Violations) != 2 || len(got.Runs[3].Violations) != 1 {
		t.Errorf("%+v, %+v", got.Runs[2].Violations, got.Runs[3].Violations)
	}
	const want = "run 3 says V6, which its numbers do not show; run 4 says pause?[2J, which its numbers do not show: each counts as INVALID; "
	if !strings.HasPrefix(got.Rejudged, want) {
		t.Errorf("told %q", got.Rejudged)
	}
}

// TestCountsBeginLater: runs of a version that did not count are not blamed for
// it, nor are those of a window elsewhere.
func TestCountsBeginLater(t *testing.T) {
	c := recorded(10)
	for i := range c.Runs {
		c.Runs[i].Window = 1 + i/6
		if i < 3 || i >= 6 {
			c.Runs[i].Workers = nil
		}
	}
	if got := reread(t, c, ReadJournal); got.Rejudged != "" {
		t.Error(got.Rejudged)
	}
}

// TestManyDiffer: the sentence stays one.
func TestManyDiffer(t *testing.T) {
	c := recorded(10)
	for i := range c.Runs {
		c.Runs[i].Result.Series = nil
	}
	if got := reread(t, c, ReadJournal).Rejudged; strings.Count(got, "run ") != rejudgedRuns || !strings.Contains(got, "; and 7 more: ") {
		t.Error(got)
	}
}
