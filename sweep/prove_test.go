package sweep

import (
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

// refusal is a world that spoils the runs of one level, and what the planner
// says of it.
type refusal struct {
	name   string
	n      int // the level; 0 = every one
	judge  func(r *Run, nth int)
	bound  string
	reason string
	// confirm is the reason where the point is confirmed, "" = the same.
	confirm string
}

// refusals are worlds in which 64 per GPU is not proved, or just is; beside it
// are 32 and 96. Each is healthy but for what judge does to the runs at n.
func refusals() []refusal {
	invalidFrom := func(gate string, first, last int) func(*Run, int) {
		return func(r *Run, nth int) {
			if nth >= first && nth <= last {
				r.Violations = []Violation{{Gate: gate}}
			}
		}
	}
	invalid := func(gate string, last int) func(*Run, int) { return invalidFrom(gate, 1, last) }
	scale := func(by float64, from int) func(*Run, int) {
		return func(r *Run, nth int) {
			if nth >= from {
				r.Result.Window.OutputTokPerSec *= by
			}
		}
	}
	ttft := func(ms float64) func(*Run, int) {
		return func(r *Run, _ int) { r.Result.Window.TTFTP99MS = ms }
	}
	const all = 1000
	return []refusal{
		{"errors at the half", 32, invalid("V2", all), "", "32 per GPU gave no valid run (V2)", ""},
		{"errors above", 96, invalid("V2", all), boundNext, "96 per GPU gave no valid run (V2)", ""},
		{"errors at the point", 64, invalid("V2", all), "", "64 per GPU gave no valid run (V2)", "only 0 of 4 attempts at 64 per GPU were valid (V2), 5 of at most 8 are needed"},
		{"the point is seldom valid", 64, invalid("V8", 6), "", "64 per GPU has 3 valid runs, 5 are needed", "only 0 of 4 attempts"},
		{"the half is valid once", 32, invalidFrom("V8", 2, all), "", "32 per GPU has 1 valid run, 2 are needed", ""},
		{"no valid run anywhere", 0, invalid("V3", all), "", "unstable: not one valid run", ""},
		{"the server stands still", 64, invalid("V6", 2), "", accepted, "unstable: 2 of 2 attempts at 64 per GPU stalled"},
		{"it stands still once", 64, invalid("V6", 1), "", accepted, ""},
		{"TTFT above out of bounds", 96, ttft(2001), boundNext, "TTFT p99 at 96 per GPU is 2001 ms", ""},
		{"TTFT above just in bounds", 96, ttft(2000), "", accepted, ""},
		{"no TTFT above", 96, ttft(0), boundNext, "TTFT p99 was not measured at 96", ""},
		{"TTFT out of bounds", 64, ttft(2001), boundSLO, "TTFT p99 at 64 per GPU is 2001 ms", ""},
		{"no TTFT", 64, ttft(0), boundSLO, "TTFT p99 was not measured at 64", ""},
		{"throughput falls above", 96, scale(0.7, 1), boundNext, "throughput falls from 64 to 96 per GPU", ""},
		{"throughput does not rise to the point", 32, scale(1.60, 1), "", "throughput gains only ×1.1", ""},
		{"throughput just rises to it", 32, scale(1.55, 1), "", accepted, ""},
		{"the half is not of one piece", 32, scale(0.6, 2), "", "unstable: throughput at 32 per GPU is not of one piece", ""},
		{"the point is not of one piece", 64, scale(0.6, 4), "", "unstable: throughput at 64 per GPU is not of one piece", ""},
		{"the level above is not of one piece", 96, scale(1.5, 2), "", "unstable: throughput at 96 per GPU is not of one piece", ""},
	}
}

const accepted = "given and proved"

// TestProveRefuses: each condition of O-4 refuses alone, and just inside it the
// point is proved. Whoever asks the finished runs gets the same answer.
func TestProveRefuses(t *testing.T) {
	for _, c := range refusals() {
		for _, confirm := range []bool{false, true} {
			p := DefaultPlan(Standard)
			p.Point, p.Confirm = 64, confirm
			w, nth := newWorld(kneetest.GB300(210), 0, 1), map[int]int{}
			w.judge = func(r *Run) {
				n := r.Step.ConcurrencyPerGPU
				if nth[n]++; n == c.n || c.n == 0 {
					c.judge(r, nth[n])
				}
			}
			want := c.reason
			if confirm && c.confirm != "" {
				want = c.confirm
			}
			runs, d := w.play(t, p)
			if healthy := want == accepted; d.Point.Healthy != healthy || (d.Point.Basis == "proved") != healthy || !strings.Contains(d.Reason, want) || !healthy && d.Point.Bound != c.bound {
				t.Errorf("%s (confirm %v): %+v, want %q", c.name, confirm, d, want)
			}
			if got := ChoosePoint(p, fitOf(p, runs), runs); got.Healthy && !d.Point.Healthy && c.confirm == "" {
				t.Errorf("%s (confirm %v): ChoosePoint %+v, the campaign %+v", c.name, confirm, got, d.Point)
			}
		}
	}
}

// TestProveEndsWithItsBudget: a budget that is spent refuses; what is missing is
// never a pass, at any number of runs.
func TestProveEndsWithItsBudget(t *testing.T) {
	p := DefaultPlan(Standard)
	p.Point = 64
	whole, d := newWorld(kneetest.GB300(210), 0.02, 1).play(t, p)
	if !d.Point.Healthy || len(whole) != 9 {
		t.Fatalf("%d runs, %+v", len(whole), d)
	}
	for made := range whole {
		short := p
		short.MaxRuns = max(made, 1)
		if d := NextStep(short, whole[:short.MaxRuns]); !d.Done || d.Point.Healthy || d.Point.Basis != "" || !strings.Contains(d.Reason, "the limit of") {
			t.Errorf("%d runs: %+v", short.MaxRuns, d)
		}
		short = p
		short.MaxWall = time.Duration(made)*40*time.Second + time.Second
		if d := NextStep(short, whole[:made+1]); made+1 < len(whole) && (!d.Done || d.Point.Healthy || !strings.Contains(d.Reason, "the time limit")) {
			t.Errorf("%v: %+v", short.MaxWall, d)
		}
		if op := ChoosePoint(p, fitOf(p, whole[:made]), whole[:made]); op.Healthy || !op.Measure {
			t.Errorf("%d of 9 runs are enough: %+v", made, op)
		}
	}
}

// TestProveNeedsALevelAbove: the highest ladder value has none, and no plan.
func TestProveNeedsALevelAbove(t *testing.T) {
	for n, ok := range map[int]bool{2: true, 3072: true, 4095: true, 4096: false, 1: false} {
		p := confirmPlan()
		p.Point = n
		if err := p.Validate(); (err == nil) != ok {
			t.Errorf("%d per GPU: %v", n, err)
		}
		if d := NextStep(p, nil); d.Done == ok || !ok && d.Point.Healthy {
			t.Errorf("%d per GPU: %+v", n, d)
		}
		if ok {
			continue
		}
		runs := []Run{{Seq: 1, Step: Step{ConcurrencyPerGPU: n, Kind: loadgen.Steady}}}
		if op := ChoosePoint(p, fitOf(p, runs), runs); op.Healthy {
			t.Errorf("%d per GPU: %+v", n, op)
		}
	}
}
