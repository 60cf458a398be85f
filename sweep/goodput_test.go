package sweep

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

var within400 = loadgen.Objective{TTFTMS: 400}

// goodRun is a valid steady run of 100 requests of which good met the objective.
func goodRun(window, n, good int) Run {
	share := float64(good) / 100
	return Run{
		Window: window, Step: Step{ConcurrencyPerGPU: n, Kind: loadgen.Steady},
		Result: loadgen.Result{
			Window:  loadgen.Estimate{OutputTokPerSec: 2000, TTFTP99MS: 100},
			Goodput: &loadgen.Goodput{Objective: within400, Requests: 100, Good: int64(good), Share: share, RequestsPerSec: 20 * share, OutputTokPerSec: 2000 * share},
		},
	}
}

// TestGoodputOfAllWindows: what a further window served within the objective
// counts, and one that served less than the others is named.
func TestGoodputOfAllWindows(t *testing.T) {
	other := goodRun(2, 16, 0)
	other.Result.Goodput.Objective.TTFTMS++
	pulse := goodRun(2, 16, 0)
	pulse.Step.Purpose = Pulse
	invalid := goodRun(2, 16, 0)
	invalid.Violations = []Violation{{Gate: "V2"}}
	gate := goodRun(2, 16, 0)
	gate.Step.Kind = loadgen.Gate
	runs := []Run{goodRun(0, 8, 100), goodRun(0, 16, 98), goodRun(1, 16, 98), goodRun(2, 16, 60), goodRun(2, 16, 62), goodRun(3, 16, 99), other, pulse, invalid, gate}
	got := GoodputLevels(within400, runs, 2)
	want := []GoodputLevel{
		{ConcurrencyPerGPU: 8, Runs: 1, RequestsPerSecPerGPU: 10, TokPerSecPerGPU: 1000, Share: 1},
		{ConcurrencyPerGPU: 16, Runs: 5, RequestsPerSecPerGPU: 9.8, TokPerSecPerGPU: 980, Share: 0.98, Windows: 3, LowestShare: 0.61, LowestWindow: 2},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	runs = append(runs, goodRun(4, 16, 0))
	if l := GoodputLevels(within400, runs, 2)[1]; l.LowestShare != 0 || l.LowestWindow != 4 {
		t.Errorf("a window with no good request: %+v", l)
	}
}

// TestGoodRuns: they stand beside the points of a curve, and none is no number.
func TestGoodRuns(t *testing.T) {
	bare := goodRun(1, 8, 100)
	bare.Result.Goodput = nil
	gate := goodRun(1, 8, 100)
	gate.Step.Kind = loadgen.Gate
	c := Curve{Fingerprint: Fingerprint{GPUs: 2}, Runs: []Run{goodRun(1, 8, 50), gate, bare, goodRun(1, 16, 0), goodRun(2, 8, 1)}}
	want := []GoodRun{{8, 500, false}, {8, 0, false}, {16, 5, true}}
	if got := c.GoodRuns(within400); !slices.Equal(got, want) || len(got) != len(c.Points()) {
		t.Errorf("%+v", got)
	}
}

// TestObjectiveInFurtherWindow: a point that met its objective in the first
// window and misses it in the second is not confirmed.
func TestObjectiveInFurtherWindow(t *testing.T) {
	p := DefaultPlan(Standard)
	p.Point, p.Confirm, p.Objective = 64, true, loadgen.Objective{TTFTMS: 400, ITLMS: 20}
	w := newWorld(kneetest.GB300(210), 0.003, 1)
	latency := func(ttft, itl float64) {
		w.judge = func(r *Run) {
			r.Window = max(p.Window, 1)
			r.Result.Window.TTFTP99MS, r.Result.Window.ITLP99MS = ttft, itl
		}
	}
	latency(300, 15)
	first, d := w.play(t, p)
	if !d.Point.Healthy {
		t.Fatal(d.Reason)
	}
	for _, c := range []struct {
		ttft, itl float64
		says      string // "" = confirmed
	}{
		{390, 19, ""},
		{410, 15, "window 2: the objective is missed at 64 per GPU: TTFT p99 is 410 ms, above 400 ms"},
		{300, 21, "window 2: the objective is missed at 64 per GPU: ITL p99 is 21 ms, above 20 ms"},
		{300, 0, "window 2: ITL p99 was not measured at 64 per GPU, so the objective cannot be judged"},
	} {
		p.Window = 2
		latency(c.ttft, c.itl)
		runs := slices.Clone(first)
		for {
			if d = NextStep(p, runs); d.Done {
				break
			}
			r := w.run(d.Step, len(runs)+1)
			r.Started = r.Started.Add(time.Hour)
			runs = append(runs, r)
		}
		if d.Point.Healthy != (c.says == "") || !strings.Contains(d.Reason, c.says) {
			t.Errorf("%v ms, %v ms: %+v", c.ttft, c.itl, d)
		}
		notes := strings.Join(JudgeSLO(p.Objective, runs).Notes, "\n")
		if want := strings.TrimPrefix(c.says, "window 2: "); c.says == "" && strings.Contains(notes, "in window") || !strings.Contains(notes, want) {
			t.Errorf("%v ms, %v ms: notes %q", c.ttft, c.itl, notes)
		}
	}
}
