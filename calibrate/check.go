package calibrate

import (
	"fmt"
	"slices"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// Verdict is the answer of a check.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
)

// A check needs this many valid attempts, and may spend two more on invalid
// ones; see unwatched for one that has more.
const (
	checkValid   = 3
	checkInvalid = 2
)

// CheckResult is a verdict with its reasons.
type CheckResult struct {
	Verdict   Verdict            `json:"verdict"`
	Reasons   []string           `json:"reasons"`
	Gate      recipes.Gate       `json:"gate"`
	Effective recipes.Evaluation `json:"effective_gate"`
	// Medians of the valid gate runs, whole-run estimators.
	TokPerSecPerGPU float64 `json:"output_tok_per_s_per_gpu,omitempty"`
	TTFTP99MS       float64 `json:"ttft_p99_ms,omitempty"`
	Valid           int     `json:"valid_attempts"`
	Attempts        int     `json:"attempts"`
	Stalled         int     `json:"stalled_attempts"`
	InvalidRuns     int     `json:"invalid_runs"`
	// Bridge says how a gate that is what AIPerf reads was compared, nil for one that
	// is not.
	Bridge *CheckBridge `json:"bridge,omitempty"`
	// Pulse is the capacity pulse; a failed one is a failed gate.
	Pulse PulseResult `json:"pulse,omitzero"`
	// Drift is against the baseline's runs; it changes no verdict.
	Drift *Drift `json:"drift,omitempty"`
	// History is what the checks so far tell, where they are kept.
	History *History `json:"history,omitempty"`
	// Sensitivity is what such a check sees of losses, as the baseline's curve
	// predicts it.
	Sensitivity []Sensitivity `json:"sensitivity,omitempty"`
	// Provenance is what the overlay's sidecar says of this check.
	Provenance ProvenanceResult `json:"provenance,omitzero"`
}

// Check judges the check runs of a curve against a gate; base, when not nil,
// is the calibration whose noise C1 is scaled with and against whose runs the
// capacity pulse is held.
//
// Whatever makes the runs doubtful is Inconclusive, and beats pass and fail:
// no gate, a gate of another model or load, missing data, too few valid
// attempts, stalls, C1, C2. Only then is the median judged, as AICR does.
func Check(g recipes.Gate, c sweep.Curve, gpusPerNode int, base *sweep.Curve) CheckResult {
	return check(g, c, gpusPerNode, base, noise{}, asRead{}, time.Time{})
}

