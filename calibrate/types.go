package calibrate

import (
	"time"

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

// The floor forms. KeepForm is asked for, and leaves the one that an overlay has.
const (
	KeepForm Form = ""
	PerGPU   Form = "per-gpu"
	Absolute Form = "absolute"
)

// Policy is what the user decides about a calibration.
type Policy struct {
	Profile  Profile // "" means Portable
	Form     Form
	NodeGPUs int // needed by Absolute
	// TTFTOnly writes no floor (--gate ttft-only).
	TTFTOnly bool
	// AllowSimulated waives C6, C7 and C11 for simulated targets only.
	AllowSimulated bool
	// SLOMaxTTFTMS bounds the ceiling; 0 means the plan's, else 2,000.
	SLOMaxTTFTMS float64
	// Now is when the judgement is made; zero judges no date by it.
	Now time.Time
	// Journal is the state of the journal that is judged. Approvals and Anchors
	// are what C7 may rest on.
	Journal   Source
	Approvals []Approval
	Anchors   []AnchorJournal
	// PublicAnchor lets the public record vouch, as a person's word does.
	PublicAnchor bool
	// Accelerator and Service are the overlay's, such as h100 and eks.
	Accelerator, Service string
	// Clusters are the same thing's campaigns on other clusters; Pool sets it.
	Clusters []Cluster
	// BridgeAsked: floor and ceiling are to be what AIPerf reads, so that nothing is
	// written where no pair was made.
	BridgeAsked bool
	// Scaling are journals of the same thing on fewer GPUs.
	Scaling []AnchorJournal
	// Deployment is what was measured, nil where it was not stated;
	// AcceptDeploymentDiff takes what differs from the evaluator's template.
	Deployment           *recipes.Deployment
	AcceptDeploymentDiff bool
	// Compared stands for a deployment that is not at hand.
	Compared *Compared
	// FrontendBound says that the frontends, not the engines, end the curve, and
	// Frontends how many served it; 0 counts as one.
	FrontendBound bool
	Frontends     int
}

// Outcome says what a calibration came to.
type Outcome string

// The outcomes; only OutcomeOK and OutcomeSimulated may be written.
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

// A waived gate is named in the comment and in the reasons; so is C11 where the
// deployment's differences were accepted, or where it could not be verified. A
// run gate that nothing observed is neither met nor unmet.
const (
	Met        GateState = "met"
	Unmet      GateState = "unmet"
	Waived     GateState = "waived"
	Accepted   GateState = "accepted"
	Unverified GateState = "unverified"
	Unobserved GateState = "not observed"
)

// GateResult is one C gate with what was seen.
type GateResult struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	State     GateState `json:"state"`
	Observed  string    `json:"observed"`
	Threshold string    `json:"threshold"`
	Remedy    string    `json:"remedy,omitempty"`
	// noData says that the gate is unmet for want of data, not by what it saw.
	noData bool
}

// Unjudged reports whether a gate is unmet for want of data, not by what it saw.
// A gate that was read from a file does not tell.
func (g GateResult) Unjudged() bool { return g.State == Unmet && g.noData }

// Proposal is a gate with everything needed to defend it.
type Proposal struct {
	Outcome Outcome `json:"outcome"`
	// Reasons begins with what decided the outcome; then come other unmet
	// gates, waived gates, invalid runs, and what could not be observed.
	Reasons []string     `json:"reasons"`
	Gates   []GateResult `json:"gates"`
	// RunGates sums up V1 to V9 over the campaign's runs: one that fails any of
	// them was not used.
	RunGates []GateResult `json:"run_gates"`
	// Steps are the questions that led to the outcome, the last one decided.
	Steps []Step `json:"steps"`
	// Gate is what would be written, empty when there is none. It is complete
	// even where Writable is false, so that a caller can show it.
	Gate        recipes.Gate         `json:"gate"`
	Form        Form                 `json:"floor_form,omitempty"`
	Profile     Profile              `json:"floor_profile,omitempty"`
	Limits      Limits               `json:"limits"`
	CeilingMS   float64              `json:"ceiling_ms,omitempty"`
	Point       sweep.OperatingPoint `json:"operating_point"`
	Sensitivity []Sensitivity        `json:"sensitivity,omitempty"`
	// Anchor is what C7 rests on.
	Anchor AnchorResult `json:"anchor"`
	// Equivalence is what C11 rests on.
	Equivalence Equivalence `json:"equivalence"`
	// Validity is the range of GPUs that a floor per GPU was shown to hold for.
	Validity Validity `json:"valid_gpus"`
	// Bridge is how AIPerf reads what was measured, nil where it made no run.
	Bridge *Bridge `json:"bridge,omitempty"`
	// Measured medians at the operating point (gate runs).
	TokPerSecPerGPU float64 `json:"output_tok_per_s_per_gpu,omitempty"`
	TTFTP99MS       float64 `json:"ttft_p99_ms,omitempty"`
	// What the evaluator compares with, its tolerance applied.
	EffectiveFloorPerGPU      float64 `json:"effective_floor_output_tok_per_s_per_gpu,omitempty"`
	EffectiveCeilingTTFTP99MS float64 `json:"effective_ceiling_ttft_p99_ms,omitempty"`
	// Attempts at the operating point: made, usable, and stalled.
	Attempts        int `json:"attempts"`
	ValidAttempts   int `json:"valid_attempts"`
	StalledAttempts int `json:"stalled_attempts"`
	// InvalidRuns counts the runs of the whole campaign that failed a run gate.
	InvalidRuns     int    `json:"invalid_runs"`
	FingerprintHash string `json:"fingerprint_sha256,omitempty"`
	// Rule says how floor and ceiling follow from the runs; NotKnown lists what
	// a reader of the gate might take for known.
	Rule     string   `json:"rule,omitempty"`
	NotKnown []string `json:"not_known,omitempty"`
	// Comment is the overlay comment, a paragraph an element, without "# ".
	Comment []string `json:"comment,omitempty"`
	// Writable: the outcome permits --write.
	Writable bool `json:"writable"`
	// Err is a *PolicyError where the user's input, not the measurement, stands
	// in the way.
	Err error    `json:"-"`
	Fit knee.Fit `json:"-"`
}
