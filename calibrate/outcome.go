package calibrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// judgement is what the table of outcomes looks at.
type judgement struct {
	*evidence
	gates   []GateResult
	current recipes.Gate
	formErr error
	// inseparable says why the ceiling separates nothing, "" if it does.
	inseparable string
}

// unusable: nothing that was measured bears on this overlay.
func (j *judgement) unusable() string {
	f := j.curve.Fingerprint
	valid := 0
	for _, r := range j.curve.Runs {
		if r.Valid() {
			valid++
		}
	}
	switch measured := j.model(); {
	case j.formErr != nil:
		return j.formErr.Error()
	case f.GPUs <= 0:
		return fmt.Sprintf("the number of GPUs is %d; nothing can be said per GPU", f.GPUs)
	case measured == "":
		return "the campaign does not say which model it measured"
	case j.current.Model != "" && j.current.Model != measured:
		return fmt.Sprintf("the campaign measured model %s, the overlay pins %s: measure that model, or change the overlay first",
			printable(measured), printable(j.current.Model))
	case OtherAccelerator(j.policy.Accelerator, f) != "":
		return OtherAccelerator(j.policy.Accelerator, f)
	case len(j.curve.Runs) == 0:
		return "the journal holds no run"
	case valid == 0:
		_, by := invalidRuns(j.curve)
		why := fmt.Sprintf("none of %s is valid (%s)", plural.Of(len(j.curve.Runs), "run"), counts(by))
		if stood := j.stoodStill(); stood > 0 {
			why += fmt.Sprintf("; %d of them stood still for a while", stood)
		}
		return why
	}
	return ""
}

// unsteady looks at every confirmed concurrency, because a point may be lost to
// the very stalls that were seen while it was confirmed, and at the levels where
// overload is no excuse. The planner ends a campaign by the same rules.
func (j *judgement) unsteady() string {
	seen := map[int]bool{}
	for _, r := range j.curve.Runs {
		n := r.Step.ConcurrencyPerGPU
		if r.Step.Purpose != sweep.Confirm || seen[n] {
			continue
		}
		seen[n] = true
		a := attemptsAt(j.curve, n, sweep.Confirm)
		if a.stalled > sweep.MaxStalls {
			return fmt.Sprintf("%d of %s at %d per GPU stalled: the environment is unstable", a.stalled, plural.Of(a.total, "attempt"), n)
		}
		if p99, p50 := a.p99s(), a.p50s(); sweep.TailsApart(p99, p50) {
			return fmt.Sprintf("gate runs at %d per GPU are of two kinds, ×%.1f apart in TTFT p99 and ×%.1f in p50: the environment is unstable", n, ratio(p99), ratio(p50))
		}
	}
	return sweep.Unsteady(j.curve.Runs, sweep.NoOverload(j.fit, j.op()))
}

// stoodStill counts the runs that stalled. One in which this tool was late as
// well tells nothing of the server.
func (j *judgement) stoodStill() (stood int) {
	for _, r := range j.curve.Runs {
		failed := func(gate string) bool {
			return slices.ContainsFunc(r.Violations, func(v sweep.Violation) bool { return v.Gate == gate })
		}
		if failed(gateStall) && !failed(gateClient) {
			stood++
		}
	}
	return stood
}

// status is the row of a status without a usable knee. A proved point needs
// none, because it was measured for itself.
func status(s knee.Status) func(*judgement) string {
	text := map[knee.Status]string{
		knee.Insufficient:   "too few levels for a fit",
		knee.Ambiguous:      "model and measurement disagree about the knee",
		knee.SaturatedAtMin: "throughput gains nothing above the smallest concurrency measured",
		knee.NotSaturated:   "throughput still rises at the largest concurrency measured",
	}[s]
	return func(j *judgement) string {
		if j.fit.Status != s || j.point.Basis == basisProved {
			return ""
		}
		why := fmt.Sprintf("%s: %s", s, text)
		if j.point.Reason != "" {
			why += "; " + j.point.Reason
		}
		if j.point.Basis == basisLowerBound && j.op() > 0 {
			why += fmt.Sprintf("; %d per GPU is a lower bound only, and is not written", j.op())
		}
		if len(j.fit.Flags) > 0 {
			why += " (the sweep is flagged " + strings.Join(j.fit.Flags, ", ") + ")"
		}
		return why
	}
}

func (j *judgement) noPoint() string {
	switch {
	case j.op() <= 0:
		return "no operating point: " + j.reason()
	case !j.point.Healthy:
		return fmt.Sprintf("%d per GPU is not usable: %s", j.op(), j.reason())
	}
	return ""
}

