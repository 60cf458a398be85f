package report

import (
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
)

// TestTextNamesTheBound: sweep, knee and calibrate say in their text which
// bound made the operating point, or why there is none.
func TestTextNamesTheBound(t *testing.T) {
	fit := knee.Fit{Status: knee.Knee, Knee: 160, KneeLow: 128, KneeHigh: 192}
	for _, c := range []struct {
		name  string
		fit   knee.Fit
		op    sweep.OperatingPoint
		first string
		want  string
	}{
		{"margin", fit, sweep.OperatingPoint{ConcurrencyPerGPU: 128, Basis: "knee", Bound: "0.8_knee", Healthy: true},
			"knee at 160 per GPU (90% interval 128 to 192); operating point 128 per GPU", "the operating point is 128 per GPU (bound 0.8_knee: "},
		{"stepped down", fit, sweep.OperatingPoint{ConcurrencyPerGPU: 96, Basis: "knee", Bound: "next_level_unhealthy", BoundReason: "192 is slow", Healthy: true},
			"operating point 96 per GPU", "(bound next_level_unhealthy: stepped down, as 192 is slow)"},
		{"lower bound", knee.Fit{Status: knee.NotSaturated}, sweep.OperatingPoint{ConcurrencyPerGPU: 384, Basis: "lower_bound", Bound: "0.8_top_level", Healthy: true},
			"no knee: throughput still rises", "(bound 0.8_top_level: a lower bound"},
		{"proved", knee.Fit{Status: knee.Insufficient}, sweep.OperatingPoint{ConcurrencyPerGPU: 64, Basis: "proved", Bound: "given", Healthy: true},
			"64 per GPU is proved: the knee is at least that", "(bound given: "},
		{"not healthy", fit, sweep.OperatingPoint{ConcurrencyPerGPU: 128, Basis: "knee", Bound: "0.8_knee", Reason: "192 is missing"},
			"knee at 160", "128 per GPU would be the operating point, but 192 is missing"},
	} {
		var curve, cal strings.Builder
		if err := CurveText(&curve, Curve{Fit: c.fit, Point: c.op}); err != nil {
			t.Fatal(err)
		}
		if err := CalibrationText(&cal, Calibration{Proposal: calibrate.Proposal{Fit: c.fit, Point: c.op}}); err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{"curve": curve.String(), "calibration": cal.String()} {
			first := c.first
			if what == "calibration" { // the point has a line of its own there
				first, _, _ = strings.Cut(first, "operating point")
				first = strings.TrimSuffix(first, "; ")
			}
			if !strings.Contains(text, first) || strings.Count(text, c.want) != 1 {
				t.Errorf("%s, %s: want %q and once %q in\n%s", c.name, what, c.first, c.want, text)
			}
		}
	}
	var none strings.Builder
	if err := CurveText(&none, Curve{Fit: knee.Fit{Status: knee.Insufficient}, Point: sweep.OperatingPoint{Reason: "too few levels"}}); err != nil || !strings.Contains(none.String(), "no operating point: too few levels") {
		t.Errorf("%v:\n%s", err, &none)
	}
}
