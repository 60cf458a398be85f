package sweep

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/knee"
)

// OperatingPoint is the answer of rules O-1 to O-4.
type OperatingPoint struct {
	ConcurrencyPerGPU int `json:"concurrency_per_gpu,omitempty"`
	// Basis is "knee", "latency_limited", "proved", "lower_bound" or "".
	Basis string `json:"basis,omitempty"`
	// Bound names the active bound: "0.8_knee", "0.8_top_level" (still rising
	// there), "sqrt2_knee_low", "latency_edge", "slo", "next_level_unhealthy",
	// "objective" (Plan.Objective), "confirmed" (never up again after a
	// confirmation), or "given" (a point that was proved). BoundReason says what
	// was wrong with the levels above, for the two bounds that step down.
	Bound       string `json:"bound,omitempty"`
	BoundReason string `json:"bound_reason,omitempty"`
	// Next is the ladder value above; Measure is set when it, or the point
	// itself, must be measured before the point may be used.
	Next    int  `json:"next,omitempty"`
	Measure bool `json:"-"`
	// Healthy reports whether the point is proved usable; Reason says why not.
	Healthy bool   `json:"healthy"`
	Reason  string `json:"reason,omitempty"`
}

// margin is η of O-1: the smallest margin that kept a quarter of headroom
// below the edge in nine of ten simulated sweeps (knee.md §7).
const margin = 0.8

// ChoosePoint applies O-1 to O-4 to a fit.
func ChoosePoint(p Plan, fit knee.Fit, runs []Run) OperatingPoint {
	runs = inWindow(runs, 1)
	v := viewOf(runs)
	switch {
	case p.Check:
		return OperatingPoint{ConcurrencyPerGPU: p.Point, Next: LadderNext(p.Point), Healthy: true}
	case p.Point > 0:
		op, need := provePoint(p, fit, v)
		op.Measure = need != 0
		return op
	}
	limit := 0
	for _, r := range runs {
		if n := r.Step.ConcurrencyPerGPU; r.Step.Purpose == Confirm && (limit == 0 || n < limit) {
			limit = n
		}
	}
	op, need := choosePoint(p, fit, v, limit)
	op.Measure = need != 0
	return op
}

// choosePoint is O-1 to O-3. The TTFT p99 that it holds against the SLO is used
// however few requests it is of: a rough one refuses too much rather than too
// little, and a missing one never passes. need is a level that must be measured first, 0 if
// none; limit, if not 0, is a concurrency that the point may not exceed.
func choosePoint(p Plan, fit knee.Fit, v *view, limit int) (op OperatingPoint, need int) {
	op = startPoint(fit, v)
	n := op.ConcurrencyPerGPU
	if n == 0 {
		return op, 0
	}
	most, why, unknown := objectiveBound(p, v)
	if why != "" {
		return OperatingPoint{Reason: why}, 0
	}
	if float64(n) > most {
		n, op.Bound = LadderFloor(most), boundObjective
	}
	if limit > 0 && n > limit {
		n, op.Bound = limit, boundConfirmed
	}
	for ; n > 0; n = ladderPrev(n) {
		op.ConcurrencyPerGPU, op.Next = n, LadderNext(n)
		switch q := op.Next; {
		case v.unmeasurable(n):
			op.Bound, op.BoundReason = boundNext, fmt.Sprintf("%d per GPU gave no valid run", n)
		case !v.has(n):
			op.Reason = fmt.Sprintf("%d per GPU was not measured", n)
			return op, n
		case !(v.ttft99(n) > 0 && v.ttft99(n) <= p.SLOMaxTTFTMS):
			op.Bound, op.BoundReason = boundSLO, sloReason(n, v.ttft99(n), p.SLOMaxTTFTMS)
		case !v.has(q) && !v.unmeasurable(q) && q > 0 && q <= p.MaxConcurrencyPerGPU:
			op.Reason = fmt.Sprintf("%d per GPU, the next level above, was not measured", q)
			return op, q
		default:
			bad := unhealthyNext(p, fit, v, n, q)
			if bad == "" {
				op.Healthy, op.Reason = splitBelow(fit, v, n)
				if unknown != "" {
					op.Healthy, op.Reason = false, unknown
				}
				return op, 0
			}
			op.Bound, op.BoundReason = boundNext, bad
		}
	}
	return OperatingPoint{Reason: "no concurrency is healthy: " + op.BoundReason}, 0
}

