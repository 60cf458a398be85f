package sweep

import (
	"fmt"
	"slices"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
)

// PulseBaseRuns is how many runs a calibration keeps of the level at which a
// later check takes its capacity pulse (knee.md §18.2).
const PulseBaseRuns = 3

// kneePrecision is how far a fitted knee may lie below a batch cap that it is
// meant to be. Caps are mostly ladder values, and the level below one has room
// for the load of a lost worker.
const kneePrecision = 1.02

// PulseBase is what a calibration measured where a check takes its pulse: the
// last healthy level at or below the knee. In a closed loop the survivors of a
// lost worker absorb its load, so that little shows at the operating point;
// near the knee there is the least room left for them.
type PulseBase struct {
	ConcurrencyPerGPU int
	// Runs are the valid steady runs there, of the first window.
	Runs []Run
}

// PulseBase finds the pulse level of a calibration whose fit is given and whose
// operating point is n; why says that there is none.
func (c Curve) PulseBase(fit knee.Fit, n int) (b PulseBase, why string) {
	runs := inWindow(c.Runs, 1)
	v, op := viewOf(runs), ChoosePoint(c.Plan, fit, c.Runs)
	switch {
	case c.Plan.Check:
		return b, "the baseline is the journal of a check, not of a calibration"
	case n <= 0 || !v.has(n):
		return b, fmt.Sprintf("the baseline has no valid steady run at %d per GPU", n)
	}
	b.ConcurrencyPerGPU = pulseLevel(c.Plan, fit, op.Basis, v, n)
	for _, r := range runs {
		if r.Step.Kind == loadgen.Steady && r.Step.ConcurrencyPerGPU == b.ConcurrencyPerGPU && r.Valid() && rate(r.Result.Window) > 0 {
			b.Runs = append(b.Runs, r)
		}
	}
	if len(b.Runs) == 0 {
		return PulseBase{}, fmt.Sprintf("the baseline has no valid steady run with a throughput at %d per GPU", n)
	}
	return b, ""
}

// pulseLevel is the largest level from n up to the knee that is healthy as O-2
// has it, n itself where no other one is. Where only a lower bound of the knee
// is known, every measured level lies below it; of a proved point nothing above
// it is known to.
func pulseLevel(p Plan, fit knee.Fit, basis string, v *view, n int) int {
	for _, q := range slices.Backward(v.levels()) {
		var below bool
		switch {
		case q <= n:
			return n
		case basis == "proved":
		case fit.Status == knee.NotSaturated:
			below = true
		case fit.HasKnee():
			below = float64(q) <= kneePrecision*fit.Knee && (fit.LatencyEdge == 0 || q <= fit.LatencyEdge)
		}
		if below && unhealthyNext(p, fit, v, n, q) == "" {
			return q
		}
	}
	return n
}

// keepPulseBase brings the pulse level of a confirmed point to enough runs for
// the checks to come. They bear on nothing else, so that what a calibration
// finds does not depend on them, and neither a budget nor an INVALID run there
// refuses it. false: a run is still to be made.
func (t *tape) keepPulseBase(op OperatingPoint) bool {
	n := pulseLevel(t.plan, t.fit(true), op.Basis, t.view, op.ConcurrencyPerGPU)
	for len(t.view.valid[n])+t.pulses < PulseBaseRuns {
		why := fmt.Sprintf("for the capacity pulse of later checks, %d runs at the last healthy level below the knee", PulseBaseRuns)
		if got, _ := t.run(n, Pulse, why); !got {
			break
		}
	}
	return t.pending == nil
}

// pulse takes the capacity pulse of a check. At the operating point itself the
// steady runs of the attempts are the pulse.
func (t *tape) pulse() (why string, ok bool) {
	n := t.plan.PulseAt
	if n == 0 || n == t.plan.Point {
		return "", true
	}
	for range t.plan.PulseRuns {
		got, ok := t.run(n, Pulse, "capacity pulse: near the knee lost workers show that the closed loop hides below it")
		if !ok {
			return t.spent, false
		}
		if !got {
			return fmt.Sprintf("the capacity pulse at %d per GPU gave no valid run", n), false
		}
	}
	return "", true
}

// mostPulses bounds the pulse runs still to come. Those of a calibration are
// made at the point or above it, where enough runs may be missing.
func (t *tape) mostPulses() int {
	p, missing := t.plan, 0
	switch {
	case p.Check && p.PulseAt != p.Point:
		missing = p.PulseRuns - t.pulses
	case p.Confirm && p.Point == 0 && p.Window <= 1:
		for _, n := range t.view.levels() {
			if n > t.pending.ConcurrencyPerGPU || t.pending.Purpose == Pulse && n == t.pending.ConcurrencyPerGPU {
				missing = max(missing, PulseBaseRuns-t.pulses-len(t.view.valid[n]))
			}
		}
	}
	most := max(missing, 0) * (1 + extraRuns)
	if t.pending.Purpose == Pulse {
		most -= extraRuns - t.again
	}
	return most
}
