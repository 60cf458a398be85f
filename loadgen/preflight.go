package loadgen

import "context"

// Preflight is what was learned of an endpoint before any load.
type Preflight struct {
	Models []string `json:"models,omitempty"`
	Model  string   `json:"model"`
	// WordsPerToken is the calibrated length of a prompt word in tokens'
	// inverse: ISL tokens are reached with ISL × WordsPerToken words, after
	// the chat template's OverheadTokens.
	WordsPerToken  float64 `json:"words_per_token"`
	OverheadTokens float64 `json:"overhead_tokens"`
	// Token totals of the probes, so that the campaign's total can be compared
	// with the server's own counter.
	OutputTokens int64 `json:"output_tokens"`
	PromptTokens int64 `json:"prompt_tokens"`
	Requests     int64 `json:"requests"`
	// TTFTMS and E2EMS are those of the last, warm probe; SlowestTTFTMS is the
	// largest of all probes (a cold start or a stall before any load).
	TTFTMS        float64  `json:"ttft_ms"`
	E2EMS         float64  `json:"e2e_ms"`
	SlowestTTFTMS float64  `json:"slowest_ttft_ms"`
	Warnings      []string `json:"warnings,omitempty"`
}

// RunPreflight lists the models, picks one (cfg.Model, or the only one there
// is), checks that it streams with usage, warms it with a few probes at
// concurrency 1 and calibrates prompt length. An unreachable endpoint, a model
// that is not served and an answer without usage are errors.
func RunPreflight(ctx context.Context, cfg Config, spec WorkloadSpec) (Preflight, error) {
	panic("not built")
}
