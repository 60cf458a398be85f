package main

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/loadgen/enginesim"
	"github.com/perfsweep/perfsweep/sweep"
)

// powerError is how far the fault-power report may be from what an engine with
// the fault reads: the fit, and two runs of 1 % noise.
const powerError = 0.03

// TestVirtualPower: what the report of a calibration predicts of a loss is what
// an engine that has it reads, at the operating point and at the pulse.
func TestVirtualPower(t *testing.T) {
	healthy, err := enginesim.ParseTarget("lost-worker?lost=0&chunk=64")
	if err != nil {
		t.Fatal(err)
	}
	var base sweep.Curve
	synctest.Test(t, func(t *testing.T) { base, _ = engine(t, healthy, quickPlan()) })
	base.Fingerprint.Labels = map[string]string{"workers": "4", "max_num_seqs": "24"}
	report := propose(base)
	op := report.Gate.ConcurrencyPerGPU
	pulse, why := base.PulseBase(base.Fit(), op)
	if why != "" || pulse.ConcurrencyPerGPU <= op {
		t.Fatalf("no pulse above %d per GPU: %d, %s", op, pulse.ConcurrencyPerGPU, why)
	}
	largest := 0.0
	for _, l := range base.Fit().Levels {
		largest = max(largest, l.TokPerSecPerGPU)
	}
	faults := map[string]func(*enginesim.Params){
		"1 of 4 workers lost":                                           func(p *enginesim.Params) { p.Lost = 1 },
		"2 of 4 workers lost":                                           func(p *enginesim.Params) { p.Lost = 2 },
		"1 of 4 workers at half speed, least-loaded router":             func(p *enginesim.Params) { p.Sick = 0.5 },
		"1 of 4 workers at half speed, round-robin router":              func(p *enginesim.Params) { p.Sick, p.Router = 0.5, enginesim.RoundRobin },
		"everything 20 % slower":                                        func(p *enginesim.Params) { p.Speed = 0.8 },
		"everything 30 % slower":                                        func(p *enginesim.Params) { p.Speed = 0.7 },
		"half of the batch cap":                                         func(p *enginesim.Params) { p.Slots /= 2 },
		"a frontend ceiling at 80 % of the largest throughput measured": func(p *enginesim.Params) { p.FrontendTokPerSec = 0.8 * largest },
	}
	two := func(e sweep.Effort) sweep.Plan {
		p := sweep.DefaultPlan(e)
		p.Levels, p.Repeats = []int{op, pulse.ConcurrencyPerGPU}, 1
		return p
	}
	seen := 0
	for _, s := range report.Sensitivity {
		fault, ok := faults[s.Loss]
		if !ok {
			if !strings.HasPrefix(s.Loss, "standstill") {
				t.Errorf("%q is predicted and not verified", s.Loss)
			}
			continue
		}
		seen++
		if testing.Short() && !strings.Contains(s.Loss, "lost") {
			continue
		}
		t.Run(s.Loss, func(t *testing.T) {
			p := healthy
			fault(&p)
			// Behind round-robin requests pile up on a sick worker for longer than a
			// quick run lasts.
			plan := two(sweep.Quick)
			if strings.Contains(s.Loss, "round-robin") {
				plan = two(sweep.Standard)
			}
			var sick sweep.Curve
			synctest.Test(t, func(t *testing.T) { sick, _ = engine(t, p, plan) })
			for i, want := range []float64{s.Ratio, s.PulseRatio} {
				n := plan.Levels[i]
				got := steadyRate(sick, n) / steadyRate(base, n)
				t.Logf("at %d per GPU: predicted x%.3f, read x%.3f; caught %.2f, by check %.2f", n, want, got, s.Caught, s.CheckCaught)
				if !(math.Abs(got-want) <= powerError) {
					t.Errorf("at %d per GPU: predicted x%.3f, read x%.3f", n, want, got)
				}
			}
		})
	}
	if seen != len(faults) {
		t.Errorf("%d of %d losses are predicted: %+v", seen, len(faults), report.Sensitivity)
	}
}

// TestVirtualStandstill: an engine that stands still 30 % of the time reads so,
// and the client sees the silence.
func TestVirtualStandstill(t *testing.T) {
	p, err := enginesim.ParseTarget("lost-worker?lost=0&chunk=64&stall=0.3")
	if err != nil {
		t.Fatal(err)
	}
	plan := sweep.DefaultPlan(sweep.Full) // long enough for many windows of ten
	plan.Levels, plan.Repeats = []int{8}, 1
	var c sweep.Curve
	synctest.Test(t, func(t *testing.T) { c, _ = engine(t, p, plan) })
	r := c.Runs[0]
	if got := r.Result.Window.OutputTokPerSec / p.Throughput(8); r.Valid() || !(math.Abs(got-0.7) <= 0.1) {
		t.Errorf("reads x%.3f of the law, want x0.7; valid %v", got, r.Valid())
	}
}

func engine(t *testing.T, p enginesim.Params, plan sweep.Plan) (sweep.Curve, sweep.Decision) {
	t.Helper()
	c, d, err := virtualEngine(context.Background(), t, p, quickOSL, plan, "")
	if err != nil {
		t.Fatal(err)
	}
	return c, d
}

// steadyRate is the median throughput of the steady runs of a level; those of a
// sick engine may be INVALID, and read what they read.
func steadyRate(c sweep.Curve, n int) float64 {
	var x []float64
	for _, r := range c.Runs {
		if r.Step.Kind == loadgen.Steady && r.Step.ConcurrencyPerGPU == n {
			x = append(x, r.Result.Window.OutputTokPerSec)
		}
	}
	return sweep.Median(x)
}
