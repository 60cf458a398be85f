package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// A gate that is confirmed again is held by the rule of the capacity pulse
// (knee.md §18.2), two-sided: the means of ln X may differ by z·√(2·s_b² +
// s_w²(1/r + 1/r_b)), s_b being 0 on one deployment.
const (
	reconfirmZ        = 2.5
	reconfirmCoverage = 0.95
)

// ReconfirmState says what became of a gate that was measured again.
type ReconfirmState string

// The states. Only a gate that is kept is left as it is on purpose.
const (
	ReconfirmKept    ReconfirmState = "kept"
	ReconfirmChanged ReconfirmState = "changed"
	// ReconfirmRefused: the runs say nothing of the gate, or that its point is no
	// longer one.
	ReconfirmRefused ReconfirmState = "refused"
)

// Shift is one metric of new runs over those that a gate rests on, with an
// interval of 95 %, and how far noise alone may bring it.
type Shift struct {
	Ratio   float64 `json:"ratio"`
	Low     float64 `json:"ratio_low"`
	High    float64 `json:"ratio_high"`
	Limit   float64 `json:"noise_ratio"` // either way
	Changed bool    `json:"changed"`
}

// Reconfirmation is a gate held against new runs at its point.
type Reconfirmation struct {
	State   ReconfirmState `json:"state"`
	Reasons []string       `json:"reasons"`
	// Differences are what else is measured now than then, such as the image: the
	// comparison is across them.
	Differences []string      `json:"differences"`
	Throughput  Shift         `json:"output_tok_per_s_per_gpu"`
	TTFTP99     Shift         `json:"ttft_p99_ms"`
	Baseline    string        `json:"baseline"`
	Runs        []BaselineRun `json:"runs"`
}

// Reconfirmed is a reconfirmation that a sidecar keeps: the gate was not changed,
// and holds for this fingerprint as well.
type Reconfirmed struct {
	Measured          string            `json:"measured"`
	Written           string            `json:"written"`
	ToolVersion       string            `json:"tool_version"`
	Throughput        Shift             `json:"output_tok_per_s_per_gpu"`
	TTFTP99           Shift             `json:"ttft_p99_ms"`
	Runs              []BaselineRun     `json:"runs"`
	Fingerprint       sweep.Fingerprint `json:"fingerprint"`
	FingerprintSHA256 string            `json:"fingerprint_sha256"`
	Journal           Source            `json:"journal"`
}

// Reconfirm holds a gate's sidecar, whose file is name, against runs made anew at
// half the point, the point and the next ladder value; d is the planner's last
// word on them.
func (p Provenance) Reconfirm(name string, c sweep.Curve, d sweep.Decision) Reconfirmation {
	n := p.Gate.ConcurrencyPerGPU
	out := Reconfirmation{State: ReconfirmRefused, Baseline: printable(name), Differences: []string{}, Runs: []BaselineRun{}}
	refuse := func(format string, args ...any) Reconfirmation {
		out.Reasons = append([]string{fmt.Sprintf(format, args...) + "; calibrate again"}, out.Reasons...)
		return out
	}
	other, bump := p.across(c.Fingerprint)
	out.Differences = some(bump)
	now := attemptsAt(c, n, sweep.Confirm)
	for _, r := range now.valid {
		out.Runs = append(out.Runs, baselineRun(n, r))
	}
	switch {
	case len(other) > 0:
		return refuse("another thing was measured than the gate was calibrated on (%s)", strings.Join(other, "; "))
	case !d.Done:
		return refuse("the campaign is not finished: next is a %s run at %d per GPU", d.Step.Kind, d.Step.ConcurrencyPerGPU)
	case !d.Point.Healthy || d.Point.ConcurrencyPerGPU != n:
		return refuse("%d per GPU is no operating point any more: %s", n, printable(d.Reason))
	case len(now.valid) < checkValid:
		return refuse("%s at %d per GPU, %d are needed", plural.Of(len(now.valid), "valid attempt"), n, checkValid)
	case slices.ContainsFunc(out.Runs, p.restsOn):
		return refuse("these are runs that the gate rests on, which cannot confirm themselves: measure into a new journal")
	}
	if why := p.olderThan(c); why != "" {
		return refuse("%s", why)
	}
	// What a check doubts is no confirmation either: runs of two kinds have a spread
	// that explains any loss.
	if doubts := doubtful(now, n, noise{p.Knee.NoiseSD, p.Knee.NoiseDF}, false); len(doubts) > 0 {
		return refuse("%s", strings.Join(doubts, "; "))
	}
	then := p.baselineAttempts()
	sb := p.deploymentSpread(now, c.Fingerprint)
	out.Throughput = shiftBetween(now.throughputs(), then.throughputs(), swFloor, sb, driftThroughput)
	out.TTFTP99 = shiftBetween(now.p99s(), then.p99s(), ttftSpreadFloor, sb, driftTTFT)
	out.TTFTP99.Changed = out.TTFTP99.Changed && out.TTFTP99.Ratio > 1 // a ceiling is not too high for a faster server
	if !out.Throughput.finite() || !out.TTFTP99.finite() {
		return refuse("the runs have no finite throughput and TTFT p99")
	}
	e, err := recipes.Evaluate(p.Gate, recipes.Measured{TokPerSec: sweep.Median(now.throughputs()) * float64(c.Fingerprint.GPUs), TTFTP99MS: sweep.Median(now.p99s()), GPUs: c.Fingerprint.GPUs, GPUsPerNode: p.NodeGPUs})
	if err != nil {
		return refuse("no evaluator has a verdict on the runs (%v)", err)
	}
	out.State = ReconfirmKept
	if out.Throughput.Changed || out.TTFTP99.Changed || !e.Pass {
		out.State = ReconfirmChanged
	}
	out.Reasons = append(out.Reasons, out.sentence(len(then.valid), p.Fingerprint.Labels["image"], c.Fingerprint))
	if !e.Pass {
		out.Reasons = append(out.Reasons, e.Reasons...)
	}
	return out
}

