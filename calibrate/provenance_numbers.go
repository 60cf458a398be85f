package calibrate

import (
	"fmt"
	"math"
	"time"

	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// numbers reports the first number or date of a sidecar that none can have, or
// that does not follow from the others.
func (p Provenance) numbers() error {
	for _, d := range []struct{ key, value string }{{"measured", p.Measured}, {"written", p.Written}} {
		if d.value == "" {
			return &keyError{d.key, "is empty"}
		}
	}
	for i, r := range p.BaselineRuns {
		if _, err := time.Parse(time.RFC3339, r.Started); r.Started != "" && err != nil {
			return badKey(fmt.Sprintf("baseline_runs[%d].started", i), "%.80q is no date", r.Started)
		}
	}
	if err := p.order(); err != nil {
		return err
	}
	l, k, v := p.Limits, p.Knee, p.Validity
	for _, n := range []struct {
		key        string
		value, max float64
	}{
		{"limits.runs", float64(l.Runs), math.MaxInt32}, {"limits.deployments", float64(l.Deployments), math.MaxInt32},
		{"limits.median_output_tok_per_s_per_gpu", l.Median, p.fastest()},
		{"limits.s", l.S, 100}, {"limits.s_within", l.SW, 100}, {"limits.s_between", l.SB, 100}, {"limits.s_within_measured", l.SWRaw, 100},
		{"limits.degrees_of_freedom", l.F, math.MaxInt32}, {"limits.n_prime", l.NPrime, math.MaxInt32}, {"limits.k", l.K, math.MaxInt32},
		{"limits.tolerance_limit_output_tok_per_s_per_gpu", l.L, p.fastest()},
		{"limits.portable_output_tok_per_s_per_gpu", l.Portable, p.fastest()}, {"limits.regression_output_tok_per_s_per_gpu", l.Regression, p.fastest()},
		{"limits.false_alarm_portable", l.FalseAlarmPortable, 1}, {"limits.false_alarm_regression", l.FalseAlarmRegression, 1},
		{"knee.knee", k.Knee, math.MaxInt32}, {"knee.knee_low", k.Low, math.MaxInt32}, {"knee.knee_high", k.High, math.MaxInt32},
		{"node_gpus", float64(p.NodeGPUs), sweep.MaxGPUs},
		{"validity.min_gpus", float64(v.MinGPUs), float64(v.MaxGPUs)}, {"validity.max_gpus", float64(v.MaxGPUs), sweep.MaxGPUs},
	} {
		if !(n.value >= 0 && n.value <= n.max) {
			return badKey(n.key, "%v is not between 0 and %v", n.value, n.max)
		}
	}
	return p.effective()
}

// fastest bounds what can be derived from the runs, with room for rounding.
func (p Provenance) fastest() float64 {
	most := 0.0
	for _, r := range p.BaselineRuns {
		most = max(most, r.TokPerSecPerGPU)
	}
	return most * (1 + 1e-6)
}

// effective holds what an evaluator compares with against the written gate. A
// gate of another tolerance is stale, whatever it says.
func (p Provenance) effective() error {
	if math.Abs(p.Tolerance-recipes.Tolerance) > 1e-9 {
		return nil
	}
	floor := p.Gate.FloorPerGPU
	if p.Gate.Floor > 0 {
		if p.NodeGPUs < 1 {
			return badKey("node_gpus", "is %d, which an absolute floor needs", p.NodeGPUs)
		}
		floor = p.Gate.Floor / float64(p.NodeGPUs)
	}
	for _, e := range []struct {
		key       string
		got, want float64
	}{
		{"effective_gate.floor_output_tok_per_s_per_gpu", p.Effective.FloorPerGPU, floor * (1 - p.Tolerance)},
		{"effective_gate.ceiling_ttft_p99_ms", p.Effective.CeilingTTFTP99MS, p.Gate.CeilingTTFTP99MS * (1 + p.Tolerance)},
	} {
		if !(math.Abs(e.got-e.want) <= 1e-6*e.want) {
			return badKey(e.key, "%v does not follow from written_gate, which makes it %v", e.got, e.want)
		}
	}
	return nil
}
