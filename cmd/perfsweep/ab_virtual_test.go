package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/loadgen/enginesim"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

// virtualAB measures two simulators in turns in virtual time, as sweep --ab
// does. It must run inside a bubble.
func virtualAB(t *testing.T, specA, specB string, osl int, plan sweep.Plan) (*sweep.AB, report.Comparison) {
	t.Helper()
	ws, err := loadgen.DefaultSpec("aicr")
	if err != nil {
		t.Fatal(err)
	}
	ws.OSL = osl
	var flags measureFlags
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.bind(set) // the defaults
	var sides turns
	for i, spec := range []string{specA, specB} {
		p, err := enginesim.ParseTarget(spec)
		if err != nil {
			t.Fatal(err)
		}
		sim := enginesim.New(p)
		defer func() { _ = sim.Close() }()
		s := &sides[i]
		s.target = &target{baseURL: "http://sim.invalid", public: "sim:" + p.Public(), gpus: p.GPUs, simulated: true, dial: sim.Dial}
		s.journal = &openJournal{}
		s.campaign = &campaign{app: &app{out: io.Discard, err: testLog{t}}, flags: &flags, changed: set.Changed, plan: plan, side: []sweep.Side{sweep.SideA, sweep.SideB}[i]}
	}
	if err := sides.preflight(context.Background(), ws); err != nil {
		t.Fatal(err)
	}
	ab, err := sides.begin()
	if err != nil {
		t.Fatal(err)
	}
	d, err := ab.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c, err := sides.judge(ab, d)
	if err != nil {
		t.Fatal(err)
	}
	return ab, c
}

// abPlan is what sweep --ab --effort quick asks for at given levels.
func abPlan(repeats int, levels ...int) sweep.Plan {
	p := sweep.DefaultPlan(sweep.Quick)
	p.MaxConcurrencyPerGPU, p.Levels, p.Repeats = 0, levels, repeats
	return p
}

// abJournals measures an engine in turns with others, for the scripts.
func abJournals(t *testing.T, dir, engine string) {
	t.Helper()
	for _, j := range []struct {
		name, b string
		plan    sweep.Plan
	}{
		{"ab-slow", engine + "&speed=0.8", abPlan(2, 8, 16, 32)},
		{"ab-equal", engine + "&seed=2", abPlan(2, 8, 16, 32)},
		{"ab-few", engine + "&speed=0.8", abPlan(1, 8, 16)},
	} {
		var ab *sweep.AB
		synctest.Test(t, func(t *testing.T) { ab, _ = virtualAB(t, engine, j.b, longOSL, j.plan) })
		writeJournal(t, filepath.Join(dir, j.name+".jsonl"), ab.A.Curve)
		writeJournal(t, filepath.Join(dir, j.name+".jsonl.b"), ab.B.Curve)
	}
}

// TestVirtualAB: of two engines the slower one is found by as much as it is
// slower, and equal ones do not differ; and so it is with what they serve within
// an objective that every answer meets.
func TestVirtualAB(t *testing.T) {
	plan := abPlan(2, 8, 32, 96)
	plan.Objective = loadgen.Objective{TTFTMS: 60_000}
	for _, tt := range []struct {
		name, b string
		want    compare.Verdict
		ratio   float64
	}{
		{"slower", "gb300?chunk=32&speed=0.8", compare.Worse, 0.8},
		{"equal", "gb300?chunk=32&seed=2", compare.Same, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ab, c := virtualAB(t, "gb300?chunk=32", tt.b, longOSL, plan)
				x := c.Report.Throughput
				t.Logf("%s, ratio %.3f [%.3f, %.3f] of %d pairs, p %.2g", x.Verdict, x.Ratio, x.Low, x.High, x.RunsA, x.P)
				if x.Verdict != tt.want || math.Abs(x.Ratio/tt.ratio-1) > 0.05 || x.RunsA != c.Turns.Pairs {
					t.Errorf("%+v, want %s by %v", x, tt.want, tt.ratio)
				}
				if g := c.Report.Goodput; g == nil || g.Verdict != tt.want || math.Abs(g.Ratio/x.Ratio-1) > 0.01 || g.RunsA != x.RunsA || c.B.SLO.State != sweep.SLOMet {
					t.Errorf("goodput %+v, throughput %+v, objective %s", g, x, c.B.SLO.State)
				}
				if a, b := ab.A.Curve.Runs, ab.B.Curve.Runs; len(a) != len(b) || len(a) != c.Turns.Pairs+c.Turns.Dropped {
					t.Errorf("%d runs of A, %d of B, %+v", len(a), len(b), c.Turns)
				}
			})
		})
	}
}

func TestAdvice(t *testing.T) {
	for _, tt := range []struct {
		more, levels int
		want         string
	}{
		{2, 7, "--repeats 4 and another --journal"},
		{4, 7, "--repeats 6 --max-runs 42 and another --journal"},
		{55, 2, "beyond a sweep"},
	} {
		if got := advice(sweep.DefaultPlan(sweep.Quick), tt.more, tt.levels); !strings.Contains(got, tt.want) {
			t.Errorf("%d more: %s", tt.more, got)
		}
	}
}

// TestVirtualABStalls: where B stands still its runs are INVALID, their pairs
// are dropped and made again, and what is left is compared in whole pairs.
func TestVirtualABStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ab, c := virtualAB(t, "gb300?chunk=32", "gb300?chunk=32&stall=0.3", longOSL, abPlan(2, 8, 32))
		x := c.Report.Throughput
		t.Logf("%s, %+v, ratio %.3f of %d pairs", x.Verdict, *c.Turns, x.Ratio, x.RunsA)
		invalid := 0
		for _, r := range ab.B.Curve.Runs {
			if !r.Valid() {
				invalid++
			}
		}
		if invalid == 0 || c.Turns.Dropped != invalid || x.RunsA != c.Turns.Pairs || len(ab.A.Curve.Runs) != len(ab.B.Curve.Runs) {
			t.Errorf("%d runs of B are INVALID: %+v, %+v", invalid, *c.Turns, x)
		}
		said := strings.Join(c.Report.Warnings, "\n")
		if want := fmt.Sprintf("B failed run gates in %d of %d runs (V", invalid, len(ab.B.Curve.Runs)); !strings.Contains(said, want) || strings.Contains(said, "A failed") {
			t.Errorf("the warnings do not say that %s…: %s", want, said)
		}
		if x.Verdict == compare.Better || x.Verdict == compare.Worse {
			t.Errorf("a target that stalls is told to be %s", x.Verdict)
		}
	})
}
