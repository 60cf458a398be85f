package loadgen

import (
	"strings"
	"testing"
)

// told is a run whose requests were as asked for, but for what change does.
func told(change func(*Result)) *Result {
	r := &Result{
		Measured:              Outcomes{OK: 1000},
		RequestedPromptTokens: 135, PromptTokensPerRequest: 135,
		RequestedOutputTokens: 128, OutputTokensPerRequest: 128,
	}
	change(r)
	return r
}

func TestRemarks(t *testing.T) {
	unique := WorkloadSpec{Name: Synthetic, ISL: 128, OSL: 128, IgnoreEOS: true}
	natural, shared, pool, reused := unique, unique, unique, unique
	natural.IgnoreEOS = false
	shared.SharedPrefix = .5
	pool.Pool = 10
	reused.ReusePrompts = true
	cached := func(tokens float64) func(*Result) {
		return func(r *Result) { r.CachedTokensTold, r.CachedTokensPerRequest = 1000, tokens }
	}
	for _, c := range []struct {
		name   string
		spec   WorkloadSpec
		change func(*Result)
		want   string // "" = nothing to say
	}{
		{"as asked", unique, func(*Result) {}, ""},
		{"input just inside", unique, func(r *Result) { r.PromptTokensPerRequest = 137.6 }, ""},
		{"input too long", unique, func(r *Result) { r.PromptTokensPerRequest = 138 }, "prompts had 138.0 tokens where 135.0 were asked for"},
		{"input too short", unique, func(r *Result) { r.PromptTokensPerRequest = 132 }, "(-2.2 %)"},
		{"input never asked for", unique, func(r *Result) { r.RequestedPromptTokens, r.PromptTokensPerRequest = 0, 500 }, ""},
		{"no prompt tokens told", unique, func(r *Result) { r.PromptTokensPerRequest = 0 }, "told no prompt tokens"},
		{"short answers are V4's", unique, func(r *Result) { r.OutputTokensPerRequest = 60 }, ""},
		{"short answers of the model's own", natural, func(r *Result) { r.OutputTokensPerRequest = 60 }, "answers had 60.0 of 128.0"},
		{"nothing cached", unique, cached(0), ""},
		{"the template cached", unique, cached(7), ""},
		{"the template and a percent", unique, cached(8.3), ""},
		{"prompts cached", unique, cached(128), "95 % of the prompt tokens came from the server's prefix cache, 5 % were expected"},
		{"the shared half cached", shared, cached(71), ""},
		{"more than the shared half", shared, cached(100), "came from the server's prefix cache, 53 %"},
		{"a pool is meant to repeat", pool, cached(128), ""},
		{"reuse was asked for", reused, cached(128), ""},
		{"no answer at all", unique, func(r *Result) { *r = Result{} }, ""},
		{"a file came to its end", unique, func(r *Result) { r.RepeatedPrompts = 3 }, "3 requests repeated"},
	} {
		w, err := NewWorkload(c.spec, Preflight{WordsPerToken: 1, OverheadTokens: 7})
		if err != nil {
			t.Fatal(err)
		}
		got := w.remarks(told(c.change))
		if c.want == "" && len(got) == 0 {
			continue
		}
		if len(got) != 1 || c.want == "" || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q, want one with %q", c.name, got, c.want)
		}
	}
}
