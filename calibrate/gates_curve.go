package calibrate

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/knee"
)

func (e *evidence) c4() GateResult {
	g := GateResult{ID: "C4", Name: "throughput rises up to the operating point", State: Unmet,
		Threshold: fmt.Sprintf("no step falls by more than noise (%.0f %% or more); within %.0f %% of the fitted curve, and gate runs as far from the steady runs after them unless noise is more", 100*minFall, 100*offCurve),
		Remedy:    "the point lies past the knee, or levels were measured in different states: sweep again"}
	op, known := levelAt(e.fit, e.op())
	fitted, ok := e.at(float64(e.op()))
	if !known || !ok || !positive(op.TokPerSecPerGPU) {
		g.Observed, g.noData = "no steady level or no fitted curve at the operating point", true
		return g
	}
	off := op.TokPerSecPerGPU/fitted - 1
	g.Observed = fmt.Sprintf("%+.1f %% off the curve", 100*off)
	g.State = state(math.Abs(off) <= offCurve)
	// A valley is C3's business; here it would only count twice.
	levels := slices.DeleteFunc(e.below(), valley)
	for i := 1; i < len(levels); i++ {
		a, b := levels[i-1], levels[i]
		fall, allowed := exact.Log(a.TokPerSecPerGPU/b.TokPerSecPerGPU), e.allowedFall(a, b)
		if !(fall <= allowed) {
			g.State = Unmet
			g.Observed += fmt.Sprintf("; falls by %.1f %% from %d to %d per GPU (allowed %.1f %%)",
				100*-exact.Expm1(-fall), a.ConcurrencyPerGPU, b.ConcurrencyPerGPU, 100*-exact.Expm1(-allowed))
		}
	}
	if k, ok := e.attempts.kinds(); ok {
		g.Observed += "; " + k.text()
		if k.apart() {
			g.State, g.Remedy = Unmet, kindsRemedy
		}
	}
	return result(g)
}

// allowedFall is the fall of ln X between two levels that noise explains.
func (e *evidence) allowedFall(a, b knee.Level) float64 {
	if a.Kept < 1 || b.Kept < 1 {
		return minFall
	}
	return max(minFall, fallFactor*medianSE*e.fit.Noise*math.Sqrt(1/float64(a.Kept)+1/float64(b.Kept)))
}

func (e *evidence) c5() GateResult {
	g := GateResult{ID: "C5", Name: "TTFT p99 grows slowly up to the operating point", State: Unmet,
		Threshold: fmt.Sprintf("at most x%.0f an octave against the level nearest half the concurrency", tailPerOctave),
		Remedy:    "the point lies past a latency edge: prove a lower concurrency"}
	op, known := levelAt(e.fit, e.op())
	half, found := e.nearestHalf()
	switch {
	case !known || !positive(op.TTFTP99MS):
		g.Observed, g.noData = "no steady TTFT p99 at the operating point", true
		return g
	case !found:
		g.Observed, g.noData = "no measured level below the operating point has a usable TTFT p99", true
		g.Remedy = "measure half the concurrency of the operating point"
		return g
	}
	octaves := max(1, exact.Log2(float64(op.ConcurrencyPerGPU)/float64(half.ConcurrencyPerGPU)))
	allowed := exact.Pow(tailPerOctave, octaves)
	grown := op.TTFTP99MS / half.TTFTP99MS
	g.Observed = fmt.Sprintf("%s ms against %s ms at %d per GPU: x%.2f (allowed x%.2f)", num(op.TTFTP99MS), num(half.TTFTP99MS), half.ConcurrencyPerGPU, grown, allowed)
	g.State = state(grown <= allowed)
	return result(g)
}

// nearestHalf is the measured level below the operating point that is nearest
// to half of it, by ratio.
func (e *evidence) nearestHalf() (best knee.Level, found bool) {
	distance := func(l knee.Level) float64 {
		return math.Abs(exact.Log(2 * float64(l.ConcurrencyPerGPU) / float64(e.op())))
	}
	for _, l := range e.fit.Levels {
		if l.ConcurrencyPerGPU < 1 || l.ConcurrencyPerGPU >= e.op() || !positive(l.TTFTP99MS) {
			continue
		}
		if !found || distance(l) < distance(best) {
			best, found = l, true
		}
	}
	return best, found
}
