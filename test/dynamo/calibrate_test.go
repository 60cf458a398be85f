//go:build dynamo

package dynamo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/test/internal/live"
)

const (
	// calibrateLimit ends a campaign that hangs. A quiet machine takes a minute, and
	// one so busy that runs are INVALID and made again took more than three.
	calibrateLimit = 10 * time.Minute
	// kneeOctaves is how far the knee may lie from the engines' batch cap,
	// where throughput stops growing.
	kneeOctaves = 0.25
)

// calibration is what the tests read of calibrate -o json.
type calibration struct {
	Outcome           string   `json:"outcome"`
	Reasons           []string `json:"reasons"`
	Knee              float64  `json:"knee"`
	KneeLow           float64  `json:"knee_low"`
	KneeHigh          float64  `json:"knee_high"`
	ConcurrencyPerGPU int      `json:"concurrency_per_gpu"`
	TokPerSecPerGPU   float64  `json:"output_tok_per_s_per_gpu"`
	TTFTP99MS         float64  `json:"ttft_p99_ms"`
	Floor             float64  `json:"floor"`
	FloorForm         string   `json:"floor_form"`
	CeilingMS         float64  `json:"ceiling_ms"`
	Gates             []struct {
		ID       string `json:"id"`
		State    string `json:"state"`
		Observed string `json:"observed"`
	} `json:"gates"`
	Diff  string `json:"diff"`
	Wrote *bool  `json:"wrote"`

	counted float64 // output tokens, by the frontend
}

func TestCalibrate(t *testing.T) {
	bin := build(t)
	for _, workers := range []int{1, 2} {
		for _, batchCap := range []int{8, 16} {
			t.Run(fmt.Sprintf("workers=%d/cap=%d", workers, batchCap), func(t *testing.T) {
				s := live.Dynamo{Workers: workers, Cap: batchCap, Speedup: 2}.Start(t)
				calibrateOnce(t, bin, s, workers, batchCap)
			})
		}
	}
}

// calibrateOnce demands the answer that the deployment has. Where the machine
// stood still, or this tool was the bottleneck, there is none: the campaign is
// made again, three times at most. A wrong answer is never asked for twice.
func calibrateOnce(t *testing.T, bin string, s live.Engine, workers, batchCap int) {
	for range 3 {
		dir := t.TempDir()
		before := overlay(t)
		c := calibrated(t, bin, s, workers, dir, before)
		checkTokens(t, filepath.Join(dir, "j.jsonl"), c.counted)
		checkUnwritten(t, dir, before)
		if (c.Outcome == "INVALID" || c.Outcome == "UNSTABLE") && ofBusyMachine(t, filepath.Join(dir, "j.jsonl")) {
			t.Logf("%s on this machine just now: %q", c.Outcome, c.Reasons)
			continue
		}
		if off := math.Abs(math.Log2(c.Knee / float64(batchCap))); !(off <= kneeOctaves) {
			t.Errorf("knee %.2f is %.2f octaves from the cap %d, want at most %.2f", c.Knee, off, batchCap, kneeOctaves)
		}
		if c.ConcurrencyPerGPU < 1 || c.ConcurrencyPerGPU > batchCap {
			t.Errorf("operating point %d per GPU, want one from 1 to the cap %d", c.ConcurrencyPerGPU, batchCap)
		}
		checkProvisional(t, c)
		if c.Outcome == "PROVISIONAL" { // any other has been complained of and has no gate to show
			checkDiff(t, string(before), c)
		}
		return
	}
	t.Error("this machine stood still, or this tool was the bottleneck, in three campaigns: run it on a less busy one")
}

// ofBusyMachine reports whether a run of a journal failed a gate that a healthy
// deployment fails only where the machine stands still (V6) or is too busy for
// this tool (V8).
func ofBusyMachine(t *testing.T, journal string) bool {
	t.Helper()
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(text, []byte(`"gate":"V6"`)) || bytes.Contains(text, []byte(`"gate":"V8"`))
}

