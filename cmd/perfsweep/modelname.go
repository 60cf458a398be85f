package main

import "github.com/perfsweep/perfsweep/recipes"

// namedBy says where the name of the model comes from.
func (c *campaign) namedBy() string {
	switch {
	case c.config != nil && c.config.from["model"] != "":
		return c.config.from["model"]
	case c.flags.model != "":
		return "as --model says"
	case c.model == "":
		return "the only one that is served"
	}
	return c.modelFrom
}

// modelNamedBy says where the name of a check's model comes from.
func modelNamedBy(in recipes.Inputs) string {
	switch in.ModelFrom {
	case recipes.FromRecipe:
		return "as the overlay says"
	case recipes.FromEnv:
		return "as AICR_INFERENCE_PERF_MODEL says"
	case recipes.FromDefault:
		return "AICR's default"
	}
	return "as --model says"
}
