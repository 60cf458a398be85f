package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

// compareFlags say what counts as a change.
type compareFlags struct {
	confidence, throughput, minTTFT float64 // percent
	across                          []string
	failOnRegression                bool
	// Of imported results, which do not tell: gpus is of both unless B has its
	// own.
	gpus, gpusB int
	objectiveFlags
}

// usualChange is what counts as one unless it is said otherwise.
func usualChange() compareFlags { return compareFlags{confidence: 95, throughput: 3, minTTFT: 10} }

func (f *compareFlags) options(changed func(string) bool) (compare.Options, error) {
	for _, v := range []struct {
		flag     string
		at       float64
		low, top float64
	}{{"confidence", f.confidence, 50, 99.99}, {"min-change", f.throughput, 0.01, 100}, {"min-ttft-change", f.minTTFT, 0.01, 1000}} {
		if !(v.at >= v.low && v.at <= v.top) {
			return compare.Options{}, badInputf("--%s %v: must be between %v and %v percent", v.flag, v.at, v.low, v.top)
		}
	}
	for flag, n := range map[string]int{"gpus": f.gpus, "gpus-b": f.gpusB} {
		if changed(flag) && (n < 1 || n > sweep.MaxGPUs) {
			return compare.Options{}, badInputf("--%s %d: must be between 1 and %d", flag, n, sweep.MaxGPUs)
		}
	}
	for _, name := range f.across {
		if !compare.Across(name) {
			return compare.Options{}, badInputf("--across %s: use one of %s; all other fields may differ anyway", name, compare.AcrossNames())
		}
	}
	return compare.Options{Confidence: f.confidence / 100, Throughput: f.throughput / 100, TTFT: f.minTTFT / 100}, nil
}

func (a *app) compareCmd() *cobra.Command {
	f := usualChange()
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Say what moved between two journals or curves, with an interval",
		Long: `compare holds B against A, each a file or folder that knee reads, at the
levels that both have: Hodges–Lehmann shift of output tok/s per GPU and of TTFT
p99 as a ratio, with its exact interval and the exact Mann–Whitney p value over
all levels together; then each level, corrected for their number, A's operating
point, and the knees. "cannot tell" comes with the number of runs that it takes.

Where both were measured with the same objective, the goodput within it is held
against each other as well, and so are the concurrencies up to which it is met.
--ttft-p99 and --itl-p99 name an objective for curves that were measured without:
their percentiles tell up to where it is met, but not the goodput.

The fields in which the two fingerprints differ are listed: they are what is
compared. Another model, workload, effort or number of GPUs is refused unless
--across allows it.

It ends with 0 when throughput, and goodput if it was counted, were judged, with 9
when that cannot be told, and with --fail-on-regression also with 8 when B is
worse in any metric, and with 9 when any cannot be told.`,
		Example: "  perfsweep compare before.jsonl after.jsonl\n  perfsweep compare before.jsonl after.jsonl --fail-on-regression -o json",
		Args:    exactly(2, "two FILEs, each as knee reads it"),
		RunE: func(cc *cobra.Command, args []string) error {
			o, err := f.options(cc.Flags().Changed)
			if err != nil {
				return err
			}
			c := report.Comparison{NameA: args[0], NameB: args[1], Options: o, Objective: f.objective()}
			if err := f.read(&c); err != nil {
				return err
			}
			return a.compare(c, f.across, f.failOnRegression)
		},
	}
	c.Flags().IntVar(&f.gpus, "gpus", 0, "GPUs that were measured, for results of AIPerf and GuideLLM, which do not tell")
	c.Flags().IntVar(&f.gpusB, "gpus-b", 0, "GPUs of B, where they are not those of A")
	c.Flags().Float64Var(&f.confidence, "confidence", f.confidence, "confidence of the intervals and verdicts, percent")
	c.Flags().Float64Var(&f.throughput, "min-change", f.throughput, "smallest change of output tok/s per GPU that matters, percent")
	c.Flags().Float64Var(&f.minTTFT, "min-ttft-change", f.minTTFT, "smallest change of TTFT p99 that matters, percent")
	f.objectiveFlags.bind(c.Flags())
	c.Flags().StringSliceVar(&f.across, "across", nil, "compare although these fields of the fingerprint differ: "+compare.AcrossNames())
	c.Flags().BoolVar(&f.failOnRegression, "fail-on-regression", false, "end with 8 when B is worse, for a pipeline that gates a change")
	return c
}

