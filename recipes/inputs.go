package recipes

import "fmt"

// Where an input of a check comes from.
const (
	FromRecipe  = "recipe"
	FromEnv     = "environment"
	FromDefault = "default"
)

// Inputs are what a check measures, and where each comes from.
type Inputs struct {
	Model             string `json:"model"`
	ModelFrom         string `json:"model_from"`
	ConcurrencyPerGPU int    `json:"concurrency_per_gpu"`
	ConcurrencyFrom   string `json:"concurrency_from"`
}

// InputsOf resolves them with AICR's precedence: the recipe, then AICR's
// environment (as AICREnv gives it), then AICR's default. The error names a
// variable that AICR would refuse, even where the recipe overrules it; no input
// comes with it.
func InputsOf(g Gate, env map[string]string) (Inputs, error) {
	const modelVar, loadVar = envPrefix + "MODEL", envPrefix + "CONCURRENCY_PER_GPU"
	in := Inputs{defaultModel, FromDefault, defaultConcurrency, FromDefault}
	model, p := readModel(env[modelVar])
	if p != nil {
		return Inputs{}, fmt.Errorf("%s: %s; %s", modelVar, p.msg, p.remedy)
	}
	load, p := readCount(env[loadVar])
	if p != nil {
		return Inputs{}, fmt.Errorf("%s: %s; %s", loadVar, p.msg, p.remedy)
	}
	if model != "" {
		in.Model, in.ModelFrom = model, FromEnv
	}
	if load > 0 {
		in.ConcurrencyPerGPU, in.ConcurrencyFrom = load, FromEnv
	}
	if g.Model != "" {
		in.Model, in.ModelFrom = g.Model, FromRecipe
	}
	if g.ConcurrencyPerGPU > 0 {
		in.ConcurrencyPerGPU, in.ConcurrencyFrom = g.ConcurrencyPerGPU, FromRecipe
	}
	return in, nil
}
