package loadgen

import (
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/internal/plural"
)

const (
	// inputTolerance is V4's tolerance of output lengths, applied to inputs.
	inputTolerance = 0.02
	// cachedTolerance is the share of cached prompt tokens above which prompts
	// that should all be new are said not to be.
	cachedTolerance = 0.01
)

// remarks says where a run's requests were not those that were asked for.
// Output lengths are run gate V4's business where the server owes them.
func (w *Workload) remarks(r *Result) []string {
	var out []string
	if r.Measured[OK] == 0 {
		return nil
	}
	asked, got := r.RequestedPromptTokens, r.PromptTokensPerRequest
	switch {
	case got <= 0:
		out = append(out, "the server told no prompt tokens: the input length that was measured is not known")
	case asked > 0 && math.Abs(got/asked-1) > inputTolerance:
		out = append(out, fmt.Sprintf("prompts had %.1f tokens where %.1f were asked for, chat template included (%+.1f %%): the input is not the workload's",
			got, asked, 100*(got/asked-1)))
	}
	if asked, got := r.RequestedOutputTokens, r.OutputTokensPerRequest; !w.spec.IgnoreEOS && asked > 0 && got < (1-inputTolerance)*asked {
		out = append(out, fmt.Sprintf("answers had %.1f of %.1f output tokens: without ignore_eos their length is the model's own", got, asked))
	}
	if r.RepeatedPrompts > 0 {
		out = append(out, fmt.Sprintf("%s repeated prompts of the campaign: %s has only %d", plural.Of(r.RepeatedPrompts, "request"), w.spec.File, len(w.lines)))
	}
	if text := w.cacheRemark(r); text != "" {
		out = append(out, text)
	}
	return out
}

// cacheRemark speaks up when prompts that should be new came from the server's
// cache. A chat template and a shared prefix may; a pool repeats by intent.
func (w *Workload) cacheRemark(r *Result) string {
	if r.CachedTokensTold == 0 || w.spec.ReusePrompts || w.spec.Pool > 0 || r.PromptTokensPerRequest <= 0 {
		return ""
	}
	template := float64(w.overhead)
	expected := template + w.spec.SharedPrefix*max(0, r.PromptTokensPerRequest-template)
	if r.CachedTokensPerRequest-expected <= cachedTolerance*r.PromptTokensPerRequest {
		return ""
	}
	return fmt.Sprintf("%.0f %% of the prompt tokens came from the server's prefix cache, %.0f %% were expected: has it seen these prompts before? Use another --seed, or clear its cache",
		100*r.CachedTokensPerRequest/r.PromptTokensPerRequest, 100*expected/r.PromptTokensPerRequest)
}
