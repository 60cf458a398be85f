package main

import (
	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
)

func (a *app) kneeCmd() *cobra.Command {
	var eStar, slo float64
	var of objectiveFlags
	var gpus int
	var explain bool
	c := &cobra.Command{
		Use:   "knee FILE",
		Short: "Find the knee of a curve that was measured; measures nothing",
		Long: `knee fits a journal of perfsweep, or a CSV with the header
concurrency_per_gpu,output_tok_per_s_per_gpu,ttft_p50_ms,ttft_p99_ms[,itl_ms][,itl_p99_ms]
(one row a run, several rows a level), or what other tools measured: an artifact
folder of AIPerf 0.13 or a folder with several (profile_export_aiperf.json, one a
run), or the JSON of GuideLLM 0.8. Those do not tell the GPUs: give --gpus. It
ends with 0 for the statuses knee and latency_limited and with 9 for every other
one.

With --explain it also prints the candidate models with their errors, the level
by level evidence, every decision with its numbers and what the interval is made
of; -o json has the same under "explain".

With --ttft-p99 or --itl-p99 it also says up to which concurrency that objective
is met, judged by the percentiles in FILE; a journal that was measured with an
objective needs no flag, and has goodput as well. The exit code stays the knee's.`,
		Example: "  perfsweep knee sweep.jsonl\n  perfsweep knee curve.csv -o json\n  perfsweep knee curve.csv --explain\n  perfsweep knee artifacts/ --gpus 8",
		Args:    exactly(1, "one FILE: a journal, a CSV, a folder of AIPerf or a report of GuideLLM"),
		RunE: func(c *cobra.Command, args []string) error {
			opt := knee.Options{EStar: eStar, Explain: explain}
			if explain && a.output == "csv" {
				return badInputf("--explain has no CSV form; use -o text or -o json")
			}
			if err := checkEStar(eStar); err != nil {
				return err
			}
			if err := checkSLO(slo); err != nil {
				return err
			}
			if c.Flags().Changed("gpus") && (gpus < 1 || gpus > sweep.MaxGPUs) {
				return badInputf("--gpus %d: must be between 1 and %d", gpus, sweep.MaxGPUs)
			}
			cv, notes, err := readCurve(args[0], gpus)
			if err != nil {
				return err
			}
			cv.Fit, cv.Explain = knee.Find(cv.Runs, opt), explain
			cv.Fit.Warnings = append(cv.Fit.Warnings, notes...)
			p := sweep.DefaultPlan(sweep.Standard)
			p.EStar, p.SLOMaxTTFTMS = eStar, slo
			if p.Objective = of.objective(); p.Objective.IsZero() {
				p.Objective = measuredObjective(cv.All)
			}
			cv.Point = sweep.ChoosePoint(p, cv.Fit, cv.All)
			gpus := 1
			if cv.Fingerprint != nil {
				gpus = cv.Fingerprint.GPUs
			}
			cv.Findings, cv.Stalls = attribute(cv.All, gpus), stalls(cv.All)
			cv.Objective = objectiveOf(p.Objective, cv.All, gpus)
			cv.Next = afterKnee(cv, args[0])
			if err := a.printCurve(cv); err != nil {
				return err
			}
			return kneeVerdict(cv.Fit.Status)
		},
	}
	c.Flags().IntVar(&gpus, "gpus", 0, "GPUs that were measured, for results of AIPerf and GuideLLM, which do not tell")
	c.Flags().Float64Var(&eStar, "e-star", 0.20, "elasticity of throughput at the knee, 0.05 to 0.5")
	of.bind(c.Flags())
	c.Flags().BoolVar(&explain, "explain", false, "also print why this model, this knee, this status and this interval")
	c.Flags().Float64Var(&slo, "slo-ttft-ms", 2000, "largest TTFT p99 that counts as healthy")
	return c
}

// checkEStar refuses 0 as well, which stands for the default in an option and
// for nothing in a flag.
func checkEStar(e float64) error {
	if err := (knee.Options{EStar: e}).Validate(); err != nil {
		return badInputf("--e-star: %w", err)
	}
	if e == 0 {
		return badInputf("--e-star 0: must be between 0.05 and 0.5")
	}
	return nil
}
