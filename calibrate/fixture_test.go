package calibrate

import (
	"slices"
	"time"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

const testModel = "Qwen/Qwen3-8B"

// fixture is a campaign that every gate but C6, C7 and C11 accepts, made of
// parts that a test bends one at a time.
type fixture struct {
	curve   sweep.Curve
	fit     knee.Fit
	point   sweep.OperatingPoint
	current recipes.Gate
	policy  Policy
}

// gpus of the fixture; rates below are per GPU.
const testGPUs = 8

// The GB300 fixture's gate runs, tok/s per GPU and TTFT p99.
func healthyX() []float64   { return []float64{21197, 21500, 20900, 21050, 21310} }
func healthyP99() []float64 { return []float64{677, 660, 690, 700, 650} }

func newFixture() *fixture {
	f := &fixture{
		curve: sweep.Curve{
			Fingerprint: sweep.Fingerprint{
				Target: "http://frontend:8000", Model: testModel, GPUs: testGPUs, Effort: sweep.Standard, ToolVersion: "v0.1.0",
				Workload: loadgen.WorkloadSpec{Name: "aicr", ISL: 128, OSL: 128, Pool: 100, Seed: 100},
				Labels:   map[string]string{"gpu_product": "GB300", "workers": "8"},
			},
			Plan:    sweep.DefaultPlan(sweep.Standard),
			Started: time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC),
			// As GB300 has it at FP8, for who states the precision.
			Preflight: loadgen.Preflight{StreamITLMS: 3},
		},
		fit: knee.Fit{
			Status: knee.Knee, Knee: 200, GridKnee: 200, KneeLow: 150, KneeHigh: 260, EStar: 0.2, Noise: 0.02, NoiseDF: 12,
			Levels: []knee.Level{
				level(32, 8000, 200), level(64, 13500, 350), level(96, 17600, 500), level(128, 21200, 640), level(192, 24000, 1200), level(256, 5192, 33320),
			},
		},
		point: sweep.OperatingPoint{ConcurrencyPerGPU: 128, Basis: "knee", Bound: "0.8_knee", Next: 192, Healthy: true},
	}
	f.attempts(sweep.Confirm, 128, healthyX(), healthyP99())
	return f
}

func level(n int, x, p99 float64) knee.Level {
	return knee.Level{ConcurrencyPerGPU: n, Runs: 2, Kept: 2, TokPerSecPerGPU: x, TTFTP50MS: p99 / 3, TTFTP99MS: p99}
}

// attempts replaces all runs by attempts of a purpose: a gate run reading
// x[i] per GPU and p99[i], and a valid steady run.
func (f *fixture) attempts(p sweep.Purpose, n int, x, p99 []float64) {
	f.curve.Runs = nil
	for i := range x {
		f.add(p, n, x[i], p99[i])
	}
}

func (f *fixture) add(p sweep.Purpose, n int, x, p99 float64) {
	f.curve.Runs = append(f.curve.Runs,
		run(f.curve.Runs, p, loadgen.Gate, n, x*float64(f.curve.Fingerprint.GPUs), p99),
		run(f.curve.Runs, p, loadgen.Steady, n, x*float64(f.curve.Fingerprint.GPUs), p99/1.1))
}

func run(before []sweep.Run, p sweep.Purpose, k loadgen.RunKind, n int, total, p99 float64) sweep.Run {
	e := loadgen.Estimate{Seconds: 60, Requests: 8192, OutputTokens: 60 * total, OutputTokPerSec: total, TTFTP50MS: 200, TTFTP99MS: p99}
	started := time.Date(2026, 9, 2, 8, len(before), 0, 0, time.UTC)
	return sweep.Run{
		Seq: len(before) + 1, Started: started, Step: sweep.Step{ConcurrencyPerGPU: n, Kind: k, Purpose: p},
		Result: loadgen.Result{Kind: k, Concurrency: n * testGPUs, Started: started, Ended: started.Add(time.Minute), WholeRun: e, Window: e,
			Measured: loadgen.Outcomes{loadgen.OK: 8192}},
	}
}

// finished is a curve made by hand as a campaign that is over: of the levels
// that it has, and of no more runs.
func finished(c sweep.Curve) sweep.Curve {
	c.Plan.Levels = nil
	for _, r := range c.Runs {
		c.Plan.Levels = append(c.Plan.Levels, r.Step.ConcurrencyPerGPU)
	}
	slices.Sort(c.Plan.Levels)
	c.Plan.Levels = slices.Compact(c.Plan.Levels)
	c.Plan.Repeats, c.Plan.MaxRuns = 1, len(c.Plan.Levels)
	return c
}

// fail marks the gate run of attempt i as having failed a run gate; as the
// planner does, the attempt then has no steady run.
func (f *fixture) fail(i int, gate string) {
	seen := -1
	for j := range f.curve.Runs {
		if f.curve.Runs[j].Step.Kind == loadgen.Gate {
			seen++
		}
		if seen == i {
			f.curve.Runs[j].Violations = []sweep.Violation{{Gate: gate, Observed: "bad", Threshold: "good"}}
			if j+1 < len(f.curve.Runs) && f.curve.Runs[j+1].Step.Kind == loadgen.Steady {
				f.curve.Runs = append(f.curve.Runs[:j+1], f.curve.Runs[j+2:]...)
			}
			return
		}
	}
}

func (f *fixture) simulated() *fixture {
	f.curve.Fingerprint.Simulated, f.curve.Fingerprint.Target, f.policy.AllowSimulated = true, "sim:gb300?gpus=8", true
	return f
}

func (f *fixture) level(n int) *knee.Level {
	for i := range f.fit.Levels {
		if f.fit.Levels[i].ConcurrencyPerGPU == n {
			return &f.fit.Levels[i]
		}
	}
	panic("no such level in the fixture")
}

func (f *fixture) propose() Proposal {
	return propose(f.curve, f.fit, f.point, f.current, f.policy)
}
