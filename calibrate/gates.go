package calibrate

import (
	"fmt"
	"strings"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
)

// Thresholds of the C gates.
const (
	minFall       = 0.03 // a step down that C4 always allows
	fallFactor    = 2.5  // standard errors of a step that C4 allows
	offCurve      = 0.15 // distance from the fitted curve that C4 allows
	tailPerOctave = 3.0  // growth of TTFT p99 an octave that C5 allows
	maxSW         = 0.08 // within-deployment sd that C8 allows
)

// checkAll judges C1 to C11 in order.
func (e *evidence) checkAll() []GateResult {
	return []GateResult{
		e.c1(), e.c2(), e.c3(), e.c4(), e.c5(), e.c6(), e.c7(),
		e.c8(), e.c9(), e.c10(), e.c11(),
	}
}

func state(ok bool) GateState {
	if ok {
		return Met
	}
	return Unmet
}

// NoGateRun is what a gate on gate runs has observed before there is one: it is
// unmet, and nothing is known against the environment.
const NoGateRun = "not judged: no gate run yet"

// noGateRun is a gate before the first gate run.
func noGateRun(g GateResult) GateResult {
	g.Observed, g.Remedy, g.noData = NoGateRun, "no point was confirmed: the reasons say why", true
	return g
}

// result drops the remedy of a gate that needs none.
func result(g GateResult) GateResult {
	if g.State == Met {
		g.Remedy = ""
	}
	return g
}

func (e *evidence) c1() GateResult {
	g := GateResult{ID: "C1", Name: "gate-run throughput is of one cluster", State: Unmet,
		Remedy: "the environment is not steady: look for stalled workers, then calibrate again"}
	x := e.attempts.in(1).throughputs()
	gap, threshold, split := splitGap(x, e.noise())
	g.Threshold = fmt.Sprintf("no gap above %s between neighbouring runs", percentGap(threshold))
	if e.attempts.total == 0 {
		return noGateRun(g)
	}
	if len(x) < 2 {
		g.Observed, g.noData = plural.Of(len(x), "valid gate run"), true
		return g
	}
	g.Observed = fmt.Sprintf("largest gap %s over %s, max/min %.3f", percentGap(gap), plural.Of(len(x), "run"), ratio(x))
	g.State = state(!split)
	return result(g)
}

func (e *evidence) c2() GateResult {
	g := GateResult{ID: "C2", Name: "gate-run TTFT p99 is of one cluster", State: Unmet,
		Threshold: fmt.Sprintf("no gap above x%.0f, and max/min at most %d unless TTFT p50 (within x%d) and throughput (C1) stay together", exact.Exp(ttftGap), tailRatio, tailRatio),
		Remedy:    "a worker backs up in some runs, or the point lies too near the knee: calibrate again, or prove a lower concurrency"}
	first := e.attempts.in(1)
	p99 := first.p99s()
	switch {
	case e.attempts.total == 0:
		return noGateRun(g)
	case len(p99) < 2:
		g.Observed, g.noData = plural.Of(len(p99), "valid gate run"), true
		return g
	case e.attempts.shortP99 > 0:
		g.Observed, g.noData = fmt.Sprintf("%s ended on time with fewer than %d requests", plural.Of(e.attempts.shortP99, "gate run"), sweep.P99Requests), true
		g.Remedy = "the protocol's requests do not fit the time limit; the deployment is too slow for this gate"
		return g
	}
	_, _, split := splitGap(first.throughputs(), e.noise())
	p50 := first.p50s()
	g.Observed = fmt.Sprintf("largest gap x%.2f, max/min %.2f, TTFT p50 max/min %.2f", exact.Exp(knee.MaxGap(p99)), ratio(p99), ratio(p50))
	g.State = state(!tailApart(p99, p50, split))
	return result(g)
}

func (e *evidence) c3() GateResult {
	g := GateResult{ID: "C3", Name: "no flagged level up to the operating point", State: Unmet, Threshold: "0 flagged levels",
		Remedy: "the environment stalled during the sweep: find out why, then sweep again"}
	levels := e.below()
	if len(levels) == 0 {
		g.Observed, g.noData = "no measured level up to the operating point", true
		return g
	}
	var flagged []string
	for _, l := range levels {
		if len(l.Flags) > 0 {
			flagged = append(flagged, fmt.Sprintf("%d per GPU (%s)", l.ConcurrencyPerGPU, strings.Join(l.Flags, ", ")))
		}
	}
	g.State = state(len(flagged) == 0)
	g.Observed = "0 of " + plural.Of(len(levels), "level")
	if len(flagged) > 0 {
		g.Observed = strings.Join(flagged, "; ")
	}
	// Floor and ceiling do not rest on the pulse runs, but no check could ever see
	// a lost worker by this journal, and the environment is one that stalls. Those
	// at the point itself are judged by C1 and C4.
	if b, why := e.curve.PulseBase(e.fit, e.op()); why == "" && b.ConcurrencyPerGPU != e.op() {
		if apart := pulseApart(b, e.noise()); apart != "" {
			g.State = Unmet
			g.Observed += "; " + apart
		}
	}
	return result(g)
}

// below returns the levels up to the operating point.
func (e *evidence) below() []knee.Level {
	var out []knee.Level
	for _, l := range e.fit.Levels {
		if l.ConcurrencyPerGPU <= e.op() {
			out = append(out, l)
		}
	}
	return out
}
