package recipes

import (
	"strings"
	"testing"
)

func TestInputsOf(t *testing.T) {
	env := func(kv ...string) map[string]string { return AICREnv(kv) }
	const model, load = "AICR_INFERENCE_PERF_MODEL=env/model", "AICR_INFERENCE_PERF_CONCURRENCY_PER_GPU=32"
	for name, c := range map[string]struct {
		g    Gate
		env  map[string]string
		want Inputs
	}{
		"nothing":         {Gate{}, nil, Inputs{"Qwen/Qwen3-8B", FromDefault, 256, FromDefault}},
		"environment":     {Gate{}, env(model, load), Inputs{"env/model", FromEnv, 32, FromEnv}},
		"recipe wins":     {Gate{Model: "a/b", ConcurrencyPerGPU: 128}, env(model, load), Inputs{"a/b", FromRecipe, 128, FromRecipe}},
		"each by itself":  {Gate{Model: "a/b"}, env(load), Inputs{"a/b", FromRecipe, 32, FromEnv}},
		"blank variables": {Gate{}, env("AICR_INFERENCE_PERF_MODEL= ", "AICR_INFERENCE_PERF_CONCURRENCY_PER_GPU="), Inputs{"Qwen/Qwen3-8B", FromDefault, 256, FromDefault}},
		"others' names":   {Gate{}, env("MODEL=x", "AICR_INFERENCE_PERF_MODELS=y"), Inputs{"Qwen/Qwen3-8B", FromDefault, 256, FromDefault}},
	} {
		if got, err := InputsOf(c.g, c.env); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
	for _, bad := range []string{"AICR_INFERENCE_PERF_CONCURRENCY_PER_GPU=0", "AICR_INFERENCE_PERF_CONCURRENCY_PER_GPU=many", "AICR_INFERENCE_PERF_MODEL=a b"} {
		name, _, _ := strings.Cut(bad, "=")
		if _, err := InputsOf(Gate{Model: "a/b", ConcurrencyPerGPU: 128}, env(bad)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