// read reads both curves. --gpus is for those that do not tell, and refused
// where there is none. Without flags the objective is the one that both were
// measured with.
func (f *compareFlags) read(c *report.Comparison) (err error) {
	var at [2]curveFile
	for i, path := range []string{c.NameA, c.NameB} {
		if at[i], err = curveAt(path); err != nil {
			return err
		}
	}
	switch a, b := at[0], at[1]; {
	case f.gpusB > 0 && b.tellsGPUs():
		return badInputf("--gpus-b: %s says itself what was measured per GPU; drop the flag", b.path)
	case f.gpus > 0 && a.tellsGPUs() && (b.tellsGPUs() || f.gpusB > 0):
		return badInputf("--gpus: %s says itself what was measured per GPU; drop the flag", a.path)
	}
	var curves [2]report.Curve
	var notes [2][]string
	for i, gpus := range []int{f.gpus, cmp.Or(f.gpusB, f.gpus)} {
		if curves[i], notes[i], err = at[i].read(gpus); err != nil {
			return err
		}
	}
	a, b := measuredObjective(curves[0].All), measuredObjective(curves[1].All)
	if c.Objective.IsZero() && a == b {
		c.Objective = a
	}
	c.A, c.B = sideOf(curves[0], notes[0], c.Objective), sideOf(curves[1], notes[1], c.Objective)
	return nil
}

// sideOf fits one of the curves.
func sideOf(cv report.Curve, notes []string, o loadgen.Objective) compare.Side {
	p := sweep.DefaultPlan(sweep.Standard)
	s := compare.Side{Runs: cv.Runs, All: cv.All, Fingerprint: cv.Fingerprint, Notes: notes, Fit: knee.Find(cv.Runs, knee.Options{EStar: p.EStar})}
	s.Point = sweep.ChoosePoint(p, s.Fit, cv.All)
	if o.IsZero() {
		return s
	}
	s.SLO = sweep.JudgeSLO(o, cv.All)
	if cv.Fingerprint != nil {
		s.Good = sweep.Curve{Fingerprint: *cv.Fingerprint, Runs: cv.All}.GoodRuns(o)
	}
	return s
}

// compare judges two curves and prints the verdict.
func (a *app) compare(c report.Comparison, across []string, strict bool) error {
	var err error
	if c.Differences, err = sameThing(c.A, c.B, across); err != nil {
		return err
	}
	if c.Report, err = compare.Curves(c.A, c.B, c.Options); err != nil {
		return badInput(err)
	}
	if c.Objective.IsZero() && measuredObjective(c.A.All) != measuredObjective(c.B.All) {
		c.Report.Warnings = append(c.Report.Warnings, "A and B were measured with different objectives, so goodput is not compared; --ttft-p99 and --itl-p99 judge both by one")
	}
	c.Next = afterComparison(c.Report, c.NameA, c.NameB, across)
	return a.printComparison(c, strict)
}

// printComparison prints what was found and turns it into an exit code.
func (a *app) printComparison(c report.Comparison, strict bool) error {
	render := report.CompareText
	switch a.output {
	case "json":
		render = report.CompareJSON
	case "csv":
		render = report.CompareCSV
	}
	if err := render(a.out, c); err != nil {
		return err
	}
	return compareVerdict(c.Report, strict)
}

// sameThing lists what differs, or refuses what would be no comparison.
func sameThing(a, b compare.Side, across []string) ([]string, error) {
	if a.Fingerprint == nil || b.Fingerprint == nil {
		return nil, nil
	}
	fields, blocked := compare.Differences(*a.Fingerprint, *b.Fingerprint, across)
	if len(blocked) > 0 {
		return nil, badInputf("A and B are not comparable: they differ in %s (%s); if that is what you want to compare, add --across %s",
			strings.Join(blocked, ", "), strings.Join(fields, "; "), strings.Join(blocked, ","))
	}
	return fields, nil
}

// compareVerdict is the exit code of a comparison.
func compareVerdict(r compare.Report, strict bool) error {
	unsure := []compare.Verdict{r.Throughput.Verdict}
	if r.Goodput != nil {
		unsure = append(unsure, r.Goodput.Verdict)
	}
	if strict {
		if unsure = append(unsure, r.TTFT.Verdict); slices.Contains(unsure, compare.Worse) {
			return verdict{exitGateFailed}
		}
	}
	if slices.Contains(unsure, compare.CannotTell) || slices.Contains(unsure, compare.Absent) {
		return verdict{exitInconclusive}
	}
	return nil
}
