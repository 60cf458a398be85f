package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

func measuredRun(level int, h loadgen.Health) sweep.Run {
	return sweep.Run{Seq: level, Step: sweep.Step{ConcurrencyPerGPU: level, Kind: loadgen.Steady}, Result: loadgen.Result{Concurrency: 8 * level, Health: h}}
}

// TestGenerator: a line a level with the worst of its runs, nothing for runs
// of other tools, and what is not known as a dash.
func TestGenerator(t *testing.T) {
	all := []sweep.Run{
		measuredRun(16, loadgen.Health{CPUShare: .31, LagP99MS: .5, KernelTime: true, DeliveredConcurrency: 127, DeliveredConcurrencyLow: 120, RunQueueShare: .02}),
		measuredRun(16, loadgen.Health{CPUShare: .29, LagP99MS: 1.5, KernelTime: true, DeliveredConcurrency: 126, DeliveredConcurrencyLow: 125}),
		measuredRun(8, loadgen.Health{LagP99MS: .2}),
		{Seq: 9, Step: sweep.Step{ConcurrencyPerGPU: 32}},
	}
	var b bytes.Buffer
	if err := CurveText(&b, Curve{All: all}); err != nil {
		t.Fatal(err)
	}
	var rows []string
	_, after, _ := strings.Cut(b.String(), "this tool itself")
	for _, line := range strings.Split(strings.TrimSpace(after), "\n") {
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"8 - - - 0.20 - - - this tool",
		"16 126, 125 of 128 31.0 % - 1.50 - 2.0 % - kernel",
	}
	if len(rows) != 5 || rows[3] != want[0] || rows[4] != want[1] {
		t.Errorf("rows %q, want %q", rows, want)
	}
	b.Reset()
	if err := CurveJSON(&b, Curve{All: all}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Generator []struct {
			Concurrency int
			Health      map[string]any
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil || len(doc.Generator) != 3 || doc.Generator[0].Concurrency != 128 || doc.Generator[0].Health["lag_p99_ms"] != .5 || doc.Generator[2].Health["cpu_share"] != nil {
		t.Errorf("%+v, %v", doc, err)
	}
	b.Reset()
	if err := CurveText(&b, Curve{All: all[3:]}); err != nil || strings.Contains(b.String(), "this tool itself") {
		t.Errorf("a curve of another tool: %q, %v", b.String(), err)
	}
}

// TestGeneratorsTogether: what several generators had in common is told once,
// at its worst.
func TestGeneratorsTogether(t *testing.T) {
	all := []sweep.Run{measuredRun(8, loadgen.Health{CPUShare: .1}), measuredRun(16, loadgen.Health{CPUShare: .1})}
	all[0].Result.LoadPods = []loadgen.LoadPod{{Name: "load-0", ClockUncertaintyMS: .5}, {Name: "load-1", ClockUncertaintyMS: 2}}
	all[0].Result.StartSpreadMS, all[1].Result.StartSpreadMS = 3, 7
	var b bytes.Buffer
	if err := CurveText(&b, Curve{All: all}); err != nil || !strings.Contains(b.String(), "up to 2 generators; they began to measure within 7.00 ms of each other, on clocks known to ± 2.00 ms") {
		t.Errorf("%s, %v", b.String(), err)
	}
}
