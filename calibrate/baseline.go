package calibrate

import (
	"fmt"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
)

// baseline is what a check knows of its calibration, computed once.
type baseline struct {
	curve  sweep.Curve
	fit    knee.Fit
	limits Limits // zero where the point was not confirmed
	spread float64
	pulse  sweep.PulseBase
	why    string // why there is no pulse
	// void says that the calibration has more to measure, or is none that a pulse
	// can be held against: a check with it has no answer.
	void bool
}

// newBaseline reads a calibration for a gate at n per GPU; nil stays nil.
func newBaseline(c *sweep.Curve, n int) *baseline {
	if c == nil {
		return nil
	}
	b := &baseline{curve: *c, fit: c.Fit()}
	if l, err := FloorLimits(attemptsAt(*c, n, sweep.Confirm).byDeployment()); err == nil {
		b.limits = l
	}
	b.spread = baseSpread(b.fit, b.limits)
	b.pulse, b.why = c.PulseBase(b.fit, n)
	if why := b.doubt(); why != "" {
		b.why, b.void = why, true
	}
	return b
}

// doubt says why a calibration is none that a pulse can be held against, "" if
// nothing speaks against it.
func (b *baseline) doubt() string {
	if b.curve.Plan.Check {
		return ""
	}
	// The knee, and with it the pulse level, may move until the first window,
	// of which the pulse is, is finished.
	p := b.curve.Plan
	p.Window = 0
	if d := sweep.NextStep(p, b.curve.Runs); !d.Done {
		return fmt.Sprintf("the baseline is not finished (next is a %s run at %d per GPU), so that its pulse level is not known: continue its journal, or name a finished one",
			d.Step.Kind, d.Step.ConcurrencyPerGPU)
	}
	if why := pulseApart(b.pulse, noise{b.fit.Noise, b.fit.NoiseDF}); why != "" {
		return "of the baseline, " + why + "; " + pulseRemedy
	}
	if len(b.pulse.Runs) == 1 {
		return fmt.Sprintf("the baseline has one valid steady run at %d per GPU, which no other one bears out; %s", b.pulse.ConcurrencyPerGPU, pulseRemedy)
	}
	return b.curveDoubt()
}

// curveDoubt names the first curve gate (C1 to C5) that a calibration fails when
// it is read again, at its own point: what no gate would be written from, nothing
// is held against either. A gate that lacks data speaks against nothing.
func (b *baseline) curveDoubt() string {
	e := gather(b.curve, b.fit, sweep.ChoosePoint(b.curve.Plan, b.fit, b.curve.Runs), Policy{})
	if e.op() <= 0 {
		return ""
	}
	for _, g := range []GateResult{e.c1(), e.c2(), e.c3(), e.c4(), e.c5()} {
		if g.State == Unmet && !g.noData {
			return fmt.Sprintf("the baseline fails a gate that its calibration must meet, %s %s: %s (wanted: %s); %s", g.ID, g.Name, g.Observed, g.Threshold, pulseRemedy)
		}
	}
	return ""
}

const pulseRemedy = "calibrate again in a new journal, and check with that one"

// pulseApart says where the runs that a pulse is held against are of two kinds,
// by the rules of C1 and C2: their mean is then of neither, and one disturbed run
// of three at half speed would let a deployment pass at x0.72. Which of them are
// the healthy ones a pulse cannot know, so that none are left out.
func pulseApart(b sweep.PulseBase, n noise) string {
	var x, p50 []float64
	for _, r := range b.Runs {
		x, p50 = append(x, r.Result.Window.OutputTokPerSec), append(p50, r.Result.Window.TTFTP50MS)
	}
	at := fmt.Sprintf("the %s at %d per GPU, where the capacity pulse of checks is taken, contradict each other", plural.Of(len(x), "steady run"), b.ConcurrencyPerGPU)
	if gap, allowed, split := splitGap(x, n); len(x) > 1 && split {
		return fmt.Sprintf("%s: a gap of %s in throughput, noise explains %s", at, percentGap(gap), percentGap(allowed))
	}
	if gap := knee.MaxGap(p50); gap > ttftGap {
		return fmt.Sprintf("%s: a gap of x%.2f in TTFT p50", at, exact.Exp(gap))
	}
	return ""
}
