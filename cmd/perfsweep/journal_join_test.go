package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// joined is a journal of a check at 32 per GPU with so many whole attempts.
func joined(attempts int) sweep.Curve {
	p := sweep.DefaultPlan(sweep.Quick)
	p.Check, p.Point = true, 32
	c := sweep.Curve{Fingerprint: sweep.Fingerprint{Target: "http://a:8000", Model: "m", GPUs: 1, Effort: sweep.Quick}, Plan: p}
	e := loadgen.Estimate{Seconds: 60, Requests: 1000, OutputTokens: 60_000, OutputTokPerSec: 1000, TTFTP50MS: 40, TTFTP99MS: 90}
	for i := range 2 * attempts {
		kind := []loadgen.RunKind{loadgen.Gate, loadgen.Steady}[i%2]
		c.Runs = append(c.Runs, sweep.Run{
			Seq: i + 1, Step: sweep.Step{ConcurrencyPerGPU: 32, Kind: kind, Purpose: sweep.Check},
			Result: loadgen.Result{Kind: kind, Concurrency: 32, Window: e, WholeRun: e},
		})
	}
	return c
}

// A journal is continued only as it was begun: what would mix two measurements, or
// leave out what an attempt must watch, ends with 2 and says what to do.
func TestResumeRefusals(t *testing.T) {
	if sweep.NextStep(joined(2).Plan, joined(2).Runs).Done || !sweep.NextStep(joined(3).Plan, joined(3).Runs).Done {
		t.Fatal("three attempts are a whole check, two are none")
	}
	watched := func(c *sweep.Curve) { c.Plan.MinWatch = 20 * time.Minute }
	for name, c := range map[string]struct {
		attempts  int
		old, now  func(*sweep.Curve)
		elsewhere string
		want      string // "" = it goes on
	}{
		"the same":     {2, nil, nil, "", ""},
		"another size": {2, nil, func(c *sweep.Curve) { c.Fingerprint.GPUs = 2 }, "", "another fingerprint (gpus: 1, now 2); use a new --journal"},
		"another point": {2, nil, func(c *sweep.Curve) { c.Plan.Point = 64 }, "",
			"j.jsonl was planned differently (point: 32, now 64); use a new --journal or the same flags"},
		"stood still before load": {2, nil, watched, "", "the endpoint stood still before any load, which j.jsonl cannot hold any more: check with a new --journal"},
		"nothing was made yet":    {0, nil, watched, "", "the endpoint stood still before any load"},
		"nothing is missing":      {3, nil, watched, "", ""},
		"it watched before":       {2, watched, watched, "", ""},
		"it need not watch now":   {2, watched, nil, "", ""},
		"a window at another place": {2, func(c *sweep.Curve) { c.Runs[3].Window, c.Runs[3].Target = 2, "http://b:8000" },
			func(c *sweep.Curve) { c.Plan.Window, c.Fingerprint.Target = 2, "http://c:8000" }, "http://c:8000", "window 2 of j.jsonl is measured at another --target; give that one, or begin window 3"},
		"the first window, in the second": {2, func(c *sweep.Curve) { c.Runs[3].Window = 2 }, nil, "",
			"j.jsonl is in window 2, and what is missing in the first one cannot be measured any more; use a new --journal"},
	} {
		old, now := joined(c.attempts), joined(0)
		for _, bend := range []struct {
			f func(*sweep.Curve)
			c *sweep.Curve
		}{{c.old, &old}, {c.now, &now}} {
			if bend.f != nil {
				bend.f(bend.c)
			}
		}
		got, err := (&openJournal{path: "j.jsonl"}).join(now, &old, c.elsewhere)
		if c.want == "" {
			if err != nil || len(got.Runs) != len(old.Runs) || got.Plan.MinWatch != old.Plan.MinWatch {
				t.Errorf("%s: %d of %d runs, watching for %v: %v", name, len(got.Runs), len(old.Runs), got.Plan.MinWatch, err)
			}
			continue
		}
		if code, _ := exitCode(context.Background(), err); code != exitInput || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: exit %d, %v; want %q", name, code, err, c.want)
		}
	}
}
