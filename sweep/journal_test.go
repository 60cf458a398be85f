package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
)

func sameRuns(t *testing.T, got, want []Run) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d runs, want %d", len(got), len(want))
	}
	for i := range want {
		a, errA := json.Marshal(got[i])
		b, errB := json.Marshal(want[i])
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Fatalf("run %d (%v, %v):\n%s\nwant\n%s", i+1, errA, errB, a, b)
		}
	}
}

func head() Curve {
	return Curve{
		Fingerprint: Fingerprint{GPUs: 2, Model: "m", Labels: map[string]string{"image": "sha256:1"}},
		Plan:        DefaultPlan(Standard), Preflight: loadgen.Preflight{Model: "m", OutputTokens: 3},
	}
}

// someRuns measured nothing, and are recorded as what they are.
func someRuns(n int) []Run {
	c := head()
	for i := range n {
		r, _ := rejudge(Run{Seq: i + 1, Step: Step{ConcurrencyPerGPU: 8 << i, Kind: loadgen.Steady, Purpose: Coarse, Why: "a \"why\" with a \\ in it"}}, &c)
		c.Runs = append(c.Runs, r)
	}
	return c.Runs
}

// write makes a journal and returns its path and bytes.
func write(t *testing.T, runs []Run) (string, []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "j.jsonl")
	j, err := CreateJournal(path, head())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, raw
}

func TestJournalRoundTrip(t *testing.T) {
	runs := someRuns(3)
	path, raw := write(t, runs)
	if !bytes.HasPrefix(raw, []byte(headerStart)) {
		t.Errorf("a journal begins with %.40q", raw)
	}
	c, err := ReadJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	sameRuns(t, c.Runs, runs)
	if d := c.Fingerprint.Diff(head().Fingerprint); len(d) > 0 {
		t.Error(d)
	}
	if d := c.Plan.Diff(head().Plan); len(d) > 0 || c.Preflight.OutputTokens != 3 {
		t.Error(d, c.Preflight)
	}
}

// TestTornJournal cuts a journal at every byte, as a killed writer may: the
// whole lines before the cut are all there, and a resumed journal goes on
// behind them.
func TestTornJournal(t *testing.T) {
	runs := someRuns(3)
	_, raw := write(t, runs)
	header := bytes.IndexByte(raw, '\n') + 1
	path := filepath.Join(t.TempDir(), "torn")
	for cut := range len(raw) + 1 {
		if err := os.WriteFile(path, raw[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := ReadJournal(path)
		if cut < header {
			if !errors.Is(err, ErrEmptyJournal) {
				t.Fatalf("cut at %d, inside the header: %v", cut, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		whole := bytes.Count(raw[:cut], []byte("\n")) - 1
		sameRuns(t, c.Runs, runs[:whole])
		if cut%211 != 0 && cut != len(raw) {
			continue // resuming syncs, which takes its time
		}
		j, c, err := ResumeJournal(path)
		if err != nil {
			t.Fatalf("resume at %d: %v", cut, err)
		}
		sameRuns(t, c.Runs, runs[:whole])
		for _, r := range runs[whole:] {
			if err := j.Append(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("cut at %d and resumed: %v, the bytes differ from the uninterrupted journal", cut, err)
		}
	}
}

func TestCreateJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	for _, c := range []struct {
		content string
		ok      bool
	}{
		{"", true},
		{`{"type":"ca`, true},
		{`{"type":"campaign","schema_version":1,"fin`, true},
		{"{", true},
		{"notes of mine", false},
		{"{\"type\":\"campaign\"}\n", false},
		{"\n", false},
	} {
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := CreateJournal(path, head())
		if (err == nil) != c.ok {
			t.Errorf("over %q: %v", c.content, err)
		}
		if err == nil {
			if back, err := ReadJournal(path); err != nil || len(back.Runs) != 0 {
				t.Errorf("over %q: %v", c.content, err)
			}
			_ = j.Close()
			continue
		}
		if left, _ := os.ReadFile(path); string(left) != c.content {
			t.Errorf("refused, but %q became %q", c.content, left)
		}
	}
	if _, err := CreateJournal(filepath.Join(path, "x"), head()); err == nil {
		t.Error("a journal inside a file")
	}
	if _, err := ReadJournal(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing journal: %v", err)
	}
}

func TestTwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, err := CreateJournal(path, head())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ResumeJournal(path); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second writer: %v", err)
	}
	if _, err := CreateJournal(path, head()); err == nil {
		t.Error("a second creator")
	}
	if _, err := ReadJournal(path); err != nil {
		t.Errorf("a reader beside the writer: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j, _, err = ResumeJournal(path)
	if err != nil {
		t.Fatalf("after the writer closed: %v", err)
	}
	_ = j.Close()
}

func TestAppendRefusesWhatCannotBeRead(t *testing.T) {
	path, raw := write(t, nil)
	j, _, err := ResumeJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	nan := someRuns(1)[0]
	nan.Result.Window.OutputTokPerSec = nan0()
	if err := j.Append(nan); err == nil {
		t.Error("a NaN was written")
	}
	long := someRuns(1)[0]
	long.Result.Warnings = []string{strings.Repeat("x", maxLine)}
	if err := j.Append(long); err == nil {
		t.Error("a line was written that cannot be read")
	}
	if left, _ := os.ReadFile(path); !bytes.Equal(left, raw) {
		t.Error("a refused line left something behind")
	}
	if err := j.Append(someRuns(1)[0]); err != nil {
		t.Errorf("after refusals: %v", err)
	}
	// A closed file stands for a disk that fails: nothing is glued to half a line.
	_ = j.f.Close()
	if err := j.Append(someRuns(1)[0]); err == nil {
		t.Fatal("a write to a closed file succeeded")
	}
	if err := j.Append(someRuns(1)[0]); err == nil || !strings.Contains(err.Error(), "cannot be continued") {
		t.Errorf("after a failed write: %v", err)
	}
}

func nan0() float64 { var z float64; return z / z }
