package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// The capacity pulse (knee.md §18.2): one steady run near the knee, two where
// runs scatter more. It fails 2.5 standard deviations below the baseline, or
// when the median TTFT doubled, as it does once the survivors' queues fill.
const (
	pulseDeviations = 2.5
	pulseNoisy      = 0.04
	pulseTTFTFactor = 2
)

// PulseState is what became of a capacity pulse.
type PulseState string

// The states. A pulse that was not taken changes no verdict, which then says
// so; one that was planned or made and cannot be judged makes it inconclusive,
// and so does a baseline that is not finished.
const (
	PulsePassed   PulseState = "passed"
	PulseFailed   PulseState = "failed"
	PulseNotTaken PulseState = "not_pulsed"
	PulseUnknown  PulseState = "unknown"
)

// PulseResult is the capacity pulse of a check, throughputs per GPU.
type PulseResult struct {
	State             PulseState `json:"state"`
	Reason            string     `json:"reason"`
	ConcurrencyPerGPU int        `json:"concurrency_per_gpu,omitempty"`
	Runs              int        `json:"runs"`
	BaselineRuns      int        `json:"baseline_runs"`
	// Geometric means, and their ratio with what it must reach.
	TokPerSecPerGPU         float64 `json:"output_tok_per_s_per_gpu,omitempty"`
	BaselineTokPerSecPerGPU float64 `json:"baseline_output_tok_per_s_per_gpu,omitempty"`
	Ratio                   float64 `json:"throughput_ratio,omitempty"`
	Threshold               float64 `json:"threshold_ratio,omitempty"`
	// Medians of the runs' TTFT p50.
	TTFTP50MS         float64 `json:"ttft_p50_ms,omitempty"`
	BaselineTTFTP50MS float64 `json:"baseline_ttft_p50_ms,omitempty"`
}

// pulseThreshold is the ratio to the baseline below which a pulse fails.
func pulseThreshold(sb, sw float64, runs, baseRuns int) float64 {
	return exact.Exp(-pulseDeviations * pulseSpread(sb, sw, runs, baseRuns))
}

// pulseSpread is the standard deviation of ln of a healthy pulse's ratio: two
// deployments, and the noise of the runs of either.
func pulseSpread(sb, sw float64, runs, baseRuns int) float64 {
	return math.Sqrt(float64(2*sb*sb) + float64(sw*sw*(1/float64(runs)+1/float64(baseRuns))))
}

// baseSpread is the run-to-run sd of a baseline: that of its sweep and that of
// its gate runs, pooled by their degrees of freedom.
func baseSpread(fit knee.Fit, l Limits) float64 {
	nu := float64(l.Runs - l.Deployments)
	ss, df := float64(float64(fit.NoiseDF)*fit.Noise*fit.Noise)+float64(nu*l.SWRaw*l.SWRaw), float64(fit.NoiseDF)+nu
	if !positive(ss) || !positive(df) {
		return swFloor
	}
	return max(swFloor, math.Sqrt(ss/df))
}

// PlanPulse puts the capacity pulse of a gate into the plan of its check; why
// says why there is none.
func PlanPulse(p sweep.Plan, g recipes.Gate, base *sweep.Curve) (planned sweep.Plan, why string) {
	p.PulseAt, p.PulseRuns = 0, 0
	if base == nil {
		return p, noBaseline
	}
	if base.Fingerprint.Effort != p.Effort {
		return p, fmt.Sprintf("the baseline was measured with effort %q, this check with %q", base.Fingerprint.Effort, p.Effort)
	}
	known := newBaseline(base, g.ConcurrencyPerGPU)
	if known.why != "" {
		return p, known.why
	}
	p.PulseAt, p.PulseRuns = known.pulse.ConcurrencyPerGPU, pulseRunsWanted(known.spread)
	return p, ""
}

func pulseRunsWanted(sw float64) int {
	if sw > pulseNoisy {
		return 2
	}
	return 1
}

const noBaseline = "no --baseline, the journal of the calibration, says where a pulse would be taken"

// pulse judges the pulse of a check. The steady runs of the attempts are the
// pulse where its level is the operating point.
func pulse(c sweep.Curve, base *baseline) PulseResult {
	at := pulsedAt(c)
	asked := strings.Trim(fmt.Sprint(at), "[]")
	none := func(why string) PulseResult {
		if len(at) > 0 { // what was asked for and cannot be judged is no pass
			return PulseResult{State: PulseUnknown, Reason: fmt.Sprintf(
				"%s; the pulse of this check is at %s per GPU: judge it with the finished journal of the calibration that it was planned by (--baseline), or check again with a new journal", why, asked)}
		}
		return PulseResult{State: PulseNotTaken, Reason: why}
	}
	if base == nil {
		return none(noBaseline)
	}
	if diff := stale(base.curve.Fingerprint, c.Fingerprint); len(diff) > 0 {
		return none("the baseline is stale (" + strings.Join(diff, "; ") + "): calibrate again")
	}
	if base.why != "" {
		out := none(base.why)
		if base.void {
			out.State = PulseUnknown
		}
		return out
	}
	n := base.pulse.ConcurrencyPerGPU
	if slices.ContainsFunc(at, func(level int) bool { return level != n }) {
		return none(fmt.Sprintf("the baseline gives a pulse at %d per GPU, which is another one", n))
	}
	runs := pulseRuns(c, n)
	if len(runs) > 0 {
		return judgePulse(c, base, runs)
	}
	out := PulseResult{State: PulseNotTaken, Reason: fmt.Sprintf("there is no valid steady run at %d per GPU, the baseline's last healthy level at or below the knee", n)}
	if len(at) > 0 {
		out.State = PulseUnknown
		out.Reason += ": check again with a new journal"
	}
	return out
}

