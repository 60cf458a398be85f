package main

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// lawfully measures a plan on a deployment of a known law, without any time.
func lawfully(t *testing.T, p sweep.Plan, seed uint64) sweep.Curve {
	t.Helper()
	rng, law := rand.New(rand.NewPCG(seed, 6)), kneetest.GB300(210)
	begun := time.Date(2026, 9, 1, 12, int(seed), 0, 0, time.UTC)
	c := sweep.Campaign{
		Curve: sweep.Curve{Fingerprint: sweep.Fingerprint{
			Target: "sim:law", Simulated: true, Model: "Qwen/Qwen3-8B", GPUs: 1, Effort: p.Effort, Labels: map[string]string{"workers": "2"},
		}, Plan: p, Started: begun},
		Workers: &sweep.WorkerWatch{Expected: 2, From: "as at the preflight", Read: func(context.Context) ([]uint64, error) { return []uint64{1, 2}, nil }},
		Hear: func(context.Context) func(loadgen.Result) *sweep.Servers {
			return func(loadgen.Result) *sweep.Servers {
				return &sweep.Servers{Shares: []sweep.Share{{Worker: "1", Completed: 2500, InFlight: 9}, {Worker: "2", Completed: 2500, InFlight: 9}}}
			}
		},
	}
	c.Measure = func(_ context.Context, s sweep.Step, first uint64) (loadgen.Result, error) {
		r := law.Sweep(rng, []int{s.ConcurrencyPerGPU}, 1, 0.01, nil)[0]
		begun = begun.Add(time.Hour)
		x := r.TokPerSecPerGPU
		e := loadgen.Estimate{Seconds: 60, Requests: 5000, OutputTokens: 60 * x, OutputTokPerSec: x, TTFTP50MS: min(r.TTFTP50MS, r.TTFTP99MS), TTFTP99MS: r.TTFTP99MS, ITLP50MS: r.ITLMS}
		series := make([]float64, 60)
		for i := range series {
			series[i] = x
		}
		return loadgen.Result{
			Kind: s.Kind, Concurrency: s.ConcurrencyPerGPU, Started: begun, Ended: begun.Add(time.Minute), Window: e, WholeRun: e,
			Measured: loadgen.Outcomes{loadgen.OK: 5000}, All: loadgen.Outcomes{loadgen.OK: 5000},
			Series: series, SeriesSeconds: 1, OutputTokensPerRequest: 60 * x / 5000, RequestedOutputTokens: 60 * x / 5000, NextRequest: first + 5000,
			Health: loadgen.Health{LittleMeasured: true, CPUShare: 0.1, KernelTime: true, LagP99MS: 0.2},
		}, nil
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c.Curve
}

// TestNoCommandTrustsARecord: a journal whose runs record numbers that no run
// gate lets pass, and no violation, is INVALID by that gate for every command
// that reads it, whatever it is read as.
func TestNoCommandTrustsARecord(t *testing.T) {
	t.Chdir(t.TempDir())
	plan := sweep.DefaultPlan(sweep.Quick)
	plan.Confirm = true
	check := sweep.DefaultPlan(sweep.Quick)
	check.Check, check.Point = true, 128
	good, second, checked := lawfully(t, plan, 1), lawfully(t, plan, 2), lawfully(t, check, 3)
	writeJournal(t, "good.jsonl", good)
	writeJournal(t, "checked.jsonl", checked)
	const overlay = "kind: RecipeMetadata\nmetadata:\n  name: o\nspec:\n  componentRefs:\n    - name: dynamo-platform\n  validation:\n    performance:\n      checks: [inference-perf]\n      constraints:\n" +
		"        - name: inference-model\n          value: Qwen/Qwen3-8B\n        - name: inference-concurrency-per-gpu\n          value: \"128\"\n        - name: inference-throughput-per-gpu\n          value: \">= 10000\"\n"
	if err := os.WriteFile("o.yaml", []byte(overlay), 0o600); err != nil {
		t.Fatal(err)
	}
	said := func(args ...string) (int, string) {
		var out, talk bytes.Buffer
		code := run(t.Context(), args, nil, &out, &talk)
		return code, out.String() + talk.String()
	}
	for i, v := range []struct {
		gate   string
		damage func(*sweep.Run)
	}{
		{"", func(*sweep.Run) {}},
		{"V1", func(r *sweep.Run) { r.Workers.After.Ready, r.Workers.After.IDs = 1, []string{"2"} }},
		{"V2", func(r *sweep.Run) { r.Result.Measured = loadgen.Outcomes{loadgen.OK: 5000, loadgen.Timeout: 900} }},
		{"V3", func(r *sweep.Run) { r.Result.Health.LittleResidual = 0.3 }},
		{"V4", func(r *sweep.Run) { r.Result.OutputTokensPerRequest = 0 }},
		{"V5", func(r *sweep.Run) {
			for i := range r.Result.Series {
				r.Result.Series[i] *= 0.8 + 0.4*float64(i)/60
			}
		}},
		{"V6", func(r *sweep.Run) { // the tokens of the stall come right after it
			for i := range 10 {
				r.Result.Series[30+i] += r.Result.Series[20+i]
			}
			clear(r.Result.Series[20:30])
		}},
		{"V7", func(r *sweep.Run) { r.Servers.Shares[0].Completed = 9000 }},
		{"V8", func(r *sweep.Run) { r.Result.Health.CPUShare = 0.9 }},
	} {
		for name, c := range map[string]sweep.Curve{"cal.jsonl": second, "chk.jsonl": checked} {
			path := filepath.Join("bad", string(rune('a'+i)), name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			writeJournal(t, path, c)
			bent, err := sweep.ReadJournal(path) // a copy that shares nothing
			if err != nil || bent.Rejudged != "" {
				t.Fatal(err, bent.Rejudged)
			}
			for j := range bent.Runs {
				v.damage(&bent.Runs[j])
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			writeJournal(t, path, bent)
		}
		bad := func(name string) string { return filepath.Join("bad", string(rune('a'+i)), name) }
		for _, c := range []struct {
			args []string
			code int    // of a journal that is damaged
			says string // then, of which %V is the gate
			fine int    // else
		}{
			{[]string{"check", "--overlay", "o.yaml", "--journal", bad("chk.jsonl")}, exitInconclusive, "0 of 3 attempts at 128 per GPU are valid (%V: 3)", 0},
			{[]string{"calibrate", "--overlay", "o.yaml", "--allow-simulated", "--journal", bad("cal.jsonl")}, exitInconclusive, "run 1 fails %V and does not say so", 0},
			{[]string{"calibrate", "--overlay", "o.yaml", "--allow-simulated", "--journal", "good.jsonl", "--anchor", bad("cal.jsonl"), "-o", "json"}, 0, "of cal.jsonl, run 1 fails %V and does not say so", 0},
			{[]string{"check", "--overlay", "o.yaml", "--journal", "checked.jsonl", "--baseline", bad("cal.jsonl")}, exitInconclusive, "of the baseline, run 1 fails %V and does not say so", 0},
			{[]string{"compare", "good.jsonl", bad("cal.jsonl")}, exitInconclusive, "B: run 1 fails %V and does not say so", 0},
			{[]string{"knee", bad("cal.jsonl")}, exitInconclusive, "run 1 fails %V and does not say so", 0},
		} {
			code, text := said(c.args...)
			if want := strings.ReplaceAll(c.says, "%V", v.gate); v.gate != "" && (code != c.code || !strings.Contains(text, want)) {
				t.Errorf("%s: %s: exit %d, not %d, or no %q:\n%s", v.gate, c.args[0], code, c.code, want, text)
			}
			if v.gate == "" && (code != c.fine || strings.Contains(text, "does not say so")) {
				t.Errorf("healthy: %v: exit %d\n%s", c.args, code, text)
			}
		}
	}
}
