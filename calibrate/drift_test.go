package calibrate

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/sweep"
)

// The table of knee.md §11 for a check of three runs against ten of the same
// deployment, and healthy checks of other ones.
func TestDriftRates(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 2))
	draw := func(n int, shift, sd float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = math.Exp(shift + sd*rng.NormFloat64())
		}
		return out
	}
	const trials = 4000
	for _, c := range []struct {
		name          string
		sw, sb, speed float64
		base          int
		least, most   float64
	}{
		{"healthy, CV 2 %", 0.02, 0, 1, 10, 0, 0.015},
		{"−3 %, CV 2 %", 0.02, 0, 0.97, 10, 0.25, 0.45},
		{"−5 %, CV 2 %", 0.02, 0, 0.95, 10, 0.80, 0.90},
		{"−10 %, CV 2 %", 0.02, 0, 0.90, 10, 0.99, 1},
		{"healthy, CV 4 %", 0.04, 0, 1, 10, 0, 0.016},
		{"−10 %, CV 4 %", 0.04, 0, 0.90, 10, 0.80, 0.90},
		{"other deployments, 3/3 %", 0.03, 0.03, 1, 8, 0, 0.01},
		{"−20 % of other deployments, 3/3 %", 0.03, 0.03, 0.8, 8, 0.95, 1},
	} {
		alarms := 0
		for range trials {
			then := draw(c.base, c.sb*rng.NormFloat64(), c.sw)
			now := draw(3, math.Log(c.speed)+c.sb*rng.NormFloat64(), c.sw)
			if driftOf(now, then, 0, c.sb, driftThroughput, -1).Alarm {
				alarms++
			}
		}
		if got := float64(alarms) / trials; got < c.least || got > c.most {
			t.Errorf("%s: alarms in %.3f, want %.2f to %.3f", c.name, got, c.least, c.most)
		}
	}
}

func TestDriftOf(t *testing.T) {
	then := []float64{100, 101, 99, 100, 100, 101, 99, 100, 100, 100}
	for _, c := range []struct {
		name         string
		now          []float64
		worse, floor float64
		alarm        bool
	}{
		{"the same", []float64{100, 101, 99}, -1, 0, false},
		{"a change that does not matter", []float64{98, 98, 98}, -1, 0, false},
		{"lower", []float64{96, 96, 96}, -1, 0, true},
		{"higher throughput", []float64{120, 120, 120}, -1, 0, false},
		{"later", []float64{160, 160, 160}, 1, ttftSpreadFloor, true},
		{"later within the jitter of a tail", []float64{115, 115, 115}, 1, ttftSpreadFloor, false},
		{"earlier", []float64{50, 50, 50}, 1, ttftSpreadFloor, false},
	} {
		if d := driftOf(c.now, then, c.floor, 0, driftThroughput, c.worse); d.Alarm != c.alarm || !finite(d) {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}

// A drift alarms beside a verdict, and neither gives nor takes a pass.
func TestCheckDrift(t *testing.T) {
	f := newFixture()
	base := finished(f.curve)
	check := func(k float64, bend func(*sweep.Curve)) CheckResult {
		now := checkFixture([]float64{k * 21197, k * 21200, k * 21190}, steadyP99[:3]).curve
		if bend != nil {
			bend(&now)
		}
		return Check(testGate(), now, 8, &base)
	}
	if r := check(1, nil); r.Drift == nil || r.Drift.Alarm || r.Drift.Baseline != "the baseline" || r.Drift.Runs != 3 || r.Drift.BaselineRuns != 5 || r.Verdict != Pass {
		t.Errorf("healthy: %s %+v", r.Verdict, r.Drift)
	}
	r := check(0.85, nil)
	if r.Drift == nil || !r.Drift.Throughput.Alarm || r.Drift.TTFTP99.Alarm || r.Effective.Pass != true || !strings.Contains(strings.Join(r.Reasons, "\n"), "ALARM, drift") {
		t.Errorf("15 %% slower: %s %+v %q", r.Verdict, r.Drift, r.Reasons)
	}
	if r := check(0.95, nil); r.Drift.Alarm {
		t.Errorf("5 %% slower on what may be another deployment: %+v", r.Drift)
	}
	base.Fingerprint.Deployment = "d"
	if r := check(0.95, func(c *sweep.Curve) { c.Fingerprint.Deployment = "d" }); !r.Drift.Alarm || !r.Effective.Pass {
		t.Errorf("5 %% slower on the same deployment: %s %+v", r.Verdict, r.Drift)
	}
	if r := check(0.5, func(c *sweep.Curve) { c.Fingerprint.Workload.Seed = 1 }); r.Drift != nil {
		t.Errorf("a stale baseline: %+v", r.Drift)
	}
	base.Runs = base.Runs[:8]
	if r := check(1, nil); r.Drift != nil {
		t.Errorf("four runs of the baseline: %+v", r.Drift)
	}
}

// Without a journal the runs that the sidecar keeps are the baseline, to the same
// numbers; against something else there is no drift, whatever it reads.
func TestCheckDriftFromTheSidecar(t *testing.T) {
	side, _ := proved(newFixture())
	journal := newFixture().curve
	check := func(k float64, p *Provenance, base *sweep.Curve, bend func(*sweep.Curve)) CheckResult {
		now := checkFixture([]float64{k * 21197, k * 21200, k * 21190}, steadyP99[:3]).curve
		if bend != nil {
			bend(&now)
		}
		return Check(side.Gate, now, 8, base).WithSidecar("o.provenance.json", p, OverlayState{Bytes: []byte("new"), Gate: side.Gate}, now)
	}
	for _, k := range []float64{1, 0.95, 0.85} {
		own, other := check(k, &side, nil, nil), check(k, nil, &journal, nil)
		if own.Drift == nil || own.Drift.Baseline != "o.provenance.json" || own.Verdict != Pass ||
			own.Drift.Throughput != other.Drift.Throughput || own.Drift.TTFTP99 != other.Drift.TTFTP99 || own.Drift.Alarm != (k == 0.85) {
			t.Errorf("x%.2f: %+v, with the journal %+v", k, own.Drift, other.Drift)
		}
		if all := strings.Join(own.Reasons, "\n"); !strings.Contains(all, "drift against 5 runs of o.provenance.json: ") {
			t.Errorf("x%.2f: %s", k, all)
		}
		if both := check(k, &side, &journal, nil); both.Drift.Baseline != "the baseline" {
			t.Errorf("a journal that was given was not used: %+v", both.Drift)
		}
	}
	if r := check(0.5, &side, nil, func(c *sweep.Curve) { c.Fingerprint.Workload.Seed = 1 }); r.Drift != nil || r.Verdict != Inconclusive || !strings.HasPrefix(r.Reasons[0], "stale, re-baseline") {
		t.Errorf("something else: %s %+v %q", r.Verdict, r.Drift, r.Reasons)
	}
	if r := check(1, nil, nil, nil); r.Drift != nil {
		t.Errorf("no baseline at all: %+v", r.Drift)
	}
	// The same deployment on both sides leaves out the spread between deployments.
	one := side
	one.Fingerprint.Deployment = "d"
	if r := check(0.95, &one, nil, func(c *sweep.Curve) { c.Fingerprint.Deployment = "d" }); !r.Drift.Alarm {
		t.Errorf("5 %% slower on the same deployment: %+v", r.Drift)
	}
	few := side
	few.Gate.ConcurrencyPerGPU = 64
	if r := check(1, &few, nil, nil); r.Drift != nil {
		t.Errorf("runs at another point: %+v", r.Drift)
	}
}
