package calibrate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/internal/exact"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
)

// comment writes what a reader of the overlay needs to trust, or distrust, the
// gate without the journal: one paragraph an element, for the overlay to wrap.
func (j *judgement) comment(p Proposal) []string {
	paragraphs := []string{
		j.heading(p.Outcome),
		j.subject(),
		j.stated(),
		j.reading(p),
		j.kneeLine(p),
		j.floorLine(p),
		j.clusterLine(),
		j.validityLine(),
		j.writtenLine(p),
		j.effectLine(p),
		j.bridgeLine(p),
		j.noiseLine(),
		j.anchorLine(),
		j.equivalenceLine(),
	}
	if !j.policy.TTFTOnly {
		paragraphs = append(paragraphs, joinMisses(p.Sensitivity))
	}
	paragraphs = append(paragraphs,
		fmt.Sprintf("Fingerprint sha256:%.16s, perfsweep %s, profile %s, effort %s.", p.FingerprintHash, j.version(), j.policy.Profile, orUnknown(string(j.curve.Fingerprint.Effort))),
		"Not known: "+strings.Join(p.NotKnown, "; ")+".",
		j.evaluatorNote(p.Form))
	return slices.DeleteFunc(paragraphs, func(s string) bool { return s == "" })
}

// heading says first what the numbers may not be taken for.
func (j *judgement) heading(o Outcome) string {
	var open []string
	for _, g := range j.gates {
		if g.State == Unmet {
			open = append(open, g.ID)
		}
	}
	date := j.date()
	switch o {
	case OutcomeSimulated:
		return fmt.Sprintf("SIMULATED: calibrated by perfsweep on %s against a simulated target; gates %s were waived (--allow-simulated). "+
			"The numbers say nothing of hardware.", date, strings.Join(waivedIDs(j.gates), ", "))
	case OutcomeOK:
		met := j.metAll()
		if met == everyGate {
			met = "gates C1 to C11 are met"
		}
		return fmt.Sprintf("Calibrated by perfsweep on %s; %s.", date, met)
	}
	simulated := ""
	if j.curve.Fingerprint.Simulated {
		simulated = ", SIMULATED target"
	}
	if w := waivedIDs(j.gates); len(w) > 0 {
		simulated += ", waived " + strings.Join(w, ", ")
	}
	return fmt.Sprintf("%s%s: measured by perfsweep on %s, not to be used as a gate. Unmet: %s.", o, simulated, date, orNone(strings.Join(open, ", ")))
}

// date is that of the last gate run, as the journal has it.
func (j *judgement) date() string {
	_, last := measuredFrom(j.curve, j.op(), j.policy)
	if last.IsZero() {
		last = j.curve.Started
	}
	if last.IsZero() {
		return "an unknown date"
	}
	return last.UTC().Format(time.DateOnly)
}

func workload(w loadgen.WorkloadSpec) string {
	if w.Name == loadgen.FromFile {
		return fmt.Sprintf("%s (SHA-256 %.12s)", orUnknown(printable(filepath.Base(w.File))), printable(w.FileSHA256))
	}
	s := fmt.Sprintf("%s (ISL %d", orUnknown(printable(w.Name)), w.ISL)
	if w.ISLStddev > 0 {
		s += fmt.Sprintf(" sd %d", w.ISLStddev)
	}
	s += fmt.Sprintf(", OSL %d", w.OSL)
	if w.OSLStddev > 0 {
		s += fmt.Sprintf(" sd %d", w.OSLStddev)
	}
	if w.IgnoreEOS {
		s += " with ignore_eos"
	}
	if w.Pool > 0 {
		s += ", " + plural.Of(w.Pool, "prompt")
	}
	if w.SharedPrefix > 0 {
		s += fmt.Sprintf(", %.0f %% of each shared", 100*w.SharedPrefix)
	}
	return s + fmt.Sprintf(", seed %d)", w.Seed)
}

func (j *judgement) reading(p Proposal) string {
	x, a := j.attempts.throughputs(), j.attempts
	s := fmt.Sprintf("Measured at %d in flight per GPU (%d in total, closed loop): median %s output tok/s per GPU, TTFT p99 %s ms, "+
		"over %s of %s; throughput max/min %.3f, TTFT p99 %s to %s ms.",
		j.op(), j.op()*j.curve.Fingerprint.GPUs, num(p.TokPerSecPerGPU), num(p.TTFTP99MS), plural.Of(len(a.valid), "gate run"), plural.Of(a.total, "attempt"),
		ratio(x), num(slices.Min(a.p99s())), num(slices.Max(a.p99s())))
	s += a.windowNote()
	if p.InvalidRuns > 0 {
		s += fmt.Sprintf(" %d of %s of the campaign %s INVALID and not used.", p.InvalidRuns, plural.Of(len(j.curve.Runs), "run"), plural.Verb(p.InvalidRuns, "was", "were"))
	}
	return s
}

