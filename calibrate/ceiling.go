package calibrate

import (
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

const (
	ttftFloorSD     = 0.10 // a TTFT p99 spread below this is luck
	ceilingMultiple = 2.0  // of the median TTFT p99
	// defaultSLOMaxTTFTMS bounds what a ceiling may allow where the policy does
	// not say.
	defaultSLOMaxTTFTMS = 2000
	// separation is the share of an unhealthy level's TTFT p99 that the
	// effective ceiling must stay below.
	separation = 0.5
)

// ceiling is the TTFT p99 ceiling of gate runs: at least twice their median,
// and above an upper tolerance limit, in milliseconds, both as a bridge says that
// they are read; 0 where there are too few runs.
func ceiling(p99 []float64, b *Bridge) float64 {
	if len(p99) < 2 {
		return 0
	}
	logs := make([]float64, len(p99))
	for i, v := range p99 {
		if !positive(v) {
			return 0
		}
		logs[i] = exact.Log(v)
	}
	m, s := exact.Mean(logs), exact.StdDev(logs)
	r := float64(len(p99))
	upper := exact.Exp(m + float64(kFactor(r-1, r)*max(s, ttftFloorSD)))
	multiple, limit := b.ceilingFactors()
	return ceilSig(max(ceilingMultiple*multiple*sweep.Median(p99), limit*upper/(1+recipes.Tolerance)), 2)
}

// separable reports whether the effective ceiling c can tell a healthy run at
// the operating point n from the limit slo and from the first unhealthy level
// above; why says what stands in the way.
func separable(c, slo float64, fit knee.Fit, n int) (why string, ok bool) {
	effective := (1 + recipes.Tolerance) * c
	if !positive(c) {
		return "no TTFT p99 to make a ceiling from", false
	}
	// The slack keeps 1.1 × 1000 ≤ 1100 true.
	if effective > slo*(1+roundSlack) {
		return fmt.Sprintf("ceiling_not_separable: a ceiling of %s ms lets %s ms pass, above the limit of %s ms", num(c), num(effective), num(slo)), false
	}
	sick, found := firstUnhealthy(fit, n, slo)
	if found && !(effective <= separation*sick.TTFTP99MS) {
		return fmt.Sprintf("ceiling_not_separable: a ceiling of %s ms lets %s ms pass, more than half of the %s ms of the unhealthy level %d per GPU",
			num(c), num(effective), num(sick.TTFTP99MS), sick.ConcurrencyPerGPU), false
	}
	return "", true
}

// firstUnhealthy returns the lowest level above n that O-2 calls unhealthy:
// TTFT p99 over the limit, or throughput below that of n by more than noise. A
// level that is only split is left out: it speaks of the environment, and its
// TTFT is not that of an overload.
func firstUnhealthy(fit knee.Fit, n int, slo float64) (knee.Level, bool) {
	op, known := levelAt(fit, n)
	for _, l := range fit.Levels {
		if l.ConcurrencyPerGPU <= n {
			continue
		}
		slow := l.TTFTP99MS > slo
		if !slow && known && l.Kept > 0 && op.Kept > 0 {
			allowed := float64(2 * medianSE * max(fit.Noise, swFloor) * math.Sqrt(1/float64(l.Kept)+1/float64(op.Kept)))
			slow = exact.Log(l.TokPerSecPerGPU) < exact.Log(op.TokPerSecPerGPU)-allowed
		}
		if slow {
			return l, true
		}
	}
	return knee.Level{}, false
}

// medianSE is the standard error of a median in units of that of a mean.
const medianSE = 1.25

func levelAt(fit knee.Fit, n int) (knee.Level, bool) {
	for _, l := range fit.Levels {
		if l.ConcurrencyPerGPU == n {
			return l, true
		}
	}
	return knee.Level{}, false
}
