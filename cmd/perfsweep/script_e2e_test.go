package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// scriptEngine is the small engine of the recorded journals.
const scriptEngine = "batch-cap?chunk=32&model=Qwen/Qwen3-8B"

// scriptJournals measures a small engine in virtual time and writes what the
// scripts judge: no machine is too busy for that, so their exit codes are exact.
func scriptJournals(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	check := sweep.DefaultPlan(sweep.Quick)
	check.Check, check.Point = true, 32
	within := quickPlan()
	within.Objective = loadgen.Objective{TTFTMS: 400, ITLMS: 15}
	const workers = "lost-worker?chunk=64&model=Qwen/Qwen3-8B&lost="
	few := quickPlan()
	few.Levels = []int{16, 32, 64, 96, 192}
	pulse := check
	pulse.Point, pulse.PulseAt, pulse.PulseRuns = 64, 96, 1
	proof := reconfirmPlan(32)
	proof.Reconfirm = false
	for _, j := range []struct {
		name, target string
		plan         sweep.Plan
	}{
		{"calibrate", scriptEngine, quickPlan()},
		{"objective", scriptEngine, within},
		{"pass", scriptEngine, check},
		{"other", "batch-cap?chunk=32&model=other", check},
		{"fail", scriptEngine + "&speed=0.7", check},
		{"stall", scriptEngine + "&stall=0.3", check},
		{"again", scriptEngine + "&seed=2", reconfirmPlan(32)},
		{"changed", scriptEngine + "&seed=2&speed=0.8", proof},
		{"bursty", scriptEngine + "&stall=0.3", quickPlan()},
		{"workers", workers + "0", few},
		{"all-workers", workers + "0&seed=2", pulse},
		{"lost-worker", workers + "1&seed=2", pulse},
		{"short-handed", workers + "1&seed=2", pulse},
	} {
		var curve sweep.Curve
		var args []string
		if j.name == "lost-worker" { // which the deployment is meant to have
			args = []string{"--label", "workers=4"}
		}
		if j.name == "again" || j.name == "changed" {
			args = []string{"--label", "image=new"}
		}
		synctest.Test(t, func(t *testing.T) {
			var err error
			if curve, _, _, err = virtually(t.Context(), t, j.target, longOSL, j.plan, "", args...); err != nil {
				t.Fatal(err)
			}
		})
		if j.name == "short-handed" {
			writeJournal(t, filepath.Join(dir, "uncounted.jsonl"), uncounted(curve))
		}
		writeJournal(t, filepath.Join(dir, j.name+".jsonl"), curve)
		if j.name == "calibrate" {
			writeJournal(t, filepath.Join(dir, "bridged.jsonl"), bridgedCurve(curve, 0.95, 0.94, 0.96))
			writeJournal(t, filepath.Join(dir, "unbridged.jsonl"), bridgedCurve(curve, 0.95, 0.94))
			writeJournal(t, filepath.Join(dir, "real.jsonl"), asReal(curve, "http://frontend-a:8000", 0, 1))
			writeJournal(t, filepath.Join(dir, "second.jsonl"), asReal(curve, "http://frontend-b:8000", 48*time.Hour, 0.98))
			writeJournal(t, filepath.Join(dir, "slow.jsonl"), asReal(curve, "http://frontend-a:8000", 72*time.Hour, 0.8))
			writeJournal(t, filepath.Join(dir, "future.jsonl"), asReal(curve, "http://frontend-b:8000", 250*365*24*time.Hour, 1))
			// Twice the GPUs with twice the streams and tokens, and a share more or less.
			writeJournal(t, filepath.Join(dir, "double.jsonl"), asTwice(asReal(curve, "http://frontend-c:8000", 96*time.Hour, 1), 0.99))
			writeJournal(t, filepath.Join(dir, "shared.jsonl"), asTwice(asReal(curve, "http://frontend-c:8000", 96*time.Hour, 1), 0.75))
			for i, name := range []string{"east", "north", "west", "south"} {
				c := asReal(curve, "http://frontend:8000", time.Duration(i+6)*48*time.Hour, []float64{1, 0.97, 1.02, 1}[i])
				c.Fingerprint.Labels = map[string]string{"gpu_product": "test device", "image": "sha256:0123", "precision": "bf16", "gpus_per_worker": "1", "cluster": name}
				if name == "south" {
					c.Fingerprint.Labels["image"] = "sha256:4567"
				}
				writeJournal(t, filepath.Join(dir, name+".jsonl"), c)
			}
			named := asReal(curve, "http://frontend-a:8000", 0, 1)
			named.Fingerprint.Labels = map[string]string{"gpu_product": "NVIDIA-GB300", "precision": "bf16", "workers": "1", "image": "sha256:0123"}
			writeJournal(t, filepath.Join(dir, "named.jsonl"), named)
		}
	}
	windowJournals(t, dir)
	abJournals(t, dir, scriptEngine)
	return dir
}

