package sweep_test

import (
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// warmed is a run with some TTFT, and that of its waves.
func warmed(seq, window, n int, kind loadgen.RunKind, ttft float64, waves ...float64) sweep.Run {
	r := sweep.Run{Seq: seq, Window: window, Step: sweep.Step{ConcurrencyPerGPU: n, Kind: kind}, Result: loadgen.Result{Kind: kind, TTFTWavesMS: waves}}
	r.Result.Window.TTFTP50MS, r.Result.WholeRun.TTFTP50MS = ttft, ttft
	return r
}

// TestWarmingAcrossRuns: TTFT that falls from run to run of one load is told once.
func TestWarmingAcrossRuns(t *testing.T) {
	for name, c := range map[string]struct {
		ttft []float64
		want bool
	}{
		"falling":           {[]float64{900, 500, 300}, true},
		"noise":             {[]float64{300, 295, 290}, false},
		"two waves":         {[]float64{900, 300}, false},
		"a cold first wave": {[]float64{900, 300, 301, 299}, false},
		"falling late":      {[]float64{300, 900, 500, 300}, true},
		"rising":            {[]float64{300, 500, 900}, false},
		"no tokens":         {[]float64{0, 0, 0}, false},
	} {
		var w sweep.Warming
		var runs []sweep.Run
		warned := 0
		for _, ms := range append(c.ttft, c.ttft[len(c.ttft)-1]) {
			// Runs at another load between them are waves of their own.
			for _, r := range []sweep.Run{warmed(len(runs)+1, 1, 64, loadgen.Steady, ms), warmed(len(runs)+2, 1, 128, loadgen.Steady, 100)} {
				runs = append(runs, r)
				if s := w.Hear(r); s != "" {
					warned++
					if !strings.Contains(s, "at 64 per GPU falls from run to run (") {
						t.Errorf("%s: %s", name, s)
					}
				}
			}
		}
		if (warned == 1) != c.want || warned > 1 || (sweep.WarmingUp(runs) != "") != c.want {
			t.Errorf("%s: warned %d times; of all %q", name, warned, sweep.WarmingUp(runs))
		}
	}
}

// TestWarmingWithinRun: TTFT that falls over the first waves of a steady run, and
// stays down, is told; a gate run begins with a burst, which does the same.
func TestWarmingWithinRun(t *testing.T) {
	for name, c := range map[string]struct {
		kind  loadgen.RunKind
		waves []float64
		want  bool
	}{
		"compiled wave by wave": {loadgen.Steady, []float64{900, 500, 300, 310, 290}, true},
		"three waves":           {loadgen.Steady, []float64{900, 600, 400}, true},
		"slowly":                {loadgen.Steady, []float64{900, 800, 700, 600, 500}, false},
		"noise":                 {loadgen.Steady, []float64{300, 297, 290, 305}, false},
		"it swings":             {loadgen.Steady, []float64{900, 500, 300, 800, 400}, false},
		"a slow first wave":     {loadgen.Steady, []float64{900, 300, 310, 300}, false},
		"too short":             {loadgen.Steady, []float64{900, 300}, false},
		"rising":                {loadgen.Steady, []float64{300, 500, 900}, false},
		"none told":             {loadgen.Steady, nil, false},
		"zeros":                 {loadgen.Steady, []float64{0, 0, 0}, false},
		"the burst of a gate":   {loadgen.Gate, []float64{900, 500, 300}, false},
	} {
		got := sweep.WarmingUp([]sweep.Run{warmed(7, 1, 64, c.kind, 300, c.waves...)})
		if (got != "") != c.want || c.want && !strings.Contains(got, "at 64 per GPU falls from wave to wave of run 7 (900, ") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestWarmingByWindow: each window is told of by itself, and what falls from one
// to the next is no wave.
func TestWarmingByWindow(t *testing.T) {
	var w sweep.Warming
	for i, ms := range []float64{900, 500, 300} {
		if s := w.Hear(warmed(i+1, i+1, 64, loadgen.Steady, ms)); s != "" {
			t.Error(s)
		}
	}
	told := 0
	for window := range 2 {
		for i, ms := range []float64{900, 500, 300, 200} {
			if w.Hear(warmed(i+1, window+4, 64, loadgen.Steady, ms)) != "" {
				told++
			}
		}
	}
	if told != 2 {
		t.Errorf("told %d times of two windows", told)
	}
}
