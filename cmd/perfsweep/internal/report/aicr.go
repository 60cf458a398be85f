package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/recipes"
)

// AICR is what AICR's evaluator would conclude from the runs of a check.
type AICR struct {
	Numbers string                     `json:"numbers"` // which ones it was given
	Outcome recipes.AICROutcome        `json:"outcome"` // Status is empty where nothing was measured
	Runs    map[recipes.AICRStatus]int `json:"single_runs"`
	Unknown []string                   `json:"unknown,omitempty"`
}

// differs says whether the two conclusions are not the same.
func (a *AICR) differs(v calibrate.Verdict) bool {
	switch v {
	case calibrate.Pass:
		return a.Outcome.Status != recipes.AICRPassed
	case calibrate.Fail:
		return a.Outcome.Status != recipes.AICRFailed || a.Outcome.Code != recipes.CodeInternal
	}
	return true // AICR has no verdict that is neither
}

// aicr prints the conclusion of AICR's evaluator. Its lines are indented, so
// that no RESULT: line begins one of ours.
func (p *printer) aicr(a *AICR, v calibrate.Verdict) {
	if a == nil {
		return
	}
	o := a.Outcome
	switch {
	case o.Status == "":
		p.line("AICR's evaluator: %s", a.Numbers)
		return
	case o.Benchmarked:
		p.line("AICR's evaluator on the same numbers (%s): %s; its container ends with %d, aicr validate with %d", a.Numbers, o.Status, o.ContainerExit, o.ValidateExit)
	default:
		p.line("AICR's evaluator, before it measures: %s; its container ends with %d, aicr validate with %d", o.Status, o.ContainerExit, o.ValidateExit)
	}
	for _, l := range o.Stdout {
		p.line("  | %s", l)
	}
	if o.Message != "" {
		p.line("  | %s", o.Message)
	}
	if a.differs(v) {
		p.line("  differs: the verdict here is %s", v)
	}
	for _, n := range o.Notes {
		p.line("  note: %s", n)
	}
	for _, n := range a.Unknown {
		p.line("  not known: %s", n)
	}
	if len(a.Runs) > 0 && o.Benchmarked {
		var parts []string
		for _, s := range slices.Sorted(maps.Keys(a.Runs)) {
			parts = append(parts, strconv.Itoa(a.Runs[s])+" "+string(s))
		}
		p.line("  AICR makes one run; of the gate runs here, each alone: %s", strings.Join(parts, ", "))
	}
}

// inputs says what was asked for and why.
func (p *printer) inputs(in recipes.Inputs) {
	if in.ConcurrencyPerGPU > 0 {
		p.line("checked: %s (%s), %d per GPU (%s)", in.Model, from(in.ModelFrom), in.ConcurrencyPerGPU, from(in.ConcurrencyFrom))
	}
}

func from(where string) string {
	switch where {
	case recipes.FromRecipe:
		return "from the recipe"
	case recipes.FromEnv:
		return "from AICR_INFERENCE_PERF_*: the recipe pins none"
	case recipes.FromDefault:
		return "AICR's default: the recipe pins none"
	}
	return "from " + where
}
