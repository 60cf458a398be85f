package calibrate

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/sweep"
)

// A baseline that is not the sidecar's journal is told, held against the runs
// that the sidecar keeps, and leaves no verdict where the two contradict each
// other; the sidecar's own journal changes nothing.
func TestBaselineOfAnotherCalibration(t *testing.T) {
	made := newFixture()
	made.policy.Journal = Source{"own.jsonl", ownHash}
	side, _ := proved(made)
	for _, c := range []struct {
		name     string
		x, ttft  float64
		runs     int
		hash     string
		want     Verdict
		says     string
		baseline string
	}{
		{"the sidecar's journal", 1, 1, 5, ownHash, Pass, "", "the baseline"},
		{"not known which", 0.8, 1, 5, "", Pass, "", "the baseline"},
		{"another that agrees", 0.95, 1, 5, otherHash, Pass, "another calibration); their gate runs agree", "o.provenance.json"},
		{"a slower one", 0.8, 1, 5, otherHash, Inconclusive, "read x0.800 of the throughput of the 5", "o.provenance.json"},
		{"a faster one", 1.25, 1, 5, otherHash, Inconclusive, "read x1.250 of the throughput of the 5", "the baseline"},
		{"one that waits", 1, 2.1, 5, otherHash, Inconclusive, "have x2.10 of the TTFT p50", "o.provenance.json"},
		{"one with a tail", 1, -3.1, 5, otherHash, Inconclusive, "have x3.10 of the TTFT p99", "o.provenance.json"},
		{"one with too few runs", 1, 1, 2, otherHash, Inconclusive, "whether they agree is not known", "o.provenance.json"},
	} {
		base := newFixture()
		base.attempts(sweep.Confirm, 128, scaled(healthyX(), c.x)[:c.runs], scaled(healthyP99(), math.Abs(c.ttft))[:c.runs])
		for i := range base.curve.Runs {
			if c.ttft > 0 {
				base.curve.Runs[i].Result.WholeRun.TTFTP50MS *= c.ttft
			}
		}
		base.curve = finished(base.curve)
		now := checkFixture([]float64{21197, 21200, 21190}, steadyP99[:3]).curve
		s := Sidecar{Name: "o.provenance.json", Provenance: &side, Overlay: OverlayState{Bytes: []byte("new"), Gate: side.Gate}, Baseline: Source{"b.jsonl", c.hash}}
		without := Check(side.Gate, now, 8, &base.curve).WithSidecar(s.Name, &side, s.Overlay, now)
		r := s.Check(side.Gate, now, 8, &base.curve)
		want := c.want
		if c.says == "" { // nothing that the sidecar adds
			want = without.Verdict
		}
		says := strings.Join(r.Reasons, "\n")
		if r.Verdict != want || !strings.Contains(says, c.says) || strings.Contains(says, "is not the journal own.jsonl") != (c.says != "") {
			t.Errorf("%s: %s %q", c.name, r.Verdict, r.Reasons)
		}
		if r.Drift != nil && r.Drift.Baseline != c.baseline || r.Drift == nil && c.runs == 5 {
			t.Errorf("%s: drift %+v", c.name, r.Drift)
		}
	}
}

// What both spreads explain: reference values by hand, and symmetric.
func TestShiftOf(t *testing.T) {
	x, y := []float64{98, 100, 102}, []float64{98, 100, 102, 104}
	shift, limit := shiftOf(x, y, swFloor, 0)
	back, same := shiftOf(y, x, swFloor, 0)
	near(t, "shift", shift, -back, 1e-12)
	near(t, "limit", limit, same, 1e-12)
	// t of 5 degrees of freedom at 99.5 % is 4.0321; s² is pooled.
	near(t, "limit", limit, 4.0321*0.02353*math.Sqrt(1/3.0+1/4.0), 5e-4)
	_, wide := shiftOf(x, y, swFloor, 0.03)
	near(t, "with deployments", wide, math.Sqrt(limit*limit+4.0321*4.0321*2*0.03*0.03), 1e-4)
	_, floored := shiftOf([]float64{5, 5, 5}, []float64{5, 5, 5}, swFloor, 0)
	near(t, "no spread", floored, 4.6041*swFloor*math.Sqrt(2/3.0), 1e-4)
}

func TestMeasuredAfter(t *testing.T) {
	base, check := newFixture().curve, newFixture().curve
	base.Runs, check.Runs = slices.Clone(base.Runs), slices.Clone(check.Runs)
	last := check.Runs[len(check.Runs)-1].Started
	for _, c := range []struct {
		began time.Time
		after bool
	}{{last.Add(-time.Hour), false}, {last.Add(measuredAfter), false}, {last.Add(measuredAfter + time.Second), true}, {time.Time{}, false}} {
		base.Runs[0].Started = c.began
		if got := MeasuredAfter(base, check); (got != "") != c.after {
			t.Errorf("%v: %q", c.began, got)
		}
	}
	if MeasuredAfter(sweep.Curve{}, check) != "" || MeasuredAfter(base, sweep.Curve{}) != "" {
		t.Error("no run has a date")
	}
}