// check is Check where the sidecar keeps a run-to-run noise, zero if it does not,
// it is known whose readings the gate is, and the time of the judgement, of which a
// zero one judges no date.
func check(g recipes.Gate, c sweep.Curve, gpusPerNode int, base *sweep.Curve, kept noise, read asRead, now time.Time) CheckResult {
	a := attemptsAt(c, g.ConcurrencyPerGPU, sweep.Check)
	invalid, _ := invalidRuns(c)
	out := CheckResult{
		Verdict: Inconclusive, Gate: g, Effective: recipes.Evaluation{Reasons: []string{}},
		TokPerSecPerGPU: sweep.Median(a.throughputs()), TTFTP99MS: sweep.Median(a.p99s()),
		Valid: len(a.valid), Attempts: a.total, Stalled: a.stalled, InvalidRuns: invalid,
	}
	known := newBaseline(base, g.ConcurrencyPerGPU)
	n, noiseNote := baseNoise(c, known, kept)
	gpus := c.Fingerprint.GPUs
	e, err := read.evaluate(g, recipes.Measured{TokPerSec: out.TokPerSecPerGPU * float64(gpus), TTFTP99MS: out.TTFTP99MS, GPUs: gpus, GPUsPerNode: gpusPerNode})
	blind := uncounted(c, base)
	doubts := []string{"the overlay has no gate: nothing can be passed"}
	if !g.Empty() {
		doubts = append(mismatches(g, c, base), doubtful(a, g.ConcurrencyPerGPU, n, max(c.Plan.MinWatch, sweep.StallWatch(c.Preflight)) > 0)...)
		for _, why := range []string{unwatched(c, a), surplus(c, g.ConcurrencyPerGPU)} {
			if why != "" {
				doubts = append(doubts, why)
			}
		}
		if out.Pulse = pulse(c, known); out.Pulse.State == PulseUnknown {
			doubts = append(doubts, "the capacity pulse gave no answer: "+out.Pulse.Reason)
		}
		if blind != "" && out.Pulse.State == PulseNotTaken {
			doubts = append(doubts, blind+", and no capacity pulse was taken instead: "+uncountedRemedy)
			blind = ""
		}
	}
	if odd := OddDates(c, now); odd != "" {
		doubts = append(doubts, odd+"; set the clocks of this machine and of the one that measured, then check again with a new journal")
	}
	if err == nil {
		out.Effective, out.Bridge, doubts = e.Evaluation, e.bridge, append(doubts, e.doubts...)
		out.Sensitivity, out.Drift = known.sensitivity(g, c, e.written), known.drift(c, a, g.ConcurrencyPerGPU)
	} else if len(doubts) == 0 {
		doubts = append(doubts, err.Error())
	}
	lost := missingWorkers(c)
	switch {
	case len(doubts) > 0:
		if lost != "" {
			doubts = append([]string{lost}, doubts...)
			lost = ""
		}
		// The evaluator's own opinion of doubtful runs is no verdict.
		out.Effective.Pass, out.Effective.Reasons = false, []string{}
		out.Reasons = doubts
	case e.Pass && out.Pulse.State == PulseFailed:
		out.Verdict = Fail
		out.Reasons = []string{out.Pulse.Reason}
	case e.Pass:
		out.Verdict = Pass
		out.Reasons = []string{fmt.Sprintf("median of %s of %d: %s output tok/s per GPU, TTFT p99 %s ms",
			plural.Of(out.Valid, "valid attempt"), out.Attempts, num(out.TokPerSecPerGPU), num(out.TTFTP99MS))}
	default:
		out.Verdict = Fail
		out.Reasons = slices.Clone(e.Reasons)
	}
	if lost != "" {
		out.Reasons = append(out.Reasons, lost)
	}
	if note := out.Pulse.note(out.Reasons); note != "" {
		out.Reasons = append(out.Reasons, note)
	}
	if out.Drift != nil {
		out.Reasons = append(out.Reasons, out.Drift.Reason)
	}
	if m := blindSpots(out.Sensitivity); m != "" && out.Verdict == Pass {
		out.Reasons = append(out.Reasons, m)
	}
	if blind != "" {
		out.Reasons = append(out.Reasons, blind+": a lost worker shows in the capacity pulse only; "+uncountedRemedy)
	}
	out.Reasons = append(out.Reasons, e.notes...)
	out.Reasons = append(out.Reasons, checkNotes(g, c, gpusPerNode, base, noiseNote)...)
	return out
}

// checkNotes says what a reader of any verdict must know.
func checkNotes(g recipes.Gate, c sweep.Curve, gpusPerNode int, base *sweep.Curve, noiseNote string) []string {
	var out []string
	if g.Floor > 0 && gpusPerNode <= 0 {
		out = append(out, "the GPUs of a node are not known: the absolute floor is applied whole")
	}
	if !g.Empty() && g.Model == "" {
		out = append(out, "the overlay pins no model: judged as measured, with "+orUnknown(printable(modelOf(c))))
	}
	if noiseNote != "" {
		out = append(out, noiseNote)
	}
	if base != nil && base.Rejudged != "" {
		out = append(out, "of the baseline, "+base.Rejudged)
	}
	if c.Rejudged != "" {
		out = append(out, c.Rejudged)
	}
	if cold := sweep.WarmingUp(c.Runs); cold != "" {
		out = append(out, cold)
	}
	if left := notUsed(c); left != "" {
		out = append(out, left)
	}
	return out
}