// sentence says what was compared with what, and what came of it.
func (r Reconfirmation) sentence(then int, was string, now sweep.Fingerprint) string {
	s := fmt.Sprintf("throughput per GPU x%.3f [%.3f, %.3f] of the %s that %s keeps (noise explains x%.3f to x%.3f), TTFT p99 x%.2f [%.2f, %.2f] (up to x%.2f)",
		r.Throughput.Ratio, r.Throughput.Low, r.Throughput.High, plural.Of(then, "gate run"), r.Baseline, 1/r.Throughput.Limit, r.Throughput.Limit,
		r.TTFTP99.Ratio, r.TTFTP99.Low, r.TTFTP99.High, r.TTFTP99.Limit)
	if image := now.Labels["image"]; image != was {
		s += fmt.Sprintf("; this compares image %s with image %s, which the baseline was measured with", orNotStated(printable(image)), orNotStated(printable(was)))
	}
	if r.State == ReconfirmKept {
		return "the gate is kept: " + s
	}
	return "the gate no longer describes what is measured: " + s
}

// restsOn reports whether a run is one of those that the gate was derived from.
func (p Provenance) restsOn(r BaselineRun) bool {
	return slices.ContainsFunc(p.BaselineRuns, func(o BaselineRun) bool {
		return r.TokPerSecPerGPU == o.TokPerSecPerGPU && r.TTFTP50MS == o.TTFTP50MS && r.TTFTP99MS == o.TTFTP99MS
	})
}

func baselineRun(n int, r reading) BaselineRun {
	return BaselineRun{n, r.tokPerSecPerGPU, r.ttftP50MS, r.ttftP99MS, r.window, r.deployment, stamp(r.began)}
}

// across sorts what differs from the calibration into what makes it another thing
// and what a new build of the same thing may change: the image, and what servers
// tell of their version, driver and capacity.
func (p Provenance) across(now sweep.Fingerprint) (other, bump []string) {
	diff, open := p.base().differences(now)
	for _, d := range diff {
		name, _, _ := strings.Cut(d, ":")
		if slices.Contains([]string{"labels.model", "labels.precision", "labels.gpu_product", "labels.gpus_per_worker", "labels.workers", "labels.tensor_parallel_size"}, name) || !strings.HasPrefix(name, "labels.") {
			other = append(other, d)
			continue
		}
		bump = append(bump, d)
	}
	for _, l := range open {
		if slices.Contains(keyLabels(), l.name) {
			other = append(other, l.text())
			continue
		}
		bump = append(bump, l.text())
	}
	return other, bump
}

// base is the sidecar without what was confirmed later.
func (p Provenance) base() Provenance {
	p.Reconfirmed = nil
	return p
}

// baselineAttempts are the gate runs that the gate rests on.
func (p Provenance) baselineAttempts() (a attempts) {
	for _, r := range p.BaselineRuns {
		a.valid = append(a.valid, reading{tokPerSecPerGPU: r.TokPerSecPerGPU, ttftP50MS: r.TTFTP50MS, ttftP99MS: r.TTFTP99MS})
	}
	return a
}

// deploymentSpread is what deployments are taken to differ by, 0 where all runs
// are of one.
func (p Provenance) deploymentSpread(now attempts, f sweep.Fingerprint) float64 {
	id := ""
	if len(now.valid) > 0 {
		id = deploymentID(now.valid[0].deployment, f)
	}
	for _, r := range p.BaselineRuns {
		if id == "" || deploymentID(r.Deployment, p.Fingerprint) != id {
			return sbPrior
		}
	}
	return 0
}

// shiftBetween compares the means of ln of two samples. matters is the least
// change that is one.
func shiftBetween(now, then []float64, floor, sb, matters float64) Shift {
	a, b := logsOf(now), logsOf(then)
	na, nb := float64(len(a)), float64(len(b))
	s := max(floor, math.Sqrt((float64((na-1)*exact.Variance(a))+float64((nb-1)*exact.Variance(b)))/(na+nb-2)))
	se := math.Sqrt(float64(s*s*(1/na+1/nb)) + float64(2*sb*sb))
	t := studentsT(na+nb-2, (1+reconfirmCoverage)/2)
	shift := exact.Mean(a) - exact.Mean(b)
	limit := max(reconfirmZ*se, exact.Log1p(matters))
	return Shift{
		Ratio: exact.Exp(shift), Low: exact.Exp(shift - float64(t*se)), High: exact.Exp(shift + float64(t*se)), Limit: exact.Exp(limit),
		Changed: math.Abs(shift) > limit,
	}
}

func (s Shift) finite() bool {
	return positive(s.Ratio) && positive(s.Low) && positive(s.High) && positive(s.Limit)
}
