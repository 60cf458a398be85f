package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
)

// sweepFlags choose what is measured, beyond measureFlags.
type sweepFlags struct {
	levels   []int
	maxN     int
	repeats  int
	eStar    float64
	maxRuns  int
	foretell bool // --plan
	objectiveFlags
}

func (s *sweepFlags) plan(m *measureFlags, changed func(string) bool) (sweep.Plan, error) {
	e, err := m.effortValue()
	if err != nil {
		return sweep.Plan{}, err
	}
	p := sweep.DefaultPlan(e)
	if err := checkEStar(s.eStar); err != nil {
		return p, err
	}
	p.Levels = s.levels
	p.EStar, p.SLOMaxTTFTMS, p.MaxWall = s.eStar, m.sloTTFTMS, m.maxWall
	p.MaxConcurrencyPerGPU, p.Repeats, p.MaxRuns = s.maxN, s.repeats, s.maxRuns
	p.Objective = s.objective()
	if changed("max-concurrency-per-gpu") && s.maxN < 1 {
		return p, badInputf("--max-concurrency-per-gpu %d: must be at least 1", s.maxN)
	}
	if s.maxRuns < 1 || s.maxRuns > sweep.MaxRunsBound {
		return p, badInputf("--max-runs %d: must be between 1 and %d", s.maxRuns, sweep.MaxRunsBound)
	}
	if changed("seed") {
		p.Seed = m.seed
	}
	return p, nil
}

func (s *sweepFlags) bind(c *cobra.Command) {
	f := c.Flags()
	s.objectiveFlags.bind(f)
	f.BoolVar(&s.foretell, "plan", false, "say what the campaign would take and measure nothing")
	f.IntSliceVar(&s.levels, "levels", nil, "concurrencies per GPU to measure, such as 8,16,32 (default: adaptive)")
	f.IntVar(&s.maxN, "max-concurrency-per-gpu", 0, fmt.Sprintf("upper end of the adaptive sweep (default: two times the batch cap of a GPU where the server publishes it, from %d to %d; else %d)",
		lowestUpperEnd, highestUpperEnd, sweep.DefaultUpperEnd))
	f.IntVar(&s.repeats, "repeats", 2, "runs per level")
	f.IntVar(&s.maxRuns, "max-runs", sweep.DefaultMaxRuns, "end the sweep after this many runs, those of the journal included and a confirmation not, and report what is known")
	f.Float64Var(&s.eStar, "e-star", 0.20, "the knee is where one more percent of concurrency buys this many percent of throughput")
}

func (a *app) sweepCmd() *cobra.Command {
	var m measureFlags
	var s sweepFlags
	var ab abFlags
	c := &cobra.Command{
		Use:   "sweep --target T [--gpus G]",
		Short: "Measure throughput and latency against concurrency per GPU",
		Long: `sweep measures the curve: it climbs in powers of two, stops where more load
stops helping, repeats in random order, refines around the knee, and prints the
curve with the knee. It ends with 0 when there is a usable knee and with 9 when
there is none. With --journal every run is kept as it is made.

Each line of progress says what comes next and why, and how many runs and how
much time are probably still to come. --max-runs and --max-wall bound a sweep:
what is known when they are spent is reported, and the journal can go on with
more. With --ab a run of both targets counts once.

With --ttft-p99 or --itl-p99 it also says up to which concurrency that objective
is met, with an interval, and what was served within it (goodput). The exit code
stays the knee's.

` + configHelp + `

` + planHelp + `

` + metricsHelp + `

` + deployHelp + `

` + abHelp,
		Example: "  perfsweep sweep --target http://127.0.0.1:8000 --gpus 4 --journal sweep.jsonl\n" +
			"  perfsweep sweep --target http://old:8000 --ab http://new:8000 --gpus 4 --journal bump.jsonl --label image=1.0 --ab-label image=1.1",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := s.plan(&m, c.Flags().Changed)
			if err != nil {
				return err
			}
			cam := &campaign{app: a, flags: &m, changed: c.Flags().Changed, plan: p, model: m.model}
			switch {
			case a.flagsOnly:
				return cam.judgeFlags()
			case s.foretell && ab.asked(c.Flags().Changed):
				return badInputf("--plan foretells a campaign on one target: drop --ab; measuring two takes twice the time")
			case s.foretell:
				return cam.foretell(c.Context(), 0)
			case ab.asked(c.Flags().Changed):
				return a.sweepAB(c.Context(), cam, ab)
			}
			return a.runSweep(c.Context(), cam)
		},
	}
	m.bind(c.Flags())
	s.bind(c)
	ab.bind(c.Flags())
	return c
}

func (a *app) runSweep(ctx context.Context, cam *campaign) error {
	curve, d, err := cam.measure(ctx)
	if err != nil {
		return err
	}
	fit := curve.Fit()
	if curve.Rejudged != "" {
		fit.Warnings = append(fit.Warnings, curve.Rejudged)
	}
	if cold := sweep.WarmingUp(curve.Runs); cold != "" {
		fit.Warnings = append(fit.Warnings, cold)
	}
	if err := a.printCurve(report.Curve{
		Runs: curve.Points(), Fit: fit, Point: d.Point, Fingerprint: &curve.Fingerprint,
		Preflight: &curve.Preflight, All: curve.Runs, Reason: d.Reason,
		Objective: objectiveOf(curve.Plan.Objective, curve.Runs, curve.Fingerprint.GPUs),
		Findings:  attribute(curve.Runs, curve.Fingerprint.GPUs), Stalls: stalls(curve.Runs),
		Next: afterSweep(fit.Status, d, curve, cam.flags.journal),
	}); err != nil {
		return err
	}
	if d.Unstable() {
		return verdict{exitInconclusive}
	}
	return kneeVerdict(fit.Status)
}

// kneeVerdict is the exit code of a command whose answer is a knee.
func kneeVerdict(s knee.Status) error {
	if s == knee.Knee || s == knee.LatencyLimited {
		return nil
	}
	return verdict{exitInconclusive}
}

func (a *app) printCurve(c report.Curve) error {
	switch a.output {
	case "json":
		return report.CurveJSON(a.out, c)
	case "csv":
		return report.CurveCSV(a.out, c)
	}
	return report.CurveText(a.out, c)
}
