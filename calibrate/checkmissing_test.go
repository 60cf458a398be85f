package calibrate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// A partly used node: the absolute floor shrinks with the GPUs that were
// benchmarked, the one per GPU is multiplied by them, and the ceiling stays.
func TestCheckPartialOccupancy(t *testing.T) {
	const perGPU, node = 18000.0, 8
	absolute := recipes.Gate{Model: testModel, ConcurrencyPerGPU: 128, Floor: perGPU * node, CeilingTTFTP99MS: 1400}
	each := recipes.Gate{Model: testModel, ConcurrencyPerGPU: 128, FloorPerGPU: perGPU, CeilingTTFTP99MS: 1400}
	for gpus := 1; gpus <= node; gpus++ {
		for form, g := range map[string]recipes.Gate{"absolute": absolute, "per GPU": each} {
			for rate, want := range map[float64]Verdict{perGPU * 0.9001: Pass, perGPU * 0.8999: Fail} {
				t.Run(fmt.Sprintf("%s, %d of %d GPUs at %.0f", form, gpus, node, rate), func(t *testing.T) {
					f := newFixture()
					f.curve.Fingerprint.GPUs = gpus
					f.attempts(sweep.Check, 128, []float64{rate, rate, rate}, steadyP99[:3])
					r := Check(g, f.curve, node, nil)
					if r.Verdict != want || math.Abs(r.Effective.EffectiveFloorTokPerSec-0.9*perGPU*float64(gpus)) > 1e-6 || math.Abs(r.Effective.EffectiveCeilingTTFTP99MS-1540) > 1e-9 {
						t.Errorf("%s %q: %+v", r.Verdict, r.Reasons, r.Effective)
					}
				})
			}
		}
	}
	// A node of unknown size, and one said to be smaller than what was
	// benchmarked, leave the absolute floor whole, as AICR does.
	f := newFixture()
	f.curve.Fingerprint.GPUs = 4
	f.attempts(sweep.Check, 128, []float64{perGPU, perGPU, perGPU}, steadyP99[:3])
	for _, node := range []int{0, 2} {
		if r := Check(absolute, f.curve, node, nil); r.Verdict != Fail || r.Effective.EffectiveFloorTokPerSec != 0.9*perGPU*8 {
			t.Errorf("a node of %d: %s %q", node, r.Verdict, r.Reasons)
		}
	}
}

// A gate on TTFT alone never passes, nor fails, on what was not measured.
// AICR reads a missing TTFT as 0 there, and passes.
func TestCheckTTFTOnlyFailsClosed(t *testing.T) {
	gate := recipes.Gate{Model: testModel, ConcurrencyPerGPU: 128, CeilingTTFTP99MS: 1400}
	healthy := []float64{21197, 21500, 20900}
	all := func(v float64) []float64 { return []float64{v, v, v} }
	for name, c := range map[string]struct {
		x, p99 []float64
		bend   func(*sweep.Curve)
		want   Verdict
		says   string
	}{
		"healthy":            {healthy, steadyP99[:3], nil, Pass, "median of 3"},
		"slow, but in time":  {all(10), steadyP99[:3], nil, Pass, "median of 3"},
		"late":               {healthy, all(1541), nil, Fail, "TTFT p99"},
		"no TTFT at all":     {healthy, all(0), nil, Inconclusive, "missing metric: 3"},
		"one TTFT missing":   {healthy, []float64{677, 0, 690}, nil, Inconclusive, "missing metric: 1"},
		"TTFT NaN":           {healthy, all(math.NaN()), nil, Inconclusive, "missing metric: 3"},
		"TTFT infinite":      {healthy, all(math.Inf(1)), nil, Inconclusive, "missing metric: 3"},
		"TTFT negative":      {healthy, all(-1), nil, Inconclusive, "missing metric: 3"},
		"no throughput":      {all(0), steadyP99[:3], nil, Inconclusive, "missing metric: 3"}, // nothing was served
		"no runs":            {nil, nil, nil, Inconclusive, "0 of 0"},
		"no TTFT p50":        {healthy, steadyP99[:3], func(c *sweep.Curve) { c.Runs[0].Result.WholeRun.TTFTP50MS = 0 }, Inconclusive, "missing metric: 1"},
		"no gate runs":       {healthy, steadyP99[:3], func(c *sweep.Curve) { c.Runs = c.Runs[1:2] }, Inconclusive, "unfinished: 1"},
		"no steady run":      {healthy, steadyP99[:3], func(c *sweep.Curve) { c.Runs = c.Runs[:5] }, Inconclusive, "unfinished: 1"},
		"few requests":       {healthy, steadyP99[:3], func(c *sweep.Curve) { c.Runs[0].Result.WholeRun.Requests = 999 }, Inconclusive, "fewer than 1000"},
		"GPUs unknown":       {healthy, steadyP99[:3], func(c *sweep.Curve) { c.Fingerprint.GPUs = 0 }, Inconclusive, "number of GPUs is 0"},
		"model unknown":      {healthy, steadyP99[:3], func(c *sweep.Curve) { c.Fingerprint.Model = "" }, Inconclusive, "gate is for model"},
		"preflight's model":  {healthy, steadyP99[:3], func(c *sweep.Curve) { c.Fingerprint.Model, c.Preflight.Model = "", testModel }, Inconclusive, "measured was unknown"},
		"in the window only": {healthy, all(0), func(c *sweep.Curve) { c.Runs[0].Result.Window.TTFTP99MS = 1 }, Inconclusive, "missing metric"},
	} {
		t.Run(name, func(t *testing.T) {
			f := checkFixture(c.x, c.p99)
			if c.bend != nil {
				c.bend(&f.curve)
			}
			r := Check(gate, f.curve, 8, nil)
			if r.Verdict != c.want || !strings.Contains(strings.Join(r.Reasons, "\n"), c.says) {
				t.Errorf("%s %q, want %s %q", r.Verdict, r.Reasons, c.want, c.says)
			}
			if r.Effective.EffectiveFloorTokPerSec != 0 {
				t.Errorf("a floor out of nothing: %+v", r.Effective)
			}
		})
	}
}
