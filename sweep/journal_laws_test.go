package sweep

import (
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// TestContradictoryRuns: every number alone could be measured, together they
// were not. What is absent contradicts nothing.
func TestContradictoryRuns(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(r *Run)
		want   string // "" = read
	}{
		{"as measured", func(*Run) {}, ""},
		{"rounded", func(r *Run) { r.Result.WholeRun.OutputTokPerSec *= 1 + 1e-9 }, ""},
		{"without percentiles", func(r *Run) { r.Result.WholeRun.TTFTP50MS, r.Result.WholeRun.TTFTP90MS = 0, 0 }, ""},
		{"without what a rate is made of", func(r *Run) { r.Result.WholeRun = loadgen.Estimate{OutputTokPerSec: 3, TTFTP99MS: 5} }, ""},
		{"failed requests", func(r *Run) { r.Result.Measured[loadgen.Timeout], r.Result.All[loadgen.Timeout] = 7, 9 }, ""},
		{"p99 below p50", func(r *Run) { r.Result.WholeRun.TTFTP99MS = 8 }, "whole run: TTFT p90 of 90 ms is above TTFT p99 of 8 ms"},
		{"p99 below p50, no p90", func(r *Run) { r.Result.Window.TTFTP90MS, r.Result.Window.TTFTP99MS = 0, 8 }, "window: TTFT p50 of 40 ms is above TTFT p99 of 8 ms"},
		{"p90 above p99", func(r *Run) { r.Result.WholeRun.TTFTP90MS = 500 }, "TTFT p90 of 500 ms is above TTFT p99"},
		{"p99 above the maximum", func(r *Run) { r.Result.WholeRun.TTFTMaxMS = 100 }, "is above TTFT max of 100 ms"},
		{"p99 outside of its interval", func(r *Run) { r.Result.WholeRun.TTFTP99LowMS = 900 }, "TTFT p99 low of 900 ms is above"},
		{"p50 above E2E", func(r *Run) { r.Result.WholeRun.E2EP50MS = 30 }, "TTFT p50 of 40 ms is above E2E p50 of 30 ms"},
		{"ITL", func(r *Run) { r.Result.WholeRun.ITLP99MS = 2 }, "ITL p50 of 10 ms is above ITL p99 of 2 ms"},
		{"gaps", func(r *Run) { r.Result.Window.GapP50MS, r.Result.Window.GapP99MS = 9, 3 }, "gap p50 of 9 ms is above gap p99"},
		{"a negative maximum", func(r *Run) { r.Result.Window.TTFTMaxMS = -1 }, "-1 is no measurement"},
		{"tokens", func(r *Run) { r.Result.WholeRun.OutputTokens = 10 }, "whole run: 10 output tokens in 30 s are not 2000 a second"},
		{"time", func(r *Run) { r.Result.Window.Seconds = 1000 }, "window: 60000 output tokens in 1000 s"},
		{"rate", func(r *Run) { r.Result.WholeRun.OutputTokPerSec *= 0.8 }, "in 30 s are not 1600 a second"},
		{"requests", func(r *Run) { r.Result.WholeRun.Requests, r.Result.WholeRun.RequestsPerSec = 1000, 0 }, "whole run: 1000 requests of 30 output tokens are not 60000"},
		{"requests a second", func(r *Run) { r.Result.WholeRun.RequestsPerSec = 5 }, "whole run: 2000 requests in 30 s are not 5 a second"},
		{"outcomes", func(r *Run) { r.Result.Measured[loadgen.OK] = 500 }, "500 measured requests ended well, the whole run counts 2000"},
		{"outcomes of all", func(r *Run) { r.Result.All[loadgen.OK] = 500 }, `500 requests of outcome "ok" in all, and 2000 measured`},
		{"nothing in the series", func(r *Run) { clear(r.Result.Series) }, "no token in any window of its series"},
		{"half of the series", func(r *Run) { clear(r.Result.Series[:60]) }, "tokens in the windows of its series, and 60000 in all"},
		{"time of the series", func(r *Run) { r.Result.SeriesSeconds = 25 }, "120 windows of 25 s are not the 30 s measured"},
		{"ended before it started", func(r *Run) { r.Result.Ended = r.Started.Add(-time.Second) }, "ended before it started"},
		{"another start", func(r *Run) { r.Result.Started = r.Started.Add(-time.Second) }, "its result is of another time"},
		{"a negative lag", func(r *Run) { r.Result.Health.LagP99MS = -3 }, "-3 is no measurement"},
		{"a negative standstill", func(r *Run) { r.Result.Suspended = []loadgen.Suspension{{StartS: 3, LengthS: -2}} }, "-2 is no measurement"},
		{"a negative load", func(r *Run) { r.Result.Health.DeliveredConcurrency = -64 }, "-64 is no measurement"},
		{"a load of more than its streams", func(r *Run) { r.Result.Health.DeliveredConcurrency = 65 }, "65 requests in flight on 64 streams"},
		{"negative prompts", func(r *Run) { r.Result.TotalPromptTokens = -1 }, "-1 is no measurement"},
		{"eight workers of one id", func(r *Run) { r.Workers.After.IDs = []string{"1"} }, "2 workers ready, and 1 id of 1 worker"},
		{"one worker twice", func(r *Run) { r.Workers.Before.IDs = []string{"1", "1"} }, "2 workers ready, and 2 ids of 1 worker"},
		{"another label", func(r *Run) { r.Workers.Expected = 1 }, "1 worker expected, and the campaign's label says workers=2"},
		{"a roll that was not read", func(r *Run) { r.Workers.After = Roll{Unread: "HTTP 500"} }, ""},
	} {
		curve := recorded(1)
		curve.Fingerprint.Labels = map[string]string{"workers": "2"}
		r := &curve.Runs[0]
		r.Result.Started, r.Result.Ended = r.Started, r.Started.Add(40*time.Second)
		for _, e := range []*loadgen.Estimate{&r.Result.Window, &r.Result.WholeRun} {
			e.TTFTP90MS, e.TTFTP99LowMS, e.TTFTP99HighMS, e.TTFTMaxMS, e.E2EP99MS = 90, 180, 300, 400, 900
			e.RequestsPerSec = 2000. / 30
		}
		c.change(r)
		err := consistent(*r, curve.Fingerprint)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestCopiedResult: a result under another time is the same run.
func TestCopiedResult(t *testing.T) {
	for _, differ := range []bool{false, true} {
		runs := someRuns(2)
		for i := range runs {
			runs[i].Result.WholeRun = loadgen.Estimate{Seconds: 30, OutputTokens: 3000, OutputTokPerSec: 100, TTFTMeanMS: 4.000001, E2EMeanMS: 9.000003}
			runs[i].Step.Kind, runs[i].Result.Kind = loadgen.Gate, loadgen.Gate
		}
		if differ {
			runs[1].Result.WholeRun.TTFTMeanMS = 4.000002
		}
		path, _ := write(t, runs)
		if _, err := ReadJournal(path); differ != (err == nil) || err != nil && !strings.Contains(err.Error(), ":3: run 2 is a copy of run 1: their numbers") {
			t.Errorf("differ %v: %v", differ, err)
		}
	}
}
