package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

const dynamoPlatform = "dynamo-platform"

// checkInputs resolves model and load with AICR's precedence, below --model.
func (f *checkFlags) checkInputs(g recipes.Gate, model string) (recipes.Inputs, error) {
	in, err := recipes.InputsOf(g, recipes.AICREnv(os.Environ()))
	if err != nil {
		return in, badInput(err)
	}
	if model != "" {
		in.Model, in.ModelFrom = model, "--model"
	}
	return in, nil
}

// emulate asks what AICR would conclude from the runs of a check.
func (f *checkFlags) emulateAICR(ov *recipes.Overlay, r *report.CheckReport) error {
	if !f.emulate {
		return nil
	}
	chain, err := resolveOverlay(f.recipes, f.overlay, ov)
	if err != nil {
		return err
	}
	in := recipes.AICRInput{Components: chain.Components(), Env: recipes.AICREnv(os.Environ())}
	for _, c := range chain.Checks {
		in.Checks = append(in.Checks, c.Name)
	}
	for _, c := range chain.Constraints {
		in.Constraints = append(in.Constraints, recipes.Constraint{Name: c.Name, Value: c.Value})
	}
	a := &report.AICR{Runs: map[recipes.AICRStatus]int{}}
	if open := chain.Open(); len(open) > 0 {
		a.Unknown = append(a.Unknown, "what a file that is not here would add: "+open[0])
		if !slices.Contains(in.Components, dynamoPlatform) {
			a.Unknown = append(a.Unknown, dynamoPlatform+" is taken to be a component")
			in.Components = append(in.Components, dynamoPlatform)
		}
	}
	gates := gateRuns(r.Curve)
	for _, m := range gates {
		m.GPUsPerNode, in.Measured = f.nodeGPUs, m
		a.Runs[recipes.EmulateAICR(in).Status]++
	}
	in.Measured = recipes.Measured{
		TokPerSec: r.Result.TokPerSecPerGPU * float64(r.Curve.Fingerprint.GPUs), TTFTP99MS: r.Result.TTFTP99MS, GPUs: r.Curve.Fingerprint.GPUs, GPUsPerNode: f.nodeGPUs,
	}
	a.Numbers = fmt.Sprintf("the median of %s", plural(r.Result.Valid, "valid gate run"))
	if r.Result.Valid == 0 && len(gates) > 0 {
		in.Measured, a.Numbers = gates[0], "the first gate run, as none is valid: AICR looks at no validity"
		in.Measured.GPUsPerNode = f.nodeGPUs
	}
	a.Outcome = recipes.EmulateAICR(in)
	if a.Outcome.Benchmarked && r.Result.Valid == 0 && len(gates) == 0 {
		a.Outcome, a.Numbers = recipes.AICROutcome{Stdout: []string{}, Notes: []string{}}, "nothing was measured, and AICR would measure"
	}
	r.AICR = a
	return nil
}

// gateRuns are the readings that AICR's protocol gives, valid or not.
func gateRuns(c sweep.Curve) []recipes.Measured {
	var out []recipes.Measured
	for _, run := range c.Runs {
		if run.Step.Kind == loadgen.Gate && run.Step.Purpose == sweep.Check {
			w := run.Result.WholeRun
			out = append(out, recipes.Measured{TokPerSec: w.OutputTokPerSec, TTFTP99MS: w.TTFTP99MS, GPUs: c.Fingerprint.GPUs})
		}
	}
	return out
}