// mismatches says why the runs and the gate do not belong together.
func mismatches(g recipes.Gate, c sweep.Curve, base *sweep.Curve) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	f := c.Fingerprint // a preflight's model does not stand for a missing one: runs are pooled by fingerprint
	if f.GPUs <= 0 {
		say("the number of GPUs is %d: nothing can be said per GPU", f.GPUs)
	}
	if g.Model != "" && g.Model != f.Model {
		say("the gate is for model %s, measured was %s", printable(g.Model), orUnknown(printable(f.Model)))
	}
	if g.RoutingMode != "" && f.RoutingMode != "" && g.RoutingMode != f.RoutingMode {
		say("the gate is for routing mode %s, measured was %s", printable(g.RoutingMode), printable(f.RoutingMode))
	}
	if base != nil && base.Fingerprint.Workload != f.Workload {
		say("the baseline measured workload %s, the check %s", workload(base.Fingerprint.Workload), workload(f.Workload))
	}
	if why := crossCheck(f); why != "" {
		say("%s", why)
	}
	if base != nil && base.Fingerprint.GPUs == f.GPUs {
		was, stated := workers(base.Fingerprint)
		is, known := workers(f)
		if stated && known && was != is {
			say("the baseline had %s on these GPUs, the check %d: workers are lost, or this is another deployment", plural.Of(was, "worker"), is)
		}
	}
	if f.Effort == sweep.Quick && !f.Simulated {
		say("quick effort does not repeat the evaluator's protocol: check a real target with --effort standard")
	}
	if g.ConcurrencyPerGPU <= 0 {
		say("the overlay pins no concurrency per GPU: its thresholds mean nothing at another load")
	}
	for _, r := range c.Runs {
		if n := r.Step.ConcurrencyPerGPU; r.Step.Purpose == sweep.Check && n != g.ConcurrencyPerGPU {
			say("the gate is for %d per GPU, measured was %d", g.ConcurrencyPerGPU, n)
			break
		}
	}
	return out
}

// doubtful says why the attempts allow no verdict. stoodStill says that the
// endpoint was silent before any load, which counts as a first stall.
func doubtful(a attempts, n int, s noise, stoodStill bool) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch {
	case a.stalled > 0 && stoodStill:
		say("unstable: the endpoint stood still before any load, and %d of %s at %d per GPU stalled", a.stalled, plural.Of(a.total, "attempt"), n)
	case a.stalled > sweep.MaxStalls:
		say("unstable: %d of %s at %d per GPU stalled", a.stalled, plural.Of(a.total, "attempt"), n)
	}
	if failed := a.total - len(a.valid); len(a.valid) < checkValid || failed > checkInvalid {
		why := "none failed"
		if failed > 0 {
			why = a.why()
		}
		say("%d of %s at %d per GPU %s valid (%s); %d are needed, with at most %d that are not",
			len(a.valid), plural.Of(a.total, "attempt"), n, plural.VerbOf(len(a.valid), a.total, "is", "are"), why, checkValid, checkInvalid)
	}
	if a.shortP99 > 0 {
		say("%s ended with fewer than %d requests: their TTFT p99 is not used", plural.Of(a.shortP99, "gate run"), sweep.P99Requests)
	}
	if len(a.valid) < 2 {
		return out
	}
	gap, threshold, split := splitGap(a.throughputs(), s)
	if split {
		say("unstable: throughput fell into two clusters (C1: gap %s, allowed %s)", percentGap(gap), percentGap(threshold))
	}
	if tailApart(a.p99s(), a.p50s(), split) {
		say("unstable: TTFT p99 fell apart (C2: max/min %.2f, TTFT p50 max/min %.2f)", ratio(a.p99s()), ratio(a.p50s()))
	}
	if k, ok := a.kinds(); ok && k.apart() {
		say("%s (C4): %s", k.text(), kindsRemedy)
	}
	return out
}

// baseNoise is the run-to-run noise of the calibration: the baseline's, else the
// one that the sidecar kept, unknown where neither is of what was measured.
func baseNoise(c sweep.Curve, base *baseline, kept noise) (n noise, why string) {
	used := "the 15 % rule is"
	if kept != (noise{}) {
		used = "the sidecar's is"
	}
	if base == nil {
		return kept, ""
	}
	a, b := c.Fingerprint, base.curve.Fingerprint
	if modelOf(c) != modelOf(base.curve) || a.Effort != b.Effort || a.Simulated != b.Simulated {
		return kept, "the baseline's model, effort or kind of target differs: its noise is not used, " + used
	}
	return noise{base.fit.Noise, base.fit.NoiseDF}, ""
}
