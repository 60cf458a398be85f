package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// outcome is a check of 8 GPUs with the numbers of AICR's own example.
func outcome(v calibrate.Verdict, reasons ...string) CheckOutcome {
	start := time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)
	stop := start.Add(90 * time.Second)
	return CheckOutcome{Version: "v1", Start: start, Stop: stop, CheckReport: CheckReport{
		Overlay: "gb300 & <eks>.yaml",
		Curve: sweep.Curve{Fingerprint: sweep.Fingerprint{Model: "Qwen/Qwen3-8B", GPUs: 8},
			Runs: []sweep.Run{{Started: start, Result: loadgen.Result{Ended: stop}}}},
		Result: calibrate.CheckResult{Verdict: v, Reasons: reasons, TokPerSecPerGPU: 108789.87 / 8, TTFTP99MS: 687.5, Valid: 3, Attempts: 3,
			Gate:      recipes.Gate{ConcurrencyPerGPU: 256, Floor: 50000, CeilingTTFTP99MS: 2000},
			Effective: recipes.Evaluation{EffectiveFloorTokPerSec: 45000, EffectiveCeilingTTFTP99MS: 2200}},
	}}
}

func outcomes() map[string]struct {
	c           CheckOutcome
	ctrf, junit string // junit: the element under testcase, "" for a pass
} {
	broken := outcome("")
	broken.Err, broken.Curve, broken.Result = errors.New("preflight: connection refused"), sweep.Curve{}, calibrate.CheckResult{}
	return map[string]struct {
		c           CheckOutcome
		ctrf, junit string
	}{
		"pass":         {outcome(calibrate.Pass, "median of 3"), "passed", ""},
		"fail":         {outcome(calibrate.Fail, "below the floor", "TTFT p99 above"), "failed", "failure"},
		"inconclusive": {outcome(calibrate.Inconclusive, "unstable\x00: < 2 clusters"), "other", "error"},
		"error":        {broken, "other", "error"},
	}
}

// The document has what CTRF's schema requires, nothing that it forbids, and
// counts that add up.
func TestCTRF(t *testing.T) {
	allowed := map[string][]string{ // additionalProperties is false in each of these
		"results": {"tool", "summary", "tests", "environment", "extra"},
		"tool":    {"name", "version", "extra"},
		"summary": {"tests", "passed", "failed", "skipped", "pending", "other", "flaky", "suites", "start", "stop", "duration", "extra"},
		"test":    {"name", "status", "duration", "start", "stop", "suite", "message", "rawStatus", "stdout", "extra"},
		"environment": {"reportName", "appName", "appVersion", "buildId", "buildName", "buildNumber", "buildUrl", "repositoryName", "repositoryUrl",
			"commit", "branchName", "osPlatform", "osRelease", "osVersion", "testEnvironment", "healthy", "extra"},
	}
	required := map[string][]string{
		"results": {"tool", "summary", "tests"}, "tool": {"name"}, "test": {"name", "status", "duration"},
		"summary": {"tests", "passed", "failed", "skipped", "pending", "other", "start", "stop"},
	}
	for raw, c := range outcomes() {
		b, err := CTRF(c.c)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Fatal(err)
		}
		object := func(v any, kind string) map[string]any {
			m, ok := v.(map[string]any)
			if !ok {
				t.Fatalf("%s: %s is %T", raw, kind, v)
			}
			for k := range m {
				if allowed[kind] != nil && !slices.Contains(allowed[kind], k) {
					t.Errorf("%s: %s has %s", raw, kind, k)
				}
			}
			for _, k := range required[kind] {
				if m[k] == nil {
					t.Errorf("%s: %s lacks %s", raw, kind, k)
				}
			}
			return m
		}
		if doc["reportFormat"] != "CTRF" || doc["specVersion"] != "0.0.1" {
			t.Errorf("%s: %s", raw, b)
		}
		results := object(doc["results"], "results")
		object(results["tool"], "tool")
		object(results["environment"], "environment")
		summary := object(results["summary"], "summary")
		tests, _ := results["tests"].([]any)
		if len(tests) != 1 {
			t.Fatalf("%s: %s", raw, b)
		}
		test := object(tests[0], "test")
		if test["status"] != c.ctrf || test["rawStatus"] != raw || test["name"] != "inference-perf" || test["message"] == "" {
			t.Errorf("%s: %v", raw, test)
		}
		for _, status := range []string{"passed", "failed", "skipped", "pending", "other"} {
			want := 0.0
			if status == c.ctrf {
				want = 1
			}
			if summary[status] != want {
				t.Errorf("%s: %s is %v", raw, status, summary[status])
			}
		}
		if test["duration"] != 90000.0 || summary["stop"].(float64)-summary["start"].(float64) != 90000 {
			t.Errorf("%s: %v, %v", raw, test["duration"], summary)
		}
		_, lines := test["stdout"]
		if lines != (raw == "pass" || raw == "fail") {
			t.Errorf("%s: RESULT lines: %v", raw, test["stdout"])
		}
	}
}

