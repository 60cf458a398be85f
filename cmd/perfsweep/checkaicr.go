package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/internal/plural"
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
	chain, err := f.data.resolve(f.recipes, f.overlay, ov)
	if err != nil {
		return err
	}
	a := &report.AICR{Runs: map[recipes.AICRStatus]int{}}
	in := recipes.AICRInput{Components: chain.Components(), Env: recipes.AICREnv(os.Environ())}
	for _, c := range chain.Checks {
		in.Checks = append(in.Checks, c.Name)
	}
	if name := ov.Twice(); name != "" {
		a.Unknown = append(a.Unknown, name+" stands in one file twice: the later one is taken here, and which one AICR's merge keeps could not be read")
	}
	for _, c := range chain.Constraints {
		in.Constraints = append(in.Constraints, recipes.Constraint{Name: c.Name, Value: c.Value})
	}
	if open := chain.Open(); len(open) > 0 {
		a.Unknown = append(a.Unknown, "what a file that is not here would add: "+open[0])
		if !slices.Contains(in.Components, dynamoPlatform) {
			a.Unknown = append(a.Unknown, dynamoPlatform+" is taken to be a component")
			in.Components = append(in.Components, dynamoPlatform)
		}
	}
	if b := r.Result.Bridge; b != nil {
		a.Unknown = append(a.Unknown, fmt.Sprintf("AICR measures with AIPerf, and these numbers are perfsweep's: where the gate was made AIPerf read x%.4f of the throughput and x%.3f of the TTFT p99",
			b.ThroughputRatio, b.TTFTRatio))
	}
	gates := gateRuns(r.Curve)
	for _, m := range gates {
		m.GPUsPerNode, in.Measured = f.nodeGPUs, m
		a.Runs[recipes.EmulateAICR(in).Status]++
	}
	in.Measured = recipes.Measured{
		TokPerSec: r.Result.TokPerSecPerGPU * float64(r.Curve.Fingerprint.GPUs), TTFTP99MS: r.Result.TTFTP99MS, GPUs: r.Curve.Fingerprint.GPUs, GPUsPerNode: f.nodeGPUs,
	}
	a.Numbers = fmt.Sprintf("the median of %s", plural.Of(r.Result.Valid, "valid gate run"))
	if r.Result.Valid == 0 && len(gates) > 0 {
		in.Measured, a.Numbers = gates[0], "the first gate run, as none was judged: AICR looks at no validity"
		in.Measured.GPUsPerNode = f.nodeGPUs
	}
	a.Outcome = recipes.EmulateAICR(in)
	if a.Outcome.Benchmarked && r.Result.Valid == 0 && len(gates) == 0 {
		a.Outcome, a.Numbers = recipes.AICROutcome{Stdout: []string{}, Notes: []string{}}, "nothing was measured, and AICR would measure"
	}
	r.AICR = a
	return nil
}

// emulateRefused adds what AICR would conclude where perfsweep refuses the gate
// or AICR's environment: AICR takes a NaN, a name twice and a unit that it does not
// read. It never measures for that, and the refusal stays.
func (f *checkFlags) emulateRefused(cam *campaign, file overlayFile, r *report.CheckReport, refused error) error {
	if !f.emulate || file.src == nil {
		return refused
	}
	ov, err := recipes.ReadAsAICR(f.overlay, file.src)
	if err != nil { // AICR cannot read it either
		return refused
	}
	r.Result = calibrate.CheckResult{Verdict: calibrate.Inconclusive, Reasons: []string{"refused here: " + refused.Error()}}
	if cam.flags.journal != "" {
		if _, err := regularFile(cam.flags.journal); err == nil {
			c, err := readJournal(cam.flags.journal)
			if err != nil {
				return err
			}
			r.Curve = c
		}
	}
	if err := f.emulateAICR(ov, r); err != nil && err.Error() != refused.Error() { // a chain is refused twice, and told once
		return errors.Join(refused, err)
	}
	return refused
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
