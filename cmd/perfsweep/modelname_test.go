package main

import (
	"testing"

	"github.com/perfsweep/perfsweep/recipes"
)

// Whoever named the model is said.
func TestModelNamedBy(t *testing.T) {
	for want, c := range map[string]campaign{
		"as --model says":             {flags: &measureFlags{model: "m"}, model: "m"},
		"as the overlay says":         {flags: &measureFlags{}, model: "m", modelFrom: "as the overlay says"},
		"the only one that is served": {flags: &measureFlags{}},
		"perfsweep.yaml:3:5":          {flags: &measureFlags{model: "m"}, model: "m", app: &app{config: &usedConfig{from: map[string]string{"model": "perfsweep.yaml:3:5"}}}},
	} {
		if c.app == nil {
			c.app = &app{}
		}
		if got := c.namedBy(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for from, want := range map[string]string{
		recipes.FromRecipe: "as the overlay says", recipes.FromEnv: "as AICR_INFERENCE_PERF_MODEL says", recipes.FromDefault: "AICR's default", "--model": "as --model says",
	} {
		if got := modelNamedBy(recipes.Inputs{ModelFrom: from}); got != want {
			t.Errorf("%s: %q, want %q", from, got, want)
		}
	}
}

func TestWhyUpperEnd(t *testing.T) {
	for twice, want := range map[int]string{1: "the least", 31: "the least", 32: "two times the cap of a GPU", 1024: "two times the cap of a GPU", 1025: "the most without --max-concurrency-per-gpu"} {
		if got := whyUpperEnd(twice); got != want {
			t.Errorf("%d: %q, want %q", twice, got, want)
		}
	}
}