func (j *judgement) reason() string {
	if j.point.Reason == "" {
		return "no reason was given"
	}
	return j.point.Reason
}

func (j *judgement) invalidAttempts() string {
	a := j.attempts
	if len(a.valid) >= minRunsToWrite || len(a.gates) == 0 || len(a.gates) == 1 && a.gates[unfinished] > 0 {
		return ""
	}
	return fmt.Sprintf("only %d of %s at %d per GPU %s valid (%s), %d are needed",
		len(a.valid), plural.Of(a.total, "attempt"), j.op(), plural.VerbOf(len(a.valid), a.total, "is", "are"), a.why(), minRunsToWrite)
}

func (j *judgement) unconfirmed() string {
	if n := len(j.attempts.valid); n < minRunsToWrite {
		return fmt.Sprintf("%d per GPU is not confirmed: %d of %s %s made; resume with the target",
			j.op(), n, plural.Of(minRunsToWrite, "attempt"), plural.Verb(n, "is", "are"))
	}
	return ""
}

// unmet is the row of gates that failed by what they saw; the first of ids to
// do so is named.
func unmet(ids ...string) func(*judgement) string {
	return func(j *judgement) string {
		for _, id := range ids {
			for _, g := range j.gates {
				if g.ID == id && g.State == Unmet && !g.noData {
					return g.text()
				}
			}
		}
		return ""
	}
}

// text is one sentence about a gate that is not met.
func (g GateResult) text() string {
	s := fmt.Sprintf("%s %s: %s (wanted: %s)", g.ID, g.Name, g.Observed, g.Threshold)
	if g.Remedy != "" {
		s += "; " + g.Remedy
	}
	return s
}

// missingData: a gate without data is not met, though nothing speaks against
// the deployment.
func (j *judgement) missingData() string {
	for _, g := range j.gates {
		if g.State == Unmet && g.noData {
			return g.text()
		}
	}
	if j.limitsErr != nil {
		return j.limitsErr.Error()
	}
	return ""
}

// crossCheck: a client that takes a broken stream for an answer and a dial for
// prefill measures nothing that could be promised.
func (j *judgement) crossCheck() string { return crossCheck(j.curve.Fingerprint) }

func crossCheck(f sweep.Fingerprint) string {
	if t := f.Transport; t != "" && t != loadgen.Native {
		return fmt.Sprintf("measured with the transport %q, which is for a cross-check only: no gate is set or judged from it", t)
	}
	return ""
}

func (j *judgement) simulatedRefused() string {
	if j.curve.Fingerprint.Simulated && !j.policy.AllowSimulated {
		return "simulated target: nothing is written from a simulation unless --allow-simulated waives C6, C7 and C11"
	}
	return ""
}

// lookOnly: quick runs are first looks, whatever the gates say.
func (j *judgement) lookOnly() string { return lookOnly(j.curve.Fingerprint) }

func lookOnly(f sweep.Fingerprint) string {
	if f.Simulated || f.Effort == sweep.Standard || f.Effort == sweep.Full {
		return ""
	}
	return fmt.Sprintf("effort %q is a first look: from a real target only standard and full runs may be written", f.Effort)
}

func (j *judgement) simulated() string {
	if !j.curve.Fingerprint.Simulated {
		return ""
	}
	return "simulated target: " + strings.Join(waivedIDs(j.gates), ", ") + " are waived by --allow-simulated; the gate says nothing of hardware"
}

func waivedIDs(gates []GateResult) []string {
	var ids []string
	for _, g := range gates {
		if g.State == Waived {
			ids = append(ids, g.ID)
		}
	}
	return ids
}

// mayWrite repeats, independently of the table, what a write needs: a writable
// outcome, and every gate met, or waived for an allowed simulation.
func (j *judgement) mayWrite(o Outcome, g recipes.Gate) bool {
	f := j.curve.Fingerprint
	for _, r := range j.gates {
		waivable := f.Simulated && j.policy.AllowSimulated && (r.ID == "C6" || r.ID == "C7" || r.ID == "C11")
		stated := r.ID == "C11" && (r.State == Unverified || r.State == Accepted && j.policy.AcceptDeploymentDiff)
		if r.State != Met && !(r.State == Waived && waivable) && !stated {
			return false
		}
	}
	floor := g.FloorPerGPU > 0 || g.Floor > 0 || j.policy.TTFTOnly
	complete := g.Model != "" && g.ConcurrencyPerGPU > 0 && g.RoutingMode != "" && g.CeilingTTFTP99MS > 0 && floor
	complete = complete && j.crossCheck() == ""
	return complete && len(j.gates) == 11 && (o == OutcomeOK && !f.Simulated || o == OutcomeSimulated && f.Simulated)
}
