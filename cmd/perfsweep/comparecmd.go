package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

// compareFlags say what counts as a change.
type compareFlags struct {
	confidence, throughput, ttft float64 // percent
	across                       []string
	failOnRegression             bool
	// Of imported results, which do not tell: gpus is of both unless B has its
	// own.
	gpus, gpusB int
}

// usualChange is what counts as one unless it is said otherwise.
func usualChange() compareFlags { return compareFlags{confidence: 95, throughput: 3, ttft: 10} }

func (f *compareFlags) options() (compare.Options, error) {
	for _, v := range []struct {
		flag     string
		at       float64
		low, top float64
	}{{"confidence", f.confidence, 50, 99.99}, {"min-change", f.throughput, 0.01, 100}, {"min-ttft-change", f.ttft, 0.01, 1000}} {
		if !(v.at >= v.low && v.at <= v.top) {
			return compare.Options{}, badInputf("--%s %v: must be between %v and %v percent", v.flag, v.at, v.low, v.top)
		}
	}
	if f.gpus < 0 || f.gpus > sweep.MaxGPUs || f.gpusB < 0 || f.gpusB > sweep.MaxGPUs {
		return compare.Options{}, badInputf("--gpus and --gpus-b: must be between 1 and %d", sweep.MaxGPUs)
	}
	for _, name := range f.across {
		if !compare.Across(name) {
			return compare.Options{}, badInputf("--across %s: use one of %s; all other fields may differ anyway", name, compare.AcrossNames())
		}
	}
	return compare.Options{Confidence: f.confidence / 100, Throughput: f.throughput / 100, TTFT: f.ttft / 100}, nil
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

The fields in which the two fingerprints differ are listed: they are what is
compared. Another model, workload, effort or number of GPUs is refused unless
--across allows it.

It ends with 0 when throughput was judged, with 9 when that cannot be told, and
with --fail-on-regression also with 8 when B is worse in either metric, and with
9 when either cannot be told.`,
		Example: "  perfsweep compare before.jsonl after.jsonl\n  perfsweep compare before.jsonl after.jsonl --fail-on-regression -o json",
		Args:    exactly(2, "two FILEs, each as knee reads it"),
		RunE: func(_ *cobra.Command, args []string) error {
			o, err := f.options()
			if err != nil {
				return err
			}
			ca, cb, err := f.sides(args[0], args[1])
			if err != nil {
				return err
			}
			return a.compare(report.Comparison{NameA: args[0], NameB: args[1], A: ca, B: cb, Options: o}, f.across, f.failOnRegression)
		},
	}
	c.Flags().IntVar(&f.gpus, "gpus", 0, "GPUs that were measured, for results of AIPerf and GuideLLM, which do not tell")
	c.Flags().IntVar(&f.gpusB, "gpus-b", 0, "GPUs of B, where they are not those of A")
	c.Flags().Float64Var(&f.confidence, "confidence", f.confidence, "confidence of the intervals and verdicts, percent")
	c.Flags().Float64Var(&f.throughput, "min-change", f.throughput, "smallest change of output tok/s per GPU that matters, percent")
	c.Flags().Float64Var(&f.ttft, "min-ttft-change", f.ttft, "smallest change of TTFT p99 that matters, percent")
	c.Flags().StringSliceVar(&f.across, "across", nil, "compare although these fields of the fingerprint differ: "+compare.AcrossNames())
	c.Flags().BoolVar(&f.failOnRegression, "fail-on-regression", false, "end with 8 when B is worse, for a pipeline that gates a change")
	return c
}

// sides reads both curves. --gpus is for those that do not tell, and refused
// where there is none.
func (f *compareFlags) sides(pathA, pathB string) (sa, sb compare.Side, err error) {
	a, err := curveAt(pathA)
	if err != nil {
		return sa, sb, err
	}
	b, err := curveAt(pathB)
	if err != nil {
		return sa, sb, err
	}
	switch {
	case f.gpusB > 0 && b.tellsGPUs():
		return sa, sb, badInputf("--gpus-b: %s says itself what was measured per GPU; drop the flag", pathB)
	case f.gpus > 0 && a.tellsGPUs() && (b.tellsGPUs() || f.gpusB > 0):
		return sa, sb, badInputf("--gpus: %s says itself what was measured per GPU; drop the flag", pathA)
	}
	if sa, err = readSide(a, f.gpus); err != nil {
		return sa, sb, err
	}
	sb, err = readSide(b, cmp.Or(f.gpusB, f.gpus))
	return sa, sb, err
}

// readSide reads and fits one of the curves.
func readSide(at curveFile, gpus int) (compare.Side, error) {
	cv, notes, err := at.read(gpus)
	if err != nil {
		return compare.Side{}, err
	}
	p := sweep.DefaultPlan(sweep.Standard)
	s := compare.Side{Runs: cv.Runs, All: cv.All, Fingerprint: cv.Fingerprint, Notes: notes, Fit: knee.Find(cv.Runs, knee.Options{EStar: p.EStar})}
	s.Point = sweep.ChoosePoint(p, s.Fit, cv.All)
	return s, nil
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
	both := []compare.Verdict{r.Throughput.Verdict, r.TTFT.Verdict}
	unsure := both[:1]
	if strict {
		if slices.Contains(both, compare.Worse) {
			return verdict{exitGateFailed}
		}
		unsure = both
	}
	if slices.Contains(unsure, compare.CannotTell) || slices.Contains(unsure, compare.Absent) {
		return verdict{exitInconclusive}
	}
	return nil
}
