package sweep

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

func TestPulseLevel(t *testing.T) {
	all := []int{8, 16, 32, 48, 64, 96, 128, 192, 256}
	same := func(int, *loadgen.Estimate) {}
	at := func(n int, change func(*loadgen.Estimate)) func(int, *loadgen.Estimate) {
		return func(m int, e *loadgen.Estimate) {
			if m == n {
				change(e)
			}
		}
	}
	fit := knee.Fit{Status: knee.Knee, Knee: 200, Noise: 0.03, NoiseDF: 12}
	for _, c := range []struct {
		name   string
		fit    knee.Fit
		basis  string
		change func(int, *loadgen.Estimate)
		want   int
	}{
		{"the last level below the knee", fit, "knee", same, 192},
		{"a knee a little below a level", knee.Fit{Status: knee.Knee, Knee: 189}, "knee", same, 192},
		{"a knee further below a level", knee.Fit{Status: knee.Knee, Knee: 188}, "knee", same, 128},
		{"a latency edge", knee.Fit{Status: knee.LatencyLimited, Knee: 200, LatencyEdge: 128}, "latency_limited", same, 128},
		{"too late there", fit, "knee", at(192, func(e *loadgen.Estimate) { e.TTFTP99MS = 2001 }), 128},
		{"no TTFT there", fit, "knee", at(192, func(e *loadgen.Estimate) { e.TTFTP99MS = 0 }), 128},
		{"fewer tokens there", fit, "knee", at(192, func(e *loadgen.Estimate) { e.OutputTokPerSec = 4000 }), 128},
		{"a knee below the point", knee.Fit{Status: knee.Knee, Knee: 40}, "knee", same, 64},
		{"still rising", knee.Fit{Status: knee.NotSaturated}, "lower_bound", same, 256},
		{"proved", fit, "proved", same, 64},
		{"no knee", knee.Fit{Status: knee.Ambiguous}, "", same, 64},
	} {
		if got := pulseLevel(DefaultPlan(Standard), c.fit, c.basis, viewOf(pairs(all, c.change)), 64); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// A calibration keeps three runs at the pulse level, which bear on nothing
// else, and a check takes its pulse there.
func TestPulseOfACampaign(t *testing.T) {
	levels := map[bool]int{}
	for seed := range uint64(6) {
		w := newWorld(kneetest.GB300(210), 0.03, seed)
		if seed%2 == 1 {
			w.curve = kneetest.New(kneetest.BatchCap, rand.New(rand.NewPCG(seed, 9)))
		}
		runs, d := w.play(t, confirmPlan())
		c := Curve{Fingerprint: Fingerprint{GPUs: 1}, Plan: confirmPlan(), Runs: runs}
		b, why := c.PulseBase(c.Fit(), d.Point.ConcurrencyPerGPU)
		if !d.Point.Healthy || why != "" || len(b.Runs) < PulseBaseRuns || float64(b.ConcurrencyPerGPU) > kneePrecision*c.Fit().Knee {
			t.Errorf("seed %d: %+v, %d runs at %d per GPU, knee %.1f: %s", seed, d.Point, len(b.Runs), b.ConcurrencyPerGPU, c.Fit().Knee, why)
			continue
		}
		levels[b.ConcurrencyPerGPU > d.Point.ConcurrencyPerGPU]++
		for len(runs) > 0 && runs[len(runs)-1].Step.Purpose == Pulse { // they come last
			runs = runs[:len(runs)-1]
		}
		before := Curve{Fingerprint: c.Fingerprint, Plan: c.Plan, Runs: runs}
		if ChoosePoint(before.Plan, before.Fit(), runs) != ChoosePoint(c.Plan, c.Fit(), c.Runs) || before.Fit().Knee != c.Fit().Knee {
			t.Errorf("seed %d: the pulse's runs moved the knee or the point", seed)
		}

		p := DefaultPlan(Standard)
		p.Check, p.Point, p.PulseAt, p.PulseRuns = true, d.Point.ConcurrencyPerGPU, b.ConcurrencyPerGPU, 2
		checked, last := newWorld(w.curve, 0.03, seed+100).play(t, p)
		pulses := 0
		for _, r := range checked {
			if r.Step.Purpose == Pulse {
				pulses++
			}
		}
		want := 2
		if p.PulseAt == p.Point { // the attempts' own steady runs are the pulse
			want = 0
		}
		if !last.Point.Healthy || pulses != want {
			t.Errorf("seed %d: %d pulses at %d beside a point of %d: %+v", seed, pulses, p.PulseAt, p.Point, last)
		}
	}
	if levels[true] == 0 {
		t.Error("the pulse was never taken above the operating point")
	}
}

// An endpoint that gives no valid pulse run leaves a calibration as it is and
// a check without an answer.
func TestPulseInvalid(t *testing.T) {
	w := newWorld(kneetest.GB300(210), 0.03, 1)
	w.judge = func(r *Run) {
		if r.Step.Purpose == Pulse {
			r.Violations = []Violation{{Gate: "V2"}}
		}
	}
	runs, d := w.play(t, confirmPlan())
	if last := runs[len(runs)-3:]; !d.Point.Healthy || last[0].Step.Purpose != Pulse || last[2].Step.Purpose != Pulse {
		t.Errorf("%+v after %+v", d.Point, last[2].Step)
	}
	p := DefaultPlan(Standard)
	p.Check, p.Point, p.PulseAt, p.PulseRuns = true, 128, 192, 1
	if _, d := w.play(t, p); d.Point.Healthy || !strings.Contains(d.Reason, "the capacity pulse at 192 per GPU gave no valid run") {
		t.Errorf("%+v", d)
	}
	p.MaxRuns = 1
	if _, d := w.play(t, p); d.Point.Healthy {
		t.Errorf("no runs left: %+v", d)
	}
}

func TestPulsePlans(t *testing.T) {
	check := DefaultPlan(Quick)
	check.Check, check.Point = true, 64
	pulsed := check
	pulsed.PulseAt, pulsed.PulseRuns = 96, 1
	if err := pulsed.Validate(); err != nil || pulsed.Peak() != 96 {
		t.Errorf("%v, peak %d", err, pulsed.Peak())
	}
	if diff := check.Diff(pulsed); len(diff) > 0 {
		t.Errorf("a pulse cannot be added to a check: %q", diff)
	}
	other := pulsed
	other.PulseAt = 128
	if diff := pulsed.Diff(other); len(diff) != 1 {
		t.Errorf("another pulse level: %q", diff)
	}
	for name, bend := range map[string]func(*Plan){
		"no runs":         func(p *Plan) { p.PulseRuns = 0 },
		"no level":        func(p *Plan) { p.PulseAt = 0 },
		"too many runs":   func(p *Plan) { p.PulseRuns = 21 },
		"too large":       func(p *Plan) { p.PulseAt = 5000 },
		"not of a check":  func(p *Plan) { p.Check = false },
		"a negative part": func(p *Plan) { p.PulseAt, p.PulseRuns = -1, -1 },
	} {
		p := pulsed
		bend(&p)
		if p.Validate() == nil {
			t.Errorf("%s: %+v is accepted", name, p)
		}
	}
	if _, why := (Curve{Plan: check}).PulseBase(knee.Fit{}, 64); !strings.Contains(why, "not of a calibration") {
		t.Errorf("a check as the baseline: %q", why)
	}
}
