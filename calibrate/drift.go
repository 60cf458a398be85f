package calibrate

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
)

// Drift (knee.md §11): the gate runs of a check lie outside of the one-sided
// 99 % prediction interval that the baseline's own gate runs give, and by
// enough to matter. It alarms and changes no verdict.
const (
	driftConfidence = 0.99
	driftThroughput = 0.03 // the smallest change of throughput that matters
	driftTTFT       = 0.10
	// ttftSpreadFloor is the least run-to-run sd of ln TTFT p99 (knee.md §9.3).
	ttftSpreadFloor = 0.10
)

// Drift is how the gate runs of a check differ from the baseline's at the same
// point.
type Drift struct {
	Throughput DriftMetric `json:"output_tok_per_s_per_gpu"`
	TTFTP99    DriftMetric `json:"ttft_p99_ms"`
	Runs       int         `json:"runs"`
	// Baseline is the journal of the calibration, or the sidecar's name.
	Baseline     string `json:"baseline"`
	BaselineRuns int    `json:"baseline_runs"`
	Alarm        bool   `json:"alarm"`
	Reason       string `json:"reason"`
}

// DriftMetric is one metric of a drift, check over baseline.
type DriftMetric struct {
	// Ratio is the Hodges–Lehmann estimate, Mean that of the means, and Limit
	// what the mean may not pass.
	Ratio float64 `json:"ratio"`
	Mean  float64 `json:"mean_ratio"`
	Limit float64 `json:"limit_ratio"`
	Alarm bool    `json:"alarm"`
}

// drift compares a check's attempts with the baseline's, nil where either has
// too few. name is the baseline's, and ids the deployments of its runs, ""
// where that is not known: the spread between deployments is added unless all
// runs are of one.
func drift(name string, now attempts, deployment string, then attempts, ids []string) *Drift {
	if len(now.valid) < checkValid || len(then.valid) < minRunsToWrite {
		return nil
	}
	sb := sbPrior
	if deployment != "" && !slices.ContainsFunc(ids, func(id string) bool { return id != deployment }) {
		sb = 0
	}
	d := &Drift{
		Throughput: driftOf(now.throughputs(), then.throughputs(), 0, sb, driftThroughput, -1),
		TTFTP99:    driftOf(now.p99s(), then.p99s(), ttftSpreadFloor, sb, driftTTFT, 1),
		Runs:       len(now.valid), Baseline: name, BaselineRuns: len(then.valid),
	}
	if !finite(d.Throughput) || !finite(d.TTFTP99) {
		return nil
	}
	d.Alarm = d.Throughput.Alarm || d.TTFTP99.Alarm
	d.Reason = fmt.Sprintf("drift against %s of %s: throughput x%.3f (mean x%.3f, alarm below x%.3f), TTFT p99 x%.2f (mean x%.2f, alarm above x%.2f)",
		plural.Of(d.BaselineRuns, "run"), d.Baseline, d.Throughput.Ratio, d.Throughput.Mean, d.Throughput.Limit, d.TTFTP99.Ratio, d.TTFTP99.Mean, d.TTFTP99.Limit)
	if d.Alarm {
		d.Reason = "ALARM, " + d.Reason + "; a second alarm in the next check confirms it, and no verdict changes by it"
	}
	return d
}

// driftOf is the test on ln of one metric, in the direction that is worse.
func driftOf(now, then []float64, floor, sb, matters, worse float64) DriftMetric {
	a, b := logsOf(now), logsOf(then)
	df := float64(len(b) - 1)
	s := max(floor, exact.StdDev(b))
	t := studentsT(df, driftConfidence)
	limit := t * math.Sqrt(float64(s*s*(1/float64(len(a))+1/float64(len(b))))+float64(2*sb*sb))
	shift, mean := sweep.Median(sweep.Differences(a, b)), exact.Mean(a)-exact.Mean(b)
	return DriftMetric{
		Ratio: exact.Exp(shift), Mean: exact.Exp(mean), Limit: exact.Exp(worse * limit),
		Alarm: worse*mean > limit && worse*shift >= math.Abs(exact.Log1p(worse*matters)),
	}
}

func logsOf(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = exact.Log(x)
	}
	return out
}

// drift is that of a check at n per GPU against this baseline.
func (b *baseline) drift(c sweep.Curve, now attempts, n int) *Drift {
	if b == nil || len(stale(b.curve.Fingerprint, c.Fingerprint)) > 0 {
		return nil
	}
	then := attemptsAt(b.curve, n, sweep.Confirm)
	var ids []string
	for _, r := range then.valid {
		ids = append(ids, deploymentID(r.deployment, b.curve.Fingerprint))
	}
	return drift("the baseline", now, checkedDeployment(now, c), then, ids)
}

// drift is the same against the runs that a sidecar keeps, which are all of the
// point that it was written for.
func (p Provenance) drift(name string, c sweep.Curve, now attempts, n int) *Drift {
	if n != p.Gate.ConcurrencyPerGPU {
		return nil
	}
	var then attempts
	var ids []string
	for _, r := range p.BaselineRuns {
		then.valid = append(then.valid, reading{tokPerSecPerGPU: r.TokPerSecPerGPU, ttftP50MS: r.TTFTP50MS, ttftP99MS: r.TTFTP99MS})
		ids = append(ids, deploymentID(r.Deployment, p.Fingerprint))
	}
	return drift(printable(name), now, checkedDeployment(now, c), then, ids)
}

// checkedDeployment is the deployment of a check, "" where that is not known.
func checkedDeployment(now attempts, c sweep.Curve) string {
	if len(now.valid) == 0 {
		return ""
	}
	return deploymentID(now.valid[0].deployment, c.Fingerprint)
}

func finite(m DriftMetric) bool { return positive(m.Ratio) && positive(m.Mean) && positive(m.Limit) }
