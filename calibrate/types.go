package calibrate

import (
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// Profile chooses the floor rule.
type Profile string

// Portable floors travel to other clusters, Regression floors do not.
const (
	Portable   Profile = "portable"
	Regression Profile = "regression"
)

// Form is the constraint name a floor is written under.
type Form string

// The floor forms.
const (
	PerGPU   Form = "per-gpu"
	Absolute Form = "absolute"
)

// Policy is what the user decides about a calibration.
type Policy struct {
	Profile  Profile
	Form     Form // "" keeps the overlay's
	NodeGPUs int  // needed by Absolute
	// TTFTOnly writes no floor (--gate ttft-only).
	TTFTOnly bool
	// AllowSimulated waives C6, C7 and C11 for simulated targets only.
	AllowSimulated bool
	SLOMaxTTFTMS   float64
}

// Outcome says what a calibration came to.
type Outcome string

// The outcomes; only OKOutcome and SimulatedOutcome may be written.
const (
	OutcomeOK             Outcome = "OK"
	OutcomeSimulated      Outcome = "SIMULATED"
	OutcomeProvisional    Outcome = "PROVISIONAL"
	OutcomeUnstable       Outcome = "UNSTABLE"
	OutcomeDegraded       Outcome = "DEGRADED"
	OutcomeNotSaturated   Outcome = "NOT_SATURATED"
	OutcomeSaturatedAtMin Outcome = "SATURATED_AT_MIN"
	OutcomeAmbiguous      Outcome = "AMBIGUOUS"
	OutcomeInvalid        Outcome = "INVALID"
)

// GateState is the state of one C gate.
type GateState string

// A waived gate is named in the comment and in the reasons.
const (
	Met    GateState = "met"
	Unmet  GateState = "unmet"
	Waived GateState = "waived"
)

// GateResult is one C gate with what was seen.
type GateResult struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	State     GateState `json:"state"`
	Observed  string    `json:"observed"`
	Threshold string    `json:"threshold"`
	Remedy    string    `json:"remedy,omitempty"`
}

// Limits is the floor arithmetic of knee.md §18.3.
type Limits struct {
	Runs        int     `json:"runs"`
	Deployments int     `json:"deployments"`
	Median      float64 `json:"median_output_tok_per_s_per_gpu"`
	SW          float64 `json:"s_within"`
	SB          float64 `json:"s_between"`
	SBBasis     string  `json:"s_between_basis"` // assumed, shrunk, measured
	F           float64 `json:"f"`
	NPrime      float64 `json:"n_prime"`
	K           float64 `json:"k"`
	L           float64 `json:"tolerance_limit"`
	Portable    float64 `json:"portable"`
	Regression  float64 `json:"regression"`
	// FalseAlarm is the predicted share of healthy runs that fail each floor.
	FalseAlarmPortable   float64 `json:"false_alarm_portable"`
	FalseAlarmRegression float64 `json:"false_alarm_regression"`
}

// Sensitivity is one line of C10: what a loss would read at the operating
// point, and how likely the written gate is to catch it.
type Sensitivity struct {
	Loss   string  `json:"loss"`
	Ratio  float64 `json:"throughput_ratio"`
	Caught float64 `json:"caught_probability"`
}

// Proposal is a gate with everything needed to defend it.
type Proposal struct {
	Outcome Outcome      `json:"outcome"`
	Reasons []string     `json:"reasons"`
	Gates   []GateResult `json:"gates"`
	// Gate is what would be written, empty when there is none.
	Gate        recipes.Gate         `json:"gate"`
	Form        Form                 `json:"floor_form,omitempty"`
	Profile     Profile              `json:"floor_profile,omitempty"`
	Limits      Limits               `json:"limits"`
	CeilingMS   float64              `json:"ceiling_ms,omitempty"`
	Point       sweep.OperatingPoint `json:"operating_point"`
	Sensitivity []Sensitivity        `json:"sensitivity,omitempty"`
	// Measured medians at the operating point (gate runs).
	TokPerSecPerGPU float64 `json:"output_tok_per_s_per_gpu,omitempty"`
	TTFTP99MS       float64 `json:"ttft_p99_ms,omitempty"`
	// Comment is the overlay comment, lines without "# ".
	Comment []string `json:"comment,omitempty"`
	// Writable: the outcome permits --write.
	Writable bool     `json:"writable"`
	Fit      knee.Fit `json:"-"`
}

// Propose decides on a calibrated curve. current is the overlay's gate (its
// model, routing and floor form are kept).
func Propose(c sweep.Curve, current recipes.Gate, p Policy) Proposal { panic("not built") }

// Verdict is the answer of a check.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
)

// CheckResult is a verdict with its reasons.
type CheckResult struct {
	Verdict         Verdict            `json:"verdict"`
	Reasons         []string           `json:"reasons"`
	Gate            recipes.Gate       `json:"gate"`
	Effective       recipes.Evaluation `json:"effective_gate"`
	TokPerSecPerGPU float64            `json:"output_tok_per_s_per_gpu,omitempty"`
	TTFTP99MS       float64            `json:"ttft_p99_ms,omitempty"`
	Valid, Attempts int
}

// Check judges the check runs of a curve against a gate; base, when not nil,
// is the calibration whose noise C1 is scaled with.
func Check(g recipes.Gate, c sweep.Curve, gpusPerNode int, base *sweep.Curve) CheckResult {
	panic("not built")
}