// asReal is a simulated campaign as a real target would have left it, at a
// share of its speed: with the standard effort's numbers of requests, and a
// second window. No real target is in reach of these scripts.
func asReal(c sweep.Curve, target string, later time.Duration, speed float64) sweep.Curve {
	c.Fingerprint.Simulated, c.Fingerprint.Target, c.Fingerprint.Effort = false, target, sweep.Standard
	c.Fingerprint.Labels = map[string]string{"gpu_product": "test device", "image": "sha256:0123", "precision": "bf16", "node": target}
	c.Plan.Effort = sweep.Standard
	c.Started = c.Started.Add(later)
	runs := slices.Clone(c.Runs)
	confirmed := slices.DeleteFunc(slices.Clone(c.Runs), func(r sweep.Run) bool { return r.Step.Purpose != sweep.Confirm })
	for _, r := range confirmed[len(confirmed)-6:] { // three attempts of two runs
		r.Window, r.Seq = 2, len(runs)+1
		r.Started, r.Result.Started, r.Result.Ended = r.Started.Add(time.Hour), r.Result.Started.Add(time.Hour), r.Result.Ended.Add(time.Hour)
		runs = append(runs, r)
	}
	c.Runs = runs
	for i := range c.Runs {
		r := &c.Runs[i]
		r.Started, r.Result.Started, r.Result.Ended = r.Started.Add(later), r.Result.Started.Add(later), r.Result.Ended.Add(later)
		// No two runs measure the same to the last bit.
		fresh := 1 + 1e-9*(later.Hours()+float64(r.Window))
		for _, e := range []*loadgen.Estimate{&r.Result.Window, &r.Result.WholeRun} {
			slower(e, fresh)
		}
		remeasure(&r.Result, speed/fresh, 8192)
	}
	return c
}

// slower makes every latency of a sample a multiple of what it was.
func slower(e *loadgen.Estimate, by float64) {
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		if strings.HasSuffix(v.Type().Field(i).Name, "MS") {
			v.Field(i).SetFloat(v.Field(i).Float() * by)
		}
	}
}

// remeasure makes a run one of so many requests at a multiple of its speed, with
// every number that follows from these.
func remeasure(r *loadgen.Result, speed float64, requests int64) {
	for _, e := range []*loadgen.Estimate{&r.Window, &r.WholeRun} {
		e.Requests, e.OutputTokens = requests, float64(requests)*r.OutputTokensPerRequest
		e.OutputTokPerSec *= speed
		e.Seconds = e.OutputTokens / e.OutputTokPerSec
		e.RequestsPerSec = float64(requests) / e.Seconds
	}
	// Even windows: how the short run began and ended says nothing of a long one.
	e, windows := r.Estimate(), len(r.Series)
	r.Series, r.SeriesSeconds = slices.Repeat([]float64{e.OutputTokens / float64(windows)}, windows), e.Seconds/float64(windows)
	r.All, r.Measured = maps.Clone(r.All), maps.Clone(r.Measured)
	r.All[loadgen.OK] += requests - r.Measured[loadgen.OK]
	r.Measured[loadgen.OK] = requests
}

// uncounted is a campaign as a server that lists no workers would have left it.
func uncounted(c sweep.Curve) sweep.Curve {
	c.Fingerprint.Labels = nil
	c.Runs = slices.Clone(c.Runs)
	for i := range c.Runs {
		c.Runs[i].Workers = nil
	}
	return c
}

// writeJournal writes a curve as a campaign that nothing interrupted.
func writeJournal(t *testing.T, path string, c sweep.Curve) {
	t.Helper()
	j, err := sweep.CreateJournal(path, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Runs {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range c.Bridge {
		if err := j.AppendPair(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// asTwice is a campaign as two GPUs would have left it, at a share of the speed
// per GPU.
func asTwice(c sweep.Curve, share float64) sweep.Curve {
	c.Fingerprint.GPUs *= 2
	for i := range c.Runs {
		r := &c.Runs[i].Result
		r.Concurrency *= 2
		remeasure(r, 2*share, r.WholeRun.Requests)
	}
	return c
}

// chop takes bytes off the end of a file: chop FILE BYTES.
func chop(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: chop FILE BYTES")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	b := []byte(ts.ReadFile(args[0]))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b[:len(b)-n], 0o644))
}

// damage halves a line of a file: damage FILE LINE.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: damage FILE LINE")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	lines := bytes.SplitAfter([]byte(ts.ReadFile(args[0])), []byte("\n"))
	if n < 1 || n >= len(lines)-1 {
		ts.Fatalf("%s has no line %d with another one after it", args[0], n)
	}
	l := lines[n-1]
	lines[n-1] = append(bytes.Clone(l[:len(l)/2]), '\n')
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Join(lines, nil), 0o644))
}

// hold keeps a journal open until the script ends, as a second writer does:
// hold FILE.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold FILE")
	}
	j, _, err := sweep.ResumeJournal(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(func() { ts.Check(j.Close()) })
}

// begins demands that one file begins with the bytes of another: begins FILE START.
func begins(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: begins FILE START")
	}
	if !bytes.HasPrefix([]byte(ts.ReadFile(args[0])), []byte(ts.ReadFile(args[1]))) {
		ts.Fatalf("%s does not begin as %s", args[0], args[1])
	}
}

// write puts text without a newline into a file: write FILE TEXT.
func write(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: write FILE TEXT")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(args[1]), 0o644))
}
