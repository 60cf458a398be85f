package sweep

import "time"

// Plan is everything that decides which runs are made; it is recorded in the
// journal, and a resumed campaign must have an equal one.
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
	// Check re-measures Point only: 3 valid attempts of at most 5.
	Check bool `json:"check,omitempty"`
	// MinWatch keeps a check watching until its runs have lasted this long in
	// total: set when the endpoint stood still before any load.
	MinWatch time.Duration `json:"min_watch_ns,omitempty"`
	// EStar, SLOMaxTTFTMS: see knee.Options and O-2.
	EStar        float64 `json:"e_star"`
	SLOMaxTTFTMS float64 `json:"slo_max_ttft_ms"`
	// MaxRuns and MaxWall end a campaign that does not converge; 0 MaxWall =
	// no bound.
	MaxRuns int           `json:"max_runs"`
	MaxWall time.Duration `json:"max_wall_ns,omitempty"`
	Seed    uint64        `json:"seed"`
}
