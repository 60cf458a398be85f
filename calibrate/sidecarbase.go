package calibrate

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
)

// contradictConfidence is that of the two-sided interval beyond which the gate
// runs of a baseline and of a sidecar contradict each other.
const contradictConfidence = 0.99

// withBaseline holds a baseline that is not the sidecar's journal against the
// runs that the sidecar keeps. A slower cluster that is calibrated anew is its
// own baseline, which then passes whatever the gate's tolerance lets through:
// where the two contradict each other there is no verdict. Drift is told against
// the sidecar's runs too.
func (s Sidecar) withBaseline(r CheckResult, c sweep.Curve, base *sweep.Curve) CheckResult {
	p := s.Provenance
	if p == nil || base == nil || s.Baseline.SHA256 == "" || s.Baseline.SHA256 == p.Journal.SHA256 {
		return r
	}
	if known := r.Provenance.State; known != ProvenanceMatches && known != ProvenanceEdited {
		return r
	}
	what := fmt.Sprintf("the baseline %s is not the journal %s as %s was written from it (another SHA-256: it was continued since, or is another calibration)",
		printable(s.Baseline.Name), printable(p.Journal.Name), printable(s.Name))
	if why := p.contradicts(*base); why != "" {
		r = r.inconclusive(fmt.Sprintf("%s, and %s: check with the sidecar's journal, or find out what changed and calibrate again", what, why))
	} else {
		r.Reasons = append(slices.Clone(r.Reasons), what+"; their gate runs agree")
	}
	n := r.Gate.ConcurrencyPerGPU
	if d := p.drift(s.Name, c, attemptsAt(c, n, sweep.Check), n); d != nil && (r.Drift == nil || r.Drift.Baseline != d.Baseline) {
		r.Reasons = append(r.Reasons, d.Reason)
		if r.Drift == nil || d.Alarm || !r.Drift.Alarm { // the sidecar's is what the gate rests on
			r.Drift = d
		}
	}
	return r
}

// contradicts says where a calibration's gate runs and those of the sidecar are
// not of one thing, "" if both spreads explain the difference.
func (p Provenance) contradicts(base sweep.Curve) string {
	n := p.Gate.ConcurrencyPerGPU
	own := attemptsAt(base, n, sweep.Confirm)
	var kept attempts
	ids := map[string]bool{}
	for _, r := range p.BaselineRuns {
		kept.valid = append(kept.valid, reading{tokPerSecPerGPU: r.TokPerSecPerGPU, ttftP50MS: r.TTFTP50MS, ttftP99MS: r.TTFTP99MS})
		ids[deploymentID(r.Deployment, p.Fingerprint)] = true
	}
	for _, r := range own.valid {
		ids[deploymentID(r.deployment, base.Fingerprint)] = true
	}
	if len(own.valid) < checkValid || len(kept.valid) < checkValid {
		return fmt.Sprintf("whether they agree is not known: at %d per GPU it has %s and the sidecar %d, %d are needed", n, plural.Of(len(own.valid), "valid gate run"), len(kept.valid), checkValid)
	}
	sb := sbPrior
	if len(ids) == 1 && !ids[""] {
		sb = 0
	}
	shift, limit := shiftOf(own.throughputs(), kept.throughputs(), swFloor, sb)
	if !(math.Abs(shift) <= max(limit, driftThroughput)) {
		return fmt.Sprintf("its gate runs at %d per GPU read x%.3f of the throughput of the %d that the sidecar keeps, where noise explains x%.3f to x%.3f",
			n, exact.Exp(shift), len(kept.valid), exact.Exp(-limit), exact.Exp(limit))
	}
	for _, m := range []struct {
		name  string
		r     float64
		bound float64
	}{
		{"p50", sweep.Median(own.p50s()) / sweep.Median(kept.p50s()), pulseTTFTFactor},
		{"p99", sweep.Median(own.p99s()) / sweep.Median(kept.p99s()), exact.Exp(ttftGap)},
	} {
		if !(m.r < m.bound && m.r > 1/m.bound) {
			return fmt.Sprintf("its gate runs at %d per GPU have x%.2f of the TTFT %s of those that the sidecar keeps, less than x%.0f either way is allowed", n, m.r, m.name, m.bound)
		}
	}
	return ""
}

// shiftOf is the difference of the means of ln of two samples, and the largest
// that the pooled spread of their runs, floor at least, and that between
// deployments explain.
func shiftOf(x, y []float64, floor, sb float64) (shift, limit float64) {
	a, b := logsOf(x), logsOf(y)
	na, nb := float64(len(a)), float64(len(b))
	s := max(floor, math.Sqrt((float64((na-1)*exact.Variance(a))+float64((nb-1)*exact.Variance(b)))/(na+nb-2)))
	t := studentsT(na+nb-2, (1+contradictConfidence)/2)
	return exact.Mean(a) - exact.Mean(b), t * math.Sqrt(float64(s*s*(1/na+1/nb))+float64(2*sb*sb))
}
