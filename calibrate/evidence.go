package calibrate

import (
	"slices"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
)

// evidence is everything that the gates judge, computed once.
type evidence struct {
	curve sweep.Curve
	fit   knee.Fit
	// at is the throughput per GPU at a concurrency per GPU.
	at       func(n float64) (x float64, ok bool)
	point    sweep.OperatingPoint
	policy   Policy
	form     Form
	attempts attempts
	limits   Limits
	// limitsErr says why there are no limits.
	limitsErr error
	ceilingMS float64
	anchor    AnchorResult
	// equivalent is how the deployment relates to the evaluator's.
	equivalent Equivalence
	// valid is the range of GPUs that the floor holds for.
	valid Validity
	// bridge is how AIPerf reads the same, nil where that was not measured.
	bridge *Bridge
}

// op is the operating point, concurrency per GPU.
func (e *evidence) op() int { return e.point.ConcurrencyPerGPU }

func (e *evidence) noise() noise { return noise{e.fit.Noise, e.fit.NoiseDF} }

// gather computes the evidence of a curve for a fit and a point.
func gather(c sweep.Curve, fit knee.Fit, pt sweep.OperatingPoint, p Policy) *evidence {
	e := &evidence{curve: c, fit: fit, point: pt, policy: p, at: curveOf(fit)}
	if p.SLOMaxTTFTMS <= 0 {
		e.policy.SLOMaxTTFTMS = defaultSLOMaxTTFTMS
		if c.Plan.SLOMaxTTFTMS > 0 {
			e.policy.SLOMaxTTFTMS = c.Plan.SLOMaxTTFTMS
		}
	}
	if e.policy.Profile == "" {
		e.policy.Profile = Portable
	}
	if pt.ConcurrencyPerGPU > 0 {
		e.attempts = gateAttempts(c, pt.ConcurrencyPerGPU, e.policy)
	}
	e.limits, e.limitsErr = FloorLimits(e.attempts.byDeployment())
	e.bridge = BridgeOf(bridgePairs(c, p), pt.ConcurrencyPerGPU)
	if e.attempts.shortP99 == 0 {
		e.ceilingMS = ceiling(e.attempts.p99s(), e.bridge)
	}
	e.anchor, e.equivalent, e.valid = e.findAnchor(), e.equivalence(), e.validity()
	return e
}

// valley reports whether the estimator dropped the level.
func valley(l knee.Level) bool { return slices.Contains(l.Flags, "valley") }

// curveOf is the fitted curve where there is one, else straight lines between
// the measured levels in log-log. Beyond the last level the last slope goes
// on, which flatters a deployment that lost capacity, never the gate.
func curveOf(fit knee.Fit) func(n float64) (float64, bool) {
	if _, ok := fit.TokPerSecPerGPU(1); ok {
		return func(n float64) (float64, bool) {
			x, ok := fit.TokPerSecPerGPU(n)
			return x, ok && positive(x)
		}
	}
	var ns, xs []float64
	for _, l := range fit.Levels {
		if l.ConcurrencyPerGPU > 0 && positive(l.TokPerSecPerGPU) && !valley(l) {
			ns, xs = append(ns, exact.Log(float64(l.ConcurrencyPerGPU))), append(xs, exact.Log(l.TokPerSecPerGPU))
		}
	}
	return func(n float64) (float64, bool) {
		if len(ns) < 2 || !positive(n) {
			return 0, false
		}
		i := 1
		for i < len(ns)-1 && ns[i] < exact.Log(n) {
			i++
		}
		slope := (xs[i] - xs[i-1]) / (ns[i] - ns[i-1])
		x := exact.Exp(xs[i] + float64(slope*(exact.Log(n)-ns[i])))
		return x, positive(x)
	}
}
