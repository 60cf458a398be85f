package sweep

import (
	"fmt"
	"math"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
)

// Plan is everything that decides which runs are made; it is recorded in the
// journal, and a resumed campaign must have an equal one (see Diff).
type Plan struct {
	Effort Effort `json:"effort"`
	// Levels fixes the concurrencies per GPU; empty means the adaptive ladder.
	Levels []int `json:"levels,omitempty"`
	// MaxConcurrencyPerGPU is the upper end of the adaptive ladder.
	MaxConcurrencyPerGPU int `json:"max_concurrency_per_gpu"`
	// Repeats is the number of passes over the levels, default 2.
	Repeats int `json:"repeats"`
	// Point, when set, proves this concurrency per GPU instead of searching
	// for one (O-4).
	Point int `json:"point,omitempty"`
	// Confirm adds the confirmation at the operating point.
	Confirm bool `json:"confirm"`
	// Window, from 2, confirms the point of the first window again, later or on
	// another deployment, and measures nothing else. It is that of one command
	// and no part of the campaign.
	Window int `json:"window,omitempty"`
	// Reconfirm makes fewer attempts at Point, as many as a check: they are held
	// against the runs that a gate rests on, and none is derived from them.
	Reconfirm bool `json:"reconfirm,omitempty"`
	// Check re-measures Point only: 3 valid attempts of at most 5.
	Check bool `json:"check,omitempty"`
	// PulseAt and PulseRuns add a capacity pulse to a check: this many valid
	// steady runs at this concurrency per GPU; see Curve.PulseBase.
	PulseAt   int `json:"pulse_at,omitempty"`
	PulseRuns int `json:"pulse_runs,omitempty"`
	// MinWatch keeps a check watching until its runs have lasted this long in
	// total: set when the endpoint stood still before any load.
	MinWatch time.Duration `json:"min_watch_ns,omitempty"`
	// EStar, SLOMaxTTFTMS: see knee.Options and O-2.
	EStar        float64 `json:"e_star"`
	SLOMaxTTFTMS float64 `json:"slo_max_ttft_ms"`
	// Objective, when set, is located on the curve and bounds the operating
	// point; see SLO.
	Objective loadgen.Objective `json:"objective,omitzero"`
	// MaxRuns bounds the runs before the confirmation, MaxWall the summed time
	// of all runs: they end a campaign that does not converge. 0 MaxWall = no
	// bound.
	MaxRuns int           `json:"max_runs"`
	MaxWall time.Duration `json:"max_wall_ns,omitempty"`
	Seed    uint64        `json:"seed"`
}

const (
	defaultEStar = 0.20
	minEStar     = 0.05
	maxEStar     = 0.5
	defaultSLOMS = 2000
	maxRepeats   = 20
	// DefaultMaxRuns ends a sweep that does not converge (knee.md §13, A7).
	DefaultMaxRuns = 40
	// MaxRunsBound is the most runs that a plan may ask for.
	MaxRunsBound = 10_000
)

// DefaultUpperEnd is where an adaptive sweep ends, per GPU, when nothing is
// known of the server (knee.md §17).
const DefaultUpperEnd = 512

// DefaultPlan returns the adaptive plan of an effort, without confirmation.
func DefaultPlan(e Effort) Plan {
	return Plan{
		Effort:               e,
		MaxConcurrencyPerGPU: DefaultUpperEnd,
		Repeats:              2,
		EStar:                defaultEStar,
		SLOMaxTTFTMS:         defaultSLOMS,
		MaxRuns:              DefaultMaxRuns,
		Seed:                 1,
	}
}

// Validate says what is wrong with a plan, and what would be right.
func (p Plan) Validate() error {
	switch p.Effort {
	case Quick, Standard, Full:
	default:
		return fmt.Errorf("effort %q is unknown; use quick, standard or full", p.Effort)
	}
	last := 0
	for _, n := range p.Levels {
		if n < minLevel || n > maxLevel {
			return fmt.Errorf("level %d is outside %d..%d per GPU", n, minLevel, maxLevel)
		}
		if n <= last {
			return fmt.Errorf("level %d follows level %d; list each level once, ascending", n, last)
		}
		last = n
	}
	if p.MaxConcurrencyPerGPU < minLevel || p.MaxConcurrencyPerGPU > maxLevel {
		return fmt.Errorf("upper end %d is outside %d..%d per GPU", p.MaxConcurrencyPerGPU, minLevel, maxLevel)
	}
	if err := p.validatePoint(); err != nil {
		return err
	}
	if p.Repeats < 1 || p.Repeats > maxRepeats {
		return fmt.Errorf("%s over the levels: use 1..%d", plural.Of(p.Repeats, "pass"), maxRepeats)
	}
	if !(p.EStar >= minEStar && p.EStar <= maxEStar) {
		return fmt.Errorf("e* = %v is outside %v..%v", p.EStar, minEStar, maxEStar)
	}
	if !(p.SLOMaxTTFTMS > 0) || math.IsInf(p.SLOMaxTTFTMS, 1) {
		return fmt.Errorf("largest healthy TTFT p99 of %v ms: give a positive number of milliseconds", p.SLOMaxTTFTMS)
	}
	if err := p.Objective.Validate(); err != nil {
		return err
	}
	if p.MaxRuns < 1 || p.MaxRuns > MaxRunsBound {
		return fmt.Errorf("at most %s: use 1..%d", plural.Of(p.MaxRuns, "run"), MaxRunsBound)
	}
	if p.MaxWall < 0 || p.MinWatch < 0 {
		return fmt.Errorf("a negative duration (%v, %v) bounds nothing", p.MaxWall, p.MinWatch)
	}
	return nil
}

func (p Plan) validatePoint() error {
	switch {
	case p.Point < 0 || p.Point > maxLevel:
		return fmt.Errorf("point %d is outside %d..%d per GPU", p.Point, minLevel, maxLevel)
	case p.Check && p.Point == 0:
		return fmt.Errorf("a check needs the concurrency per GPU to check")
	case p.PulseAt < 0 || p.PulseAt > maxLevel || p.PulseRuns < 0 || p.PulseRuns > maxRepeats || (p.PulseAt > 0) != (p.PulseRuns > 0):
		return fmt.Errorf("a pulse of %s at %d per GPU: use 1..%d runs at %d..%d", plural.Of(p.PulseRuns, "run"), p.PulseAt, maxRepeats, minLevel, maxLevel)
	case p.PulseAt > 0 && !p.Check:
		return fmt.Errorf("only a check takes a pulse")
	case p.Check && p.Confirm:
		return fmt.Errorf("a check has no confirmation; ask for one of the two")
	case p.Reconfirm && (p.Point == 0 || !p.Confirm || p.Window > 1):
		return fmt.Errorf("a gate is confirmed again at its own point, in the first window of a campaign")
	case p.Window < 0 || p.Window > MaxWindow:
		return fmt.Errorf("window %d is outside 1..%d", p.Window, MaxWindow)
	case p.Window > 1 && !p.Confirm:
		return fmt.Errorf("window %d confirms a point, and nothing is to be confirmed", p.Window)
	case p.Point > 0 && len(p.Levels) > 0:
		return fmt.Errorf("levels and a point exclude each other: a point is proved against its half and the next ladder value only")
	case p.Point > 0 && !p.Check && p.Point < 2:
		return fmt.Errorf("a point of %d cannot be proved: its half cannot be measured", p.Point)
	case p.Point > 0 && !p.Check && LadderNext(p.Point) == 0:
		return fmt.Errorf("a point of %d cannot be proved: nothing above it can be measured", p.Point)
	}
	return nil
}