func (j *judgement) kneeLine(p Proposal) string {
	f := j.fit
	var s string
	switch {
	case p.Point.Basis == basisProved:
		s = fmt.Sprintf("The concurrency was given and proved; the knee is at least %d per GPU", j.op())
	case p.Point.Basis == basisLowerBound:
		s = fmt.Sprintf("LOWER BOUND: no knee up to the largest level measured; the knee is above %d per GPU", j.op())
	default:
		s = fmt.Sprintf("The concurrency is the ladder value at or below 0.8 x the knee, or a lower bound than that: knee %s per GPU (interval %s to %s)",
			num(f.Knee), num(f.KneeLow), num(f.KneeHigh))
	}
	s += fmt.Sprintf(", status %s, where throughput gains less than n^%s", f.Status, num(f.EStar))
	if p.Point.Bound != "" {
		s += fmt.Sprintf("; active bound %s", printable(p.Point.Bound))
	}
	if o := j.curve.Plan.Objective; o.TTFTMS > 0 {
		s += fmt.Sprintf("; objective TTFT p99 <= %s ms", num(o.TTFTMS))
	}
	if o := j.curve.Plan.Objective; o.ITLMS > 0 {
		s += fmt.Sprintf("; objective ITL p99 <= %s ms", num(o.ITLMS))
	}
	return s + "."
}

func (j *judgement) floorLine(p Proposal) string {
	l := j.limits
	if j.policy.TTFTOnly {
		return fmt.Sprintf("No throughput floor (TTFT only); the %s floor would be %s tok/s per GPU.", j.policy.Profile, num(floorSig(j.rawFloor(j.policy.Profile), 3)))
	}
	other := Regression
	if j.policy.Profile == Regression {
		other = Portable
	}
	s := fmt.Sprintf("Floor, %s profile: %s; L = %s (k %.3f); spread of ln X within a %s s_w %.4f, between %s s_b %.4f %s, from %s, %s.",
		j.policy.Profile, j.floorRule(), num(l.L), l.K, j.group(), l.SW, plural.Noun(2, j.group()), l.SB, l.SBBasis, plural.Of(l.Deployments, j.group()), plural.Of(l.Runs, "run"))
	if p.Form == Absolute {
		s += fmt.Sprintf(" Written for a full node of %s.", plural.Of(j.policy.NodeGPUs, "GPU"))
	}
	return s + fmt.Sprintf(" The %s profile would be %s tok/s per GPU.", other, num(floorSig(j.rawFloor(other), 3)))
}

func (j *judgement) effectLine(p Proposal) string {
	s := fmt.Sprintf("Ceiling: %s. Effective after the evaluator's tolerance of %.2f: TTFT p99 <= %s ms",
		ceilingRule, recipes.Tolerance, num(p.EffectiveCeilingTTFTP99MS))
	if !j.policy.TTFTOnly {
		s += fmt.Sprintf(", throughput >= %s tok/s per GPU (%.1f %% of the median; a healthy run fails it with probability %.1g)",
			num(p.EffectiveFloorPerGPU), 100*p.EffectiveFloorPerGPU/p.TokPerSecPerGPU, j.limits.FailProbability(p.EffectiveFloorPerGPU, j.bridge.seen()))
	}
	return s + ". Another tolerance makes the gate stale."
}

// noiseLine states what the guarantee rests on, and how little it is worth
// without that assumption.
func (j *judgement) noiseLine() string {
	r := float64(len(j.attempts.valid))
	return fmt.Sprintf("The limit assumes log-normal healthy runs of this fingerprint (without that, %s %s it with confidence %.2f), "+
		"and no stall in them bounds a stall rate at %.0f %% only.", plural.Of(len(j.attempts.valid), "run"), plural.Verb(len(j.attempts.valid), "supports", "support"), 1-exact.Pow(0.95, r), 100*min(1, 3/r))
}

// evaluatorNote warns of the two ways in which a floor's name loses the gate.
func (j *judgement) evaluatorNote(f Form) string {
	const issue = "https://github.com/NVIDIA/aicr/issues/1254"
	switch {
	case j.policy.TTFTOnly:
		return "NOTE: throughput is not gated; see " + issue + "."
	case f == Absolute:
		return fmt.Sprintf("NOTE: inference-throughput is absolute and assumes a full node of %s; a smaller full node fails it, a larger one hides losses; see %s.",
			plural.Of(j.policy.NodeGPUs, "GPU"), issue)
	}
	return "NOTE: inference-throughput-per-gpu is the name proposed in " + issue +
		"; an evaluator that does not know it ignores it, and throughput is then not gated."
}

func (j *judgement) version() string {
	v := j.curve.Fingerprint.ToolVersion
	return orUnknown(printable(v))
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
