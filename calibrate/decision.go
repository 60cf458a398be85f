package calibrate

import (
	"fmt"

	"github.com/perfsweep/perfsweep/knee"
)

// rule is one row of the table of outcomes: asks is what must hold, and why
// says that it does not, or "".
type rule struct {
	outcome Outcome
	asks    string
	why     func(*judgement) string
}

// outcomes is the table, in order of precedence: the first row that applies
// decides. Bad data beats everything; a sick environment beats what its curve
// seems to say; the status of the curve beats the gates at the point.
func outcomes() []rule {
	return []rule{
		{OutcomeInvalid, "the campaign bears on this overlay", (*judgement).unusable},
		{OutcomeUnstable, "the environment was not seen to stall or to change", (*judgement).unsteady},
		{OutcomeInvalid, "there are levels enough for a fit", status(knee.Insufficient)},
		{OutcomeAmbiguous, "model and levels agree", status(knee.Ambiguous)},
		{OutcomeSaturatedAtMin, "throughput gains above the smallest level", status(knee.SaturatedAtMin)},
		{OutcomeNotSaturated, "throughput stops rising within the levels", status(knee.NotSaturated)},
		{OutcomeDegraded, "there is a healthy operating point", (*judgement).noPoint},
		{OutcomeInvalid, "enough attempts at the point are valid", (*judgement).invalidAttempts},
		{OutcomeProvisional, "the point is confirmed", (*judgement).unconfirmed},
		{OutcomeUnstable, "the environment is steady (C1, C2, C3, C8)", unmet("C1", "C2", "C3", "C8")},
		{OutcomeUnstable, "the windows agree (C6)", (*judgement).windowsApart},
		{OutcomeDegraded, "the point lies below the knee (C4, C5, C9)", unmet("C4", "C5", "C9")},
		{OutcomeDegraded, "nothing from outside contradicts the campaign (C7)", (*judgement).slowerThanAnchor},
		{OutcomeProvisional, "every gate has its data", (*judgement).missingData},
		{OutcomeDegraded, "a ceiling can tell healthy from sick", func(j *judgement) string { return j.inseparable }},
		{OutcomeProvisional, "it was no cross-check", (*judgement).crossCheck},
		{OutcomeProvisional, "a simulation is allowed, if it is one", (*judgement).simulatedRefused},
		{OutcomeProvisional, "the effort is enough for a real target", (*judgement).lookOnly},
		{OutcomeProvisional, "the rest from outside is there (C7, C6, C11)", unmet("C7", "C6", "C11")},
		{OutcomeProvisional, "a bridge to AIPerf stands, if one was begun or asked for", (*judgement).bridgeRefused},
		{OutcomeSimulated, "the target is real", (*judgement).simulated},
		{OutcomeOK, "a gate is unmet", (*judgement).metAll},
	}
}

const everyGate = "every gate is met"

// metAll is the last word on the gates: C11 may be stated instead of met.
func (j *judgement) metAll() string {
	for _, g := range j.gates {
		if g.State != Met {
			return fmt.Sprintf("%s but %s, which is %s", everyGate, g.ID, g.State)
		}
	}
	return everyGate
}

// Step is one question of the decision, asked in the order of the table.
type Step struct {
	Asks string `json:"asks"`
	// Outcome and Why are those of the step that decided, the last one.
	Outcome Outcome `json:"outcome,omitempty"`
	Why     string  `json:"why,omitempty"`
}

// decide asks the questions of the table up to the one that decides.
func (j *judgement) decide() []Step {
	var out []Step
	for _, r := range outcomes() {
		why := r.why(j)
		if why != "" {
			return append(out, Step{r.asks, r.outcome, why})
		}
		out = append(out, Step{Asks: r.asks})
	}
	return append(out, Step{"a rule applies", OutcomeInvalid, "no rule applies"})
}
