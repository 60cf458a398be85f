package calibrate

import (
	"math"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/sweep"
)

// A shift is judged by the rule of the pulse (knee.md §18.2), both ways.
func TestShiftBetween(t *testing.T) {
	flat := func(n int, x float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = x
		}
		return out
	}
	for _, c := range []struct {
		now, then []float64
		sb        float64
		limit     float64 // T of knee.md for s_b, s_w = .015, r and r_b
		ratio     float64
		changed   bool
	}{
		{flat(3, 90), flat(3, 100), sbPrior, math.Exp(-2.5 * math.Sqrt(2*.03*.03+.015*.015*2/3)), 0.90, false},
		{flat(3, 89), flat(3, 100), sbPrior, math.Exp(-2.5 * math.Sqrt(2*.03*.03+.015*.015*2/3)), 0.89, true},
		{flat(3, 115), flat(5, 100), sbPrior, math.Exp(-2.5 * math.Sqrt(2*.03*.03+.015*.015*(1./3+1./5))), 1.15, true},
		{flat(3, 96), flat(5, 100), 0, 1 / 1.03, 0.96, true}, // one deployment: the least change that matters
		{flat(3, 98), flat(5, 100), 0, 1 / 1.03, 0.98, false},
	} {
		s := shiftBetween(c.now, c.then, swFloor, c.sb, driftThroughput)
		if math.Abs(s.Ratio-c.ratio) > 1e-9 || math.Abs(1/s.Limit-c.limit) > 1e-4 || s.Changed != c.changed || !(s.Low < s.Ratio && s.Ratio < s.High) {
			t.Errorf("%v against %v: %+v, want ratio %v, limit %v, changed %v", c.now, c.then, s, c.ratio, c.limit, c.changed)
		}
	}
}

// What a new build may change is compared across; what makes it another thing is
// refused, however it reads.
func TestReconfirmAcross(t *testing.T) {
	was := sweep.Fingerprint{Model: "m", GPUs: 1, Effort: sweep.Standard, Labels: map[string]string{"image": "a", "precision": "fp8", "driver": "1", "node": "x"}}
	p := Provenance{Fingerprint: was, FloorProfile: Portable, FloorForm: PerGPU, Tolerance: 0.1}
	for name, c := range map[string]struct {
		change      func(*sweep.Fingerprint)
		other, bump string
	}{
		"same":         {func(*sweep.Fingerprint) {}, "", ""},
		"image":        {func(f *sweep.Fingerprint) { f.Labels["image"] = "b" }, "", "labels.image: a, now b"},
		"driver":       {func(f *sweep.Fingerprint) { f.Labels["driver"] = "2" }, "", "labels.driver: 1, now 2"},
		"node, build":  {func(f *sweep.Fingerprint) { f.Labels["node"], f.ToolVersion = "y", "2" }, "", ""},
		"GPUs":         {func(f *sweep.Fingerprint) { f.GPUs = 8 }, "", ""},
		"not stated":   {func(f *sweep.Fingerprint) { delete(f.Labels, "image") }, "", "image: calibrated a, now not stated"},
		"precision":    {func(f *sweep.Fingerprint) { f.Labels["precision"] = "bf16" }, "labels.precision: fp8, now bf16", ""},
		"no precision": {func(f *sweep.Fingerprint) { delete(f.Labels, "precision") }, "precision: calibrated fp8, now not stated", ""},
		"model":        {func(f *sweep.Fingerprint) { f.Model = "n" }, "model: m, now n", ""},
		"effort":       {func(f *sweep.Fingerprint) { f.Effort = sweep.Quick }, "effort: standard, now quick", ""},
		"simulated":    {func(f *sweep.Fingerprint) { f.Simulated = true }, "simulated: false, now true", ""},
	} {
		now := was
		now.Labels = map[string]string{}
		for k, v := range was.Labels {
			now.Labels[k] = v
		}
		c.change(&now)
		other, bump := p.across(now)
		if strings.Join(other, "; ") != c.other || strings.Join(bump, "; ") != c.bump {
			t.Errorf("%s: other %q, bump %q; want %q and %q", name, other, bump, c.other, c.bump)
		}
		r := p.Reconfirm("s.json", sweep.Curve{Fingerprint: now}, sweep.Decision{Done: true})
		if r.State != ReconfirmRefused || strings.Contains(r.Reasons[0], "another thing was measured") != (c.other != "") {
			t.Errorf("%s: %s, %q", name, r.State, r.Reasons)
		}
	}
}
