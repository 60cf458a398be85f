package sweep

import (
	"context"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
)

// Ladder is the half-octave ladder of concurrencies per GPU.
var Ladder = []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024}

// Decision is what a planner says next.
type Decision struct {
	Done bool
	Step Step
	// When done: the operating point (0 = none), and the sentence saying why.
	Point  OperatingPoint
	Reason string
}

// OperatingPoint is the answer of rules O-1 to O-4.
type OperatingPoint struct {
	ConcurrencyPerGPU int `json:"concurrency_per_gpu,omitempty"`
	// Basis is "knee", "latency_limited", "proved", "lower_bound" or "".
	Basis string `json:"basis,omitempty"`
	// Bound names the active bound: "0.8_knee", "sqrt2_knee_low",
	// "next_level_unhealthy", "latency_edge", "slo".
	Bound string `json:"bound,omitempty"`
	// Next is the ladder value above; Measure is set when it must be measured
	// before the point may be used.
	Next    int  `json:"next,omitempty"`
	Measure bool `json:"-"`
	// Healthy reports whether the point is proved usable; Reason says why not.
	Healthy bool   `json:"healthy"`
	Reason  string `json:"reason,omitempty"`
}

// NextStep is the planner: pure, deterministic in (plan, runs).
func NextStep(p Plan, runs []Run) Decision { panic("not built") }

// ChoosePoint applies O-1 to O-4 to a fit.
func ChoosePoint(p Plan, fit knee.Fit, runs []Run) OperatingPoint { panic("not built") }

// DefaultPlan returns the plan of an effort.
func DefaultPlan(e Effort) Plan { panic("not built") }

// Points are the valid steady runs of a curve as the estimator wants them.
func (c Curve) Points() []knee.Run { panic("not built") }

// Fit is knee.Find over Points.
func (c Curve) Fit() knee.Fit { panic("not built") }

// Limits returns what a step of an effort must reach at n streams in total.
// e2e is the expected request latency, for the ramp.
func (e Effort) Limits(s Step, totalStreams int) loadgen.Limits { panic("not built") }

// Validate applies run gates V2, V3, V4, V6 and V8 to a result; medianRatio is
// the campaign's own median of got/requested output tokens (0 = not yet known).
func Validate(r loadgen.Result, w loadgen.WorkloadSpec, medianRatio, sloMaxTTFTMS float64) []Violation {
	panic("not built")
}

// Campaign runs a plan.
type Campaign struct {
	Curve   Curve
	Journal *Journal // nil = in memory only
	// Measure makes one run.
	Measure func(ctx context.Context, s Step, firstRequest uint64) (loadgen.Result, error)
	// Notify, when set, hears of every step before and after it is run.
	Notify func(Event)
}

// Event tells a human where a campaign is.
type Event struct {
	Step Step
	Run  *Run // nil before the run
	Done int  // runs so far
}

// Run continues the campaign until the planner is done or ctx ends.
func (c *Campaign) Run(ctx context.Context) (Decision, error) { panic("not built") }

// Journal is an open journal file.
type Journal struct{}

// ReadJournal reads a journal; a torn last line is tolerated, other damage is
// an error that names the line.
func ReadJournal(path string) (Curve, error) { panic("not built") }

// CreateJournal starts a new journal; it fails if path exists and is not empty.
func CreateJournal(path string, head Curve) (*Journal, error) { panic("not built") }

// ResumeJournal opens path for appending, cutting a torn last line off.
func ResumeJournal(path string) (*Journal, Curve, error) { panic("not built") }