func TestJUnit(t *testing.T) {
	for raw, c := range outcomes() {
		b, err := JUnit(c.c)
		if err != nil {
			t.Fatal(err)
		}
		type problem struct {
			Type    string `xml:"type,attr"`
			Message string `xml:"message,attr"`
		}
		var doc struct {
			XMLName xml.Name `xml:"testsuites"`
			Suites  []struct {
				Tests    int    `xml:"tests,attr"`
				Failures int    `xml:"failures,attr"`
				Errors   int    `xml:"errors,attr"`
				Skipped  int    `xml:"skipped,attr"`
				Time     string `xml:"time,attr"`
				Cases    []struct {
					Class   string    `xml:"classname,attr"`
					Name    string    `xml:"name,attr"`
					Failure []problem `xml:"failure"`
					Error   []problem `xml:"error"`
					Skipped []problem `xml:"skipped"`
					Out     string    `xml:"system-out"`
				} `xml:"testcase"`
			} `xml:"testsuite"`
		}
		if err := xml.Unmarshal(b, &doc); err != nil {
			t.Fatalf("%s: %v\n%s", raw, err, b)
		}
		s := doc.Suites[0]
		got := s.Cases[0]
		if s.Tests != 1 || s.Failures != len(got.Failure) || s.Errors != len(got.Error) || s.Skipped+len(got.Skipped) != 0 || s.Time != "90.000" {
			t.Errorf("%s: %+v", raw, s)
		}
		want := map[string]int{c.junit: 1}
		if len(got.Failure) != want["failure"] || len(got.Error) != want["error"] {
			t.Errorf("%s: %+v", raw, got)
		}
		for _, p := range append(got.Failure, got.Error...) {
			if p.Type != raw || p.Message == "" {
				t.Errorf("%s: %+v", raw, p)
			}
		}
		if got.Class != "performance.gb300 & <eks>.yaml" || got.Name != "inference-perf" || strings.Contains(got.Out, "RESULT: ") != (raw == "pass" || raw == "fail") {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}

// The time of a check is that of its runs, whatever of their dates is missing;
// without runs it has none.
func TestCheckBounds(t *testing.T) {
	now := time.Date(2026, 9, 2, 0, 0, 0, 0, time.UTC)
	began := outcome(calibrate.Pass).Start
	measured := loadgen.Result{WholeRun: loadgen.Estimate{Seconds: 40}, Window: loadgen.Estimate{Seconds: 30}}
	ended := func(r loadgen.Result, after time.Duration) loadgen.Result {
		r.Ended = began.Add(after)
		return r
	}
	for name, c := range map[string]struct {
		runs        []sweep.Run
		start, stop time.Time
	}{
		"none":                {nil, now, now},
		"one":                 {[]sweep.Run{{Started: began, Result: ended(measured, 90*time.Second)}}, began, began.Add(90 * time.Second)},
		"a rest between":      {[]sweep.Run{{Started: began, Result: measured}, {Started: began.Add(time.Hour), Result: measured}}, began, began.Add(time.Hour + 40*time.Second)},
		"no end":              {[]sweep.Run{{Started: began, Result: measured}}, began, began.Add(40 * time.Second)},
		"no dates":            {[]sweep.Run{{Result: measured}, {Result: measured}}, now.Add(-80 * time.Second), now},
		"the first undated":   {[]sweep.Run{{Result: measured}, {Started: began, Result: measured}}, began, began.Add(80 * time.Second)},
		"the second undated":  {[]sweep.Run{{Started: began, Result: measured}, {Result: measured}}, began, began.Add(80 * time.Second)},
		"ended before it was": {[]sweep.Run{{Started: began, Result: ended(measured, -time.Hour)}}, began, began.Add(40 * time.Second)},
	} {
		r := outcome(calibrate.Pass)
		r.Curve.Runs = c.runs
		r.Start, r.Stop = r.Bounds(now)
		if !r.Start.Equal(c.start) || !r.Stop.Equal(c.stop) {
			t.Errorf("%s: %v to %v, want %v to %v", name, r.Start, r.Stop, c.start, c.stop)
		}
		want := c.stop.Sub(c.start)
		junit, err := JUnit(r)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(junit), fmt.Sprintf(` time="%.3f"`, want.Seconds())); n != 2 {
			t.Errorf("%s: %d of the times of suite and test case are %v: %s", name, n, want, junit)
		}
		ctrf, err := CTRF(r)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(ctrf), fmt.Sprintf(`"duration": %d,`, want.Milliseconds())) {
			t.Errorf("%s: the duration is not %v: %s", name, want, ctrf)
		}
	}
}