// pulsedAt are the levels at which a check planned or made a pulse.
func pulsedAt(c sweep.Curve) []int {
	var out []int
	if c.Plan.PulseAt > 0 {
		out = append(out, c.Plan.PulseAt)
	}
	for _, r := range c.Runs {
		if r.Step.Purpose == sweep.Pulse {
			out = append(out, r.Step.ConcurrencyPerGPU)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func pulseRuns(c sweep.Curve, n int) []sweep.Run {
	var out []sweep.Run
	for _, r := range c.Runs {
		if r.Step.Kind == loadgen.Steady && r.Step.ConcurrencyPerGPU == n && r.Valid() && positive(r.Result.Window.OutputTokPerSec) {
			out = append(out, r)
		}
	}
	return out
}

func judgePulse(c sweep.Curve, base *baseline, runs []sweep.Run) PulseResult {
	b := base.pulse
	now, ttft := steadyMeans(runs, c.Fingerprint.GPUs)
	then, ttftThen := steadyMeans(b.Runs, base.curve.Fingerprint.GPUs)
	sb := sbPrior
	if d := deploymentID(runs[0].Deployment, c.Fingerprint); d != "" && d == deploymentID(b.Runs[0].Deployment, base.curve.Fingerprint) {
		sb = 0
	}
	out := PulseResult{
		State: PulsePassed, ConcurrencyPerGPU: b.ConcurrencyPerGPU, Runs: len(runs), BaselineRuns: len(b.Runs),
		TokPerSecPerGPU: now, BaselineTokPerSecPerGPU: then, Ratio: now / then,
		Threshold: pulseThreshold(sb, base.spread, len(runs), len(b.Runs)), TTFTP50MS: ttft, BaselineTTFTP50MS: ttftThen,
	}
	if !positive(now) || !positive(then) || !positive(out.Ratio) {
		return PulseResult{State: PulseUnknown, Reason: fmt.Sprintf("the throughputs at %d per GPU are not ones that can be compared", b.ConcurrencyPerGPU)}
	}
	at := fmt.Sprintf("at %d per GPU, %s against %d of the baseline", out.ConcurrencyPerGPU, plural.Of(out.Runs, "run"), out.BaselineRuns)
	is, least := recipes.Apart(out.Ratio, out.Threshold, 3)
	slow := fmt.Sprintf("throughput is x%s of the baseline's, x%s is needed", is, least)
	switch {
	case !(out.Ratio >= out.Threshold):
		out.State, out.Reason = PulseFailed, fmt.Sprintf("capacity pulse %s: %s; a worker may be lost or slow", at, slow)
	case positive(ttftThen) && !positive(ttft):
		out.State, out.Reason = PulseUnknown, fmt.Sprintf("capacity pulse %s: no run has a TTFT p50", at)
	case ttft >= pulseTTFTFactor*ttftThen && positive(ttftThen):
		out.State, out.Reason = PulseFailed, fmt.Sprintf("capacity pulse %s: TTFT p50 is %s ms, %d times the baseline's %s ms is too much; a worker may be lost or slow",
			at, num(ttft), pulseTTFTFactor, num(ttftThen))
	default:
		out.Reason = fmt.Sprintf("capacity pulse %s: passed, %s", at, slow)
	}
	return out
}

// steadyMeans are the geometric mean of the throughputs per GPU and the median
// of the TTFT p50, 0 where no run has one.
func steadyMeans(runs []sweep.Run, gpus int) (tokPerSecPerGPU, ttftP50MS float64) {
	var logs, ttfts []float64
	for _, r := range runs {
		w := r.Result.Window
		logs = append(logs, exact.Log(w.OutputTokPerSec/float64(max(gpus, 1))))
		if positive(w.TTFTP50MS) {
			ttfts = append(ttfts, w.TTFTP50MS)
		}
	}
	return exact.Exp(exact.Mean(logs)), sweep.Median(ttfts)
}

// deploymentID is the deployment that a run states, else its campaign.
func deploymentID(ofRun string, f sweep.Fingerprint) string {
	if ofRun != "" {
		return ofRun
	}
	return f.Deployment
}

// stale lists where two fingerprints differ in what makes a baseline void: all
// but where the target is and which build measured it. What one of them does
// not state is not known to differ.
func stale(base, now sweep.Fingerprint) []string {
	for _, f := range []*sweep.Fingerprint{&base, &now} {
		f.Target, f.Deployment, f.ToolVersion, f.UnixSocket, f.Proxy, f.ExtraHeaders = "", "", "", "", "", nil
	}
	if base.RoutingMode == "" || now.RoutingMode == "" {
		base.RoutingMode, now.RoutingMode = "", ""
	}
	base.Labels, now.Labels = common(base.Labels, now.Labels), common(now.Labels, base.Labels)
	out := base.Diff(now)
	for i := range out {
		out[i] = printable(out[i])
	}
	return out
}

// common keeps the labels that the other one has as well, but for those that
// name a place.
func common(l, other map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range l {
		if _, both := other[k]; both {
			out[k] = v
		}
	}
	return out
}

// note says what came of the pulse where the reasons do not yet.
func (p PulseResult) note(reasons []string) string {
	switch {
	case p.State == PulseNotTaken:
		return "not pulsed: " + p.Reason + "; a lost worker whose load the others carry would not be seen"
	case p.State == "" || p.State == PulseUnknown || slices.Contains(reasons, p.Reason):
		return ""
	}
	return p.Reason
}
