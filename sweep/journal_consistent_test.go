package sweep

import (
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// TestInconsistentRuns: a line that reads well and tells of no measurement of
// its step is damage.
func TestInconsistentRuns(t *testing.T) {
	begun := time.Date(2026, 11, 30, 12, 0, 0, 5, time.UTC)
	for _, c := range []struct {
		name   string
		change func(runs []Run)
		want   string // "" = read
	}{
		{"as measured", func([]Run) {}, ""},
		{"the clock went back", func(r []Run) { r[1].Started, r[1].Result.Started = begun.Add(-time.Hour), begun.Add(-time.Hour) }, ""},
		{"other streams", func(r []Run) { r[1].Result.Concurrency = 16 }, ":3: run 2: 16 streams where 16 per GPU on 2 GPUs were planned"},
		{"another kind", func(r []Run) { r[1].Result.Kind = loadgen.Gate }, ":3: run 2: the result of a gate run"},
		{"a negative rate", func(r []Run) { r[1].Result.Window.OutputTokPerSec = -5 }, ":3: run 2: -5 is no measurement"},
		{"an absurd rate", func(r []Run) { r[1].Result.WholeRun.OutputTokPerSec = 1e300 }, ":3: run 2: 1e+300 is no measurement"},
		{"a rate of almost nothing", func(r []Run) { r[1].Result.WholeRun.OutputTokPerSec = 5e-324 }, ":3: run 2: 5e-324 is no measurement"},
		{"a negative latency", func(r []Run) { r[1].Result.Window.TTFTP99MS = -1 }, ":3: run 2: -1 is no measurement"},
		{"a negative count", func(r []Run) { r[1].Result.Window.Requests = -3 }, ":3: run 2: -3 is no measurement"},
		{"more than all are good", func(r []Run) { r[1].Result.Goodput = &loadgen.Goodput{Requests: 5, Good: 6, Share: 1} }, ":3: run 2: 6 good requests of 5"},
		{"no share", func(r []Run) { r[1].Result.Goodput = &loadgen.Goodput{Requests: 5, Good: 5, Share: -1} }, ":3: run 2: 5 good requests of 5, a share of -1"},
		{"a negative outcome", func(r []Run) { r[1].Result.Measured = loadgen.Outcomes{loadgen.OK: 5, loadgen.Timeout: -5} }, ":3: run 2: -5 is no measurement"},
		{"an absurd window", func(r []Run) { r[1].Result.Series = []float64{1, 1e300} }, ":3: run 2: 1e+300 is no measurement"},
		{"a window of almost nothing", func(r []Run) { r[1].Result.Series, r[1].Result.SeriesSeconds = []float64{1, 1e-300}, 1e-9 }, ""},
		{"a copy", func(r []Run) { r[1].Started, r[1].Result.Started = begun.Local(), begun }, ":3: run 2 is a copy of run 1"},
	} {
		runs := someRuns(2)
		for i := range runs {
			runs[i].Started = begun.Add(time.Duration(i) * time.Minute)
			runs[i].Result = loadgen.Result{
				Kind: loadgen.Steady, Concurrency: 2 * runs[i].Step.ConcurrencyPerGPU, Started: runs[i].Started, Ended: begun.Add(2 * time.Hour),
				Window: loadgen.Estimate{OutputTokPerSec: 100, Requests: 10, TTFTP99MS: 20}, WholeRun: loadgen.Estimate{OutputTokPerSec: 90},
			}
		}
		c.change(runs)
		path, _ := write(t, runs)
		got, err := ReadJournal(path)
		if c.want == "" && (err != nil || len(got.Runs) != 2) || c.want != "" && (err == nil || !strings.Contains(err.Error(), path+c.want)) {
			t.Errorf("%s: %d runs, %v; want %q", c.name, len(got.Runs), err, c.want)
		}
	}
}
