package knee

import (
	"math"
	"slices"
)

// Run is one valid measurement at one concurrency. A latency of 0 is absent.
type Run struct {
	ConcurrencyPerGPU int
	TokPerSecPerGPU   float64
	TTFTP50MS         float64
	TTFTP99MS         float64
	ITLMS             float64
	// ITLP99MS is no part of the fit; it is kept for whoever judges the curve by
	// an objective.
	ITLP99MS float64
}

// Status is the one answer a fit gives.
type Status string

// The statuses; Knee and LatencyLimited carry a usable knee.
const (
	Knee           Status = "knee"
	Ambiguous      Status = "knee_ambiguous"
	LatencyLimited Status = "latency_limited"
	NotSaturated   Status = "not_saturated"
	SaturatedAtMin Status = "saturated_at_min"
	Insufficient   Status = "insufficient"
)

// Level is one concurrency after cleaning.
type Level struct {
	ConcurrencyPerGPU int     `json:"concurrency_per_gpu"`
	Runs              int     `json:"runs"`
	Kept              int     `json:"kept"`
	TokPerSecPerGPU   float64 `json:"output_tok_per_s_per_gpu"` // median of kept runs
	TTFTP50MS         float64 `json:"ttft_p50_ms,omitempty"`    // median of kept runs
	TTFTP99MS         float64 `json:"ttft_p99_ms,omitempty"`    // median of kept runs
	ITLMS             float64 `json:"itl_ms,omitempty"`
	// Flags are "split" (X gap above the threshold), "ttft_split" (TTFT p99
	// gap above ×3), "valley" (dropped: below a lower and a higher level).
	Flags []string `json:"flags,omitempty"`
}

// Split reports whether throughput at the level fell into two clusters or the
// level is a valley: what O-2 calls flagged.
func (l Level) Split() bool {
	return slices.Contains(l.Flags, flagSplit) || slices.Contains(l.Flags, flagValley)
}

// Fit is the answer. Knee, KneeLow and KneeHigh are 0 where there is none.
type Fit struct {
	Status Status
	// Flags holds "unstable" when a level carries any flag.
	Flags []string
	// Knee is refined between grid points; GridKnee is the answer before that,
	// of the ten models on their grid (what a fixed-grid implementation gives).
	Knee, GridKnee    float64
	KneeLow, KneeHigh float64
	EStar             float64
	// Model is what the knee is read off, with its parameters by name: the
	// winner by AICc.
	Model  string
	Params map[string]float64
	// TiltLevel is the measured level with the largest ln X − e*·ln n.
	TiltLevel int
	// LatencyEdge is the last level before a sustained TTFT p99 step; 0 = none.
	LatencyEdge int
	// NStar is the operational-law bound X_max/(X(n1)/n1), a sanity number.
	NStar float64
	// LastElasticity is the log-log slope over the last octave.
	LastElasticity float64
	// Noise is the pooled within-level standard deviation of ln X, on DF
	// degrees of freedom, after cleaning.
	Noise   float64
	NoiseDF int
	Levels  []Level
	// Refine lists concurrencies worth measuring next, most useful first; not
	// confined to any ladder.
	Refine   []float64
	Warnings []string
	// Reasoning is how the answer came about; nil unless Options.Explain asked
	// for it, and where nothing was fitted.
	Reasoning *Reasoning

	curve func(n float64) float64
}

// TokPerSecPerGPU evaluates the fitted curve; ok is false where nothing was
// fitted.
func (f Fit) TokPerSecPerGPU(n float64) (x float64, ok bool) {
	if f.curve == nil || !(n > 0) {
		return 0, false
	}
	x = f.curve(n)
	return x, x > 0 && !math.IsInf(x, 1)
}

// HasKnee reports whether the status carries a usable knee.
func (f Fit) HasKnee() bool { return f.Status == Knee || f.Status == LatencyLimited }