// calibrated is what a campaign in a folder came to.
func calibrated(t *testing.T, bin string, s live.Engine, workers int, dir string, before []byte) calibration {
	t.Helper()
	file := filepath.Join(dir, "overlay.yaml")
	if err := os.WriteFile(file, before, 0o644); err != nil {
		t.Fatal(err)
	}
	counted := s.Scrape(t, live.DynamoOutputTokens)[live.DynamoOutputTokens]
	a := execute(t, calibrateLimit, dir, bin, "calibrate", "--target", s.Base, "--gpus", strconv.Itoa(workers),
		"--effort", "quick", "--workload", "synthetic", "--pool", "100", "--reuse-prompts", "--ignore-eos=false",
		"--osl", "32", "--osl-stddev", "10", "--overlay", "overlay.yaml", "--journal", "j.jsonl", "-o", "json")
	t.Logf("took %s; stderr:\n%s", a.took.Round(time.Second), a.stderr)
	if a.exit != exitInconclusive {
		t.Fatalf("exit status %d, want %d; stdout:\n%s", a.exit, exitInconclusive, a.stdout)
	}
	c := calibration{counted: s.Scrape(t, live.DynamoOutputTokens)[live.DynamoOutputTokens] - counted}
	if err := json.Unmarshal(a.stdout, &c); err != nil {
		t.Fatalf("stdout is not one JSON document: %v\n%s", err, a.stdout)
	}
	t.Logf("knee %.2f (%.2f to %.2f), point %d, %.0f tok/s per GPU, TTFT p99 %.0f ms, floor %g, ceiling %g ms",
		c.Knee, c.KneeLow, c.KneeHigh, c.ConcurrencyPerGPU, c.TokPerSecPerGPU, c.TTFTP99MS, c.Floor, c.CeilingMS)
	return c
}

// checkProvisional: everything that can be met on one deployment in one sitting
// is met, what needs a later window, other deployments or an anchor is not, what
// the deployment is stays unverified, and nothing is waived.
func checkProvisional(t *testing.T, c calibration) {
	if c.Outcome != "PROVISIONAL" {
		t.Errorf("outcome %q, want PROVISIONAL; reasons: %q", c.Outcome, c.Reasons)
	}
	if c.Wrote == nil || *c.Wrote {
		t.Errorf("wrote = %v, want false", c.Wrote)
	}
	open := map[string]string{"C6": "unmet", "C7": "unmet", "C11": "unverified"}
	for _, g := range c.Gates {
		want := "met"
		if state, ok := open[g.ID]; ok {
			want = state
			if !strings.Contains(strings.Join(c.Reasons, "\n"), g.ID) {
				t.Errorf("no reason names the open gate %s: %q", g.ID, c.Reasons)
			}
			delete(open, g.ID)
		}
		if g.State != want {
			t.Errorf("gate %s is %s, want %s: %s", g.ID, g.State, want, g.Observed)
		}
	}
	for id := range open {
		t.Errorf("gate %s is not in the answer", id)
	}
}

// checkTokens: every token that the frontend counted is in the journal,
// preflight and warm-up included, and none twice.
func checkTokens(t *testing.T, journal string, counted float64) {
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	lines := map[string]int{}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var l struct {
			Type      string `json:"type"`
			Preflight struct {
				OutputTokens int64 `json:"output_tokens"`
			} `json:"preflight"`
			Result struct {
				TotalOutputTokens int64 `json:"total_output_tokens"`
			} `json:"result"`
		}
		err := d.Decode(&l)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("journal: %v\n%s", err, text)
		}
		lines[l.Type]++
		switch l.Type {
		case "campaign":
			if l.Preflight.OutputTokens <= 0 {
				t.Errorf("the journal's preflight has no output tokens")
			}
			total += l.Preflight.OutputTokens
		case "run":
			if l.Result.TotalOutputTokens <= 0 {
				t.Errorf("run %d of the journal has no output tokens", lines["run"])
			}
			total += l.Result.TotalOutputTokens
		}
	}
	if lines["campaign"] != 1 || lines["run"] < 4 {
		t.Errorf("journal lines by type: %v, want one campaign and at least 4 runs", lines)
	}
	if float64(total) != counted {
		t.Errorf("the journal has %d output tokens, the frontend counted %.0f", total, counted)
	}
}

// checkUnwritten: the overlay is as it was and nothing but the journal is new.
func checkUnwritten(t *testing.T, dir string, before []byte) {
	after, err := os.ReadFile(filepath.Join(dir, "overlay.yaml"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the overlay changed although the calibration is provisional (%v)", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if n := e.Name(); n != "overlay.yaml" && n != "j.jsonl" {
			t.Errorf("calibrate left %s behind", n)
		}
	}
}