// startPoint is O-1: the margin below the knee, its bounds, and the name of
// the one that was active.
func startPoint(fit knee.Fit, v *view) OperatingPoint {
	var op OperatingPoint
	switch fit.Status {
	case knee.Knee, knee.LatencyLimited:
		op.Basis, op.Bound = string(fit.Status), boundMargin
		op.ConcurrencyPerGPU = LadderFloor(margin * fit.Knee)
		if low := LadderFloor(math.Sqrt2 * fit.KneeLow); fit.KneeLow > 0 && low < op.ConcurrencyPerGPU {
			op.ConcurrencyPerGPU, op.Bound = low, boundInterval
		}
	case knee.NotSaturated:
		levels := v.levels()
		if len(levels) == 0 {
			return OperatingPoint{Reason: "no level was measured"}
		}
		if n := clientBound(v, levels[len(levels)-1]); n > 0 {
			return OperatingPoint{Reason: fmt.Sprintf("client-bound: at %d per GPU this tool, not the server, was the limit (%s); measure from a larger or less busy machine", n, gatesOf(v.invalid[n]))}
		}
		op.Basis, op.Bound = "lower_bound", boundTop
		op.ConcurrencyPerGPU = LadderFloor(margin * float64(levels[len(levels)-1]))
	default:
		return OperatingPoint{Reason: statusReason(fit.Status)}
	}
	if edge := fit.LatencyEdge; edge > 0 && op.ConcurrencyPerGPU > edge {
		op.ConcurrencyPerGPU, op.Bound = LadderFloor(float64(edge)), boundEdge
	}
	if op.ConcurrencyPerGPU == 0 {
		return OperatingPoint{Reason: fmt.Sprintf("0.8 × the knee (%.2g per GPU) is below one request per GPU", fit.Knee)}
	}
	return op
}

// clientBound is a level above top that gave no valid run for this tool's own
// faults alone (a server that fails requests upsets Little's law as well), 0 if
// there is none. A curve that ends there says nothing of what the server could
// do, and its last level is no lower bound worth writing.
func clientBound(v *view, top int) int {
	for _, n := range slices.Sorted(maps.Keys(v.invalid)) {
		if n <= top || v.has(n) {
			continue
		}
		own := true
		for _, r := range v.invalid[n] {
			own = own && !slices.ContainsFunc(r.Violations, func(x Violation) bool { return x.Gate != "V3" && x.Gate != "V8" })
		}
		if own {
			return n
		}
	}
	return 0
}

func statusReason(s knee.Status) string {
	switch s {
	case knee.Ambiguous:
		return "the knee is ambiguous: the model and the measured levels disagree"
	case knee.SaturatedAtMin:
		return "throughput does not rise from the lowest level on: there is no knee to stay below"
	case knee.Insufficient:
		return "too few levels for a knee: at least 4 valid ones are needed"
	}
	return fmt.Sprintf("the fit has no usable knee (%s)", s)
}

func sloReason(n int, ttftMS, sloMS float64) string {
	if ttftMS <= 0 {
		return fmt.Sprintf("TTFT p99 was not measured at %d per GPU", n)
	}
	return fmt.Sprintf("TTFT p99 at %d per GPU is %.0f ms, above %.0f ms", n, ttftMS, sloMS)
}

// unhealthyNext is O-2: why the level q above n is not healthy, "" if it is.
// Its TTFT spread is not looked at: two TTFT p99 at the knee differ threefold
// in one of a hundred healthy pairs (§18.2).
func unhealthyNext(p Plan, fit knee.Fit, v *view, n, q int) string {
	switch {
	case v.unmeasurable(q):
		return noValidRun(v, q)
	case !v.has(q):
		return fmt.Sprintf("nothing above %d per GPU may be measured", n)
	case v.split(q, fit):
		return fmt.Sprintf("throughput at %d per GPU is not of one piece", q)
	case !(v.ttft99(q) > 0 && v.ttft99(q) <= p.SLOMaxTTFTMS):
		return sloReason(q, v.ttft99(q), p.SLOMaxTTFTMS)
	}
	if drop := exact.Log(v.x(n) / v.x(q)); !(drop <= v.medianTolerance(n, q, fit.Noise)) {
		return fmt.Sprintf("throughput falls from %d to %d per GPU by %.1f %%", n, q, 100*(1-exact.Exp(-drop)))
	}
	return ""
}

// splitBelow: an environment that stalled at or below the point is no place to
// confirm it (C3 would refuse), whatever the point itself looks like.
func splitBelow(fit knee.Fit, v *view, n int) (healthy bool, reason string) {
	for _, q := range v.levels() {
		if q <= n && v.split(q, fit) {
			return false, fmt.Sprintf("unstable: throughput at %d per GPU is not of one piece", q)
		}
	}
	return true, ""
}
