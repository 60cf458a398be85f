package calibrate

import (
	"math"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// bendKind multiplies what runs of a kind read, in all or in one estimator.
func bendKind(k loadgen.RunKind, window, whole float64) func(*fixture) {
	return func(f *fixture) {
		for i := range f.curve.Runs {
			if r := &f.curve.Runs[i].Result; r.Kind == k {
				r.Window.OutputTokPerSec *= window
				r.WholeRun.OutputTokPerSec *= whole
			}
		}
	}
}

// burst is a gate run whose window is a share of it.
func burst(share, whole float64) func(*fixture) {
	return func(f *fixture) {
		bendKind(loadgen.Gate, 1, whole)(f)
		for i := range f.curve.Runs {
			f.curve.Runs[i].Result.Window.Seconds *= share
		}
	}
}

// Kinds of run that contradict each other fail C4 and nothing else, make a check
// inconclusive, and are no anchor; just inside the bound nothing fires.
func TestKindsApart(t *testing.T) {
	for name, c := range map[string]struct {
		bend  func(*fixture)
		apart bool
	}{
		"steady runs 16 % lower":            {bendKind(loadgen.Steady, 0.849, 0.849), true},
		"steady runs 14.9 % lower":          {bendKind(loadgen.Steady, 0.851, 0.851), false},
		"steady runs 17.8 % higher":         {bendKind(loadgen.Steady, 1.178, 1.178), true},
		"steady runs 17.4 % higher":         {bendKind(loadgen.Steady, 1.174, 1.174), false},
		"gate runs three times as high":     {bendKind(loadgen.Gate, 3, 3), true},
		"gate runs at 30 %":                 {bendKind(loadgen.Gate, 0.3, 0.3), true},
		"only their whole is 17.8 % higher": {bendKind(loadgen.Gate, 1, 1.178), true},
		"only their whole is 17.4 % higher": {bendKind(loadgen.Gate, 1, 1.174), false},
		"only their whole is 15.1 % lower":  {bendKind(loadgen.Gate, 1, 0.849), true},
		"start and drain take a fifth":      {burst(0.8, 0.681), false},
		"less than start and drain take":    {burst(0.8, 0.679), true},
		"noise does not widen it past x0.7": {func(f *fixture) {
			bendKind(loadgen.Steady, 0.5, 0.5)(f)
			f.curve.Runs[1].Result.Window.OutputTokPerSec *= 2
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture().simulated()
			c.bend(f)
			a := attemptsAt(f.curve, 128, sweep.Confirm)
			k, ok := a.kinds()
			if !ok || k.apart() != c.apart {
				t.Fatalf("%+v %v", k, ok)
			}
			f.attempts(sweep.Confirm, 128, healthyX(), healthyP99())
			c.bend(f)
			p := f.propose()
			g := gate(p, "C4")
			if want := !c.apart; p.Writable != want || (g.State == Met) != want || c.apart && (len(unmetOf(p.Gates)) != 1 || p.Outcome != OutcomeDegraded || g.Remedy != kindsRemedy || !strings.Contains(g.Observed, "allowed x")) {
				t.Errorf("%s %v: %+v", p.Outcome, unmetOf(p.Gates), g)
			}

			now := newFixture()
			now.attempts(sweep.Check, 128, healthyX()[:3], healthyP99()[:3])
			c.bend(now)
			r := Check(testGate(), now.curve, 8, nil)
			if told := strings.Contains(strings.Join(r.Reasons, "\n"), "of the steady runs after them"); told != c.apart || c.apart && r.Verdict != Inconclusive {
				t.Errorf("check: %s %q", r.Verdict, r.Reasons)
			}

			e := gather(newFixture().curve, newFixture().fit, newFixture().point, Policy{})
			f.curve.Fingerprint = e.curve.Fingerprint
			e.curve.Fingerprint.Labels = map[string]string{"gpu_product": "x", "image": "x", "precision": "x"}
			f.curve.Fingerprint.Labels = e.curve.Fingerprint.Labels
			for i := range f.curve.Runs {
				f.curve.Runs[i].Started = f.curve.Runs[i].Started.AddDate(0, 0, 1)
			}
			anchor := AnchorJournal{Source: Source{Name: "a", SHA256: "1"}, Curve: f.curve}
			if why := e.comparable(anchor); strings.Contains(why, "contradict each other") != c.apart {
				t.Errorf("anchor: %q", why)
			}
		})
	}
}

// A gate run without a window estimate, or a steady run without one, is an
// attempt without a metric.
func TestKindsNeedBothWindows(t *testing.T) {
	for _, i := range []int{0, 1} {
		f := newFixture().simulated()
		f.curve.Runs[i].Result.Window = loadgen.Estimate{}
		if a := attemptsAt(f.curve, 128, sweep.Confirm); len(a.valid) != 4 || a.gates[missingMetric] != 1 {
			t.Errorf("run %d: %d valid, %v", i+1, len(a.valid), a.gates)
		}
	}
}

// The false alarms of the rule on healthy draws, at every number of attempts
// that calibrate and check judge.
func TestKindsFalseAlarms(t *testing.T) {
	const trials = 2000
	for _, sw := range []float64{0.03, 0.04, 0.05} {
		for _, r := range []int{3, 5, 8} {
			alarms := 0
			for trial := range trials {
				d := draw(20260930, trial, sw, 0.03)
				const n = 64
				var a attempts
				for range r {
					x := d.law.Sweep(d.rng, []int{n}, 2, sw, nil)
					a.valid = append(a.valid, reading{kinds: math.Log(x[0].TokPerSecPerGPU / x[1].TokPerSecPerGPU), whole: 1, wholeLeast: 1})
				}
				if k, ok := a.kinds(); !ok || k.apart() {
					alarms++
				}
			}
			t.Logf("s_w %.0f %%, %d attempts: %d false alarms in %d", 100*sw, r, alarms, trials)
			if alarms > trials/1000 {
				t.Errorf("s_w %.0f %%, %d attempts: %d false alarms in %d", 100*sw, r, alarms, trials)
			}
		}
	}
}
