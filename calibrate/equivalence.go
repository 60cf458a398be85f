package calibrate

import (
	"fmt"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/sweep"
)

// Equivalence says how the measured deployment relates to the one that AICR's
// evaluator deploys for itself, which is what a written gate is held against.
type Equivalence struct {
	// State is equal, differs or unverified.
	State string `json:"state"`
	// Differs and Unknown name fields.
	Differs []string `json:"differs,omitempty"`
	Unknown []string `json:"unknown,omitempty"`
	// JobS is how long the evaluator's benchmark would take, of JobLimitS.
	JobS      float64 `json:"predicted_job_s,omitempty"`
	JobLimitS float64 `json:"job_limit_s"`
}

const (
	equal      = "equal"
	differs    = "differs"
	unverified = "unverified"
	// The evaluator's own job: warm-up of one request a stream, then eight, a
	// thousand at least, within a quarter of an hour.
	aicrJobLimit     = 15 * time.Minute
	aicrWarmup       = 1
	aicrPerStream    = 8
	aicrLeastMeasure = 1000
)

// equivalence compares what was stated of the deployment, and predicts the
// evaluator's job from the throughput at the point.
func (e *evidence) equivalence() Equivalence {
	out := Equivalence{State: unverified, JobLimitS: aicrJobLimit.Seconds()}
	gpus := float64(e.curve.Fingerprint.GPUs)
	n, x := float64(e.op())*gpus, sweep.Median(e.attempts.throughputs())*gpus
	if osl := e.curve.Fingerprint.Workload.OSL; n > 0 && osl > 0 && positive(x) {
		requests := max(aicrLeastMeasure, aicrPerStream*n) + float64(aicrWarmup*n)
		if s := requests * float64(osl) / x; positive(s) {
			out.JobS = s
		}
	}
	switch d, c := e.policy.Deployment, e.policy.Compared; {
	case d != nil:
		out.Differs, out.Unknown = d.Differences(e.curve.Fingerprint.GPUs, e.model())
	case c != nil:
		out.Differs, out.Unknown = c.Differs, c.Unknown
	default:
		out.Unknown = []string{"the deployment (--deployment-spec)"}
		return out
	}
	switch {
	case len(out.Differs) > 0:
		out.State = differs
	case len(out.Unknown) == 0:
		out.State = equal
	}
	return out
}

func (q Equivalence) text() string {
	s := q.State
	switch q.State {
	case differs:
		s += ": " + strings.Join(q.Differs, "; ")
	case unverified:
		s += ": not known is " + strings.Join(q.Unknown, ", ")
	}
	if q.JobS > 0 {
		s += fmt.Sprintf("; its job would take %s s of %s s", num(q.JobS), num(q.JobLimitS))
	}
	return s
}

// c11: a gate is judged on the evaluator's deployment, not on this one. What
// differs refuses unless it is accepted by name; what is not known is stated,
// because a URL never tells it.
func (e *evidence) c11() GateResult {
	q := e.equivalent
	g := GateResult{ID: "C11", Name: "evaluator equivalence", State: Unmet, Observed: q.text(),
		Threshold: fmt.Sprintf("the deployment equals the AICR evaluator's own template, and its job fits %s", plural.Of(int(aicrJobLimit.Minutes()), "minute"))}
	switch {
	case q.JobS > q.JobLimitS:
		g.Remedy = "the evaluator would be cut off before it has a result: prove a lower concurrency (--concurrency-per-gpu)"
	case q.State == differs && e.policy.AcceptDeploymentDiff:
		g.State = Accepted
	case q.State == differs:
		g.Remedy = "calibrate a deployment like the evaluator's, or accept these differences by name with --accept-deployment-diff"
	case q.State == equal:
		g.State = Met
	case e.curve.Fingerprint.Simulated && e.policy.AllowSimulated:
		g.State = Waived
	default:
		g.State = Unverified
		g.Remedy = "give the DynamoGraphDeployment with --deployment-spec FILE"
	}
	return result(g)
}

// equivalenceLine is the comment's paragraph.
func (j *judgement) equivalenceLine() string {
	q := j.equivalent
	s := "Deployment against the AICR evaluator's template: " + q.State
	switch q.State {
	case differs:
		s += " (" + strings.Join(q.Differs, "; ") + ")"
		if j.policy.AcceptDeploymentDiff {
			s += ", accepted with --accept-deployment-diff: the evaluator measures another deployment than this one"
		}
	case unverified:
		s += "; the evaluator deploys one frontend, one worker a GPU, TP 1 and its own image, and whether this was that is not known"
	}
	s += "."
	if q.JobS > 0 {
		s += fmt.Sprintf(" Its benchmark is predicted to take %s s of %s s.", num(q.JobS), num(q.JobLimitS))
	}
	return s
}
