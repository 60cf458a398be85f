package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// milliseconds is the value of a flag: a plain number, for a unit that is taken
// for another is worse than none.
type milliseconds float64

func (m *milliseconds) String() string { return strconv.FormatFloat(float64(*m), 'g', -1, 64) }

func (m *milliseconds) Type() string { return "MS" }

func (m *milliseconds) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v == 0 || (loadgen.Objective{TTFTMS: v}).Validate() != nil {
		return errors.New("must be a number of milliseconds above 0 and up to 1e7, without a unit, such as 500")
	}
	*m = milliseconds(v)
	return nil
}

// objectiveFlags limit the latency of answers.
type objectiveFlags struct{ ttft, itl milliseconds }

func (o *objectiveFlags) bind(f *pflag.FlagSet) {
	f.Var(&o.ttft, "ttft-p99", "objective: largest TTFT p99 in ms. It is located on the curve, beside the knee, and may lower the operating point but never raise it")
	f.Var(&o.itl, "itl-p99", "objective: largest ITL p99 in ms, over requests; the ITL of one is (E2E - TTFT)/(tokens - 1)")
}

func (o *objectiveFlags) objective() loadgen.Objective {
	return loadgen.Objective{TTFTMS: float64(o.ttft), ITLMS: float64(o.itl)}
}

// refuseObjective: a journal keeps the objective it was measured with.
func (c *campaign) refuseObjective() error {
	for _, f := range []string{"ttft-p99", "itl-p99"} {
		if c.changed(f) {
			return badInputf("--%s needs --target: goodput is counted while the requests are there, so %s keeps the objective it was measured with; %q judges its percentiles by another",
				f, c.flags.journal, "perfsweep knee "+c.flags.journal+" --"+f+" MS")
		}
	}
	return nil
}

// measuredObjective is what the runs of a journal were measured with.
func measuredObjective(runs []sweep.Run) loadgen.Objective {
	for _, r := range runs {
		if g := r.Result.Goodput; g != nil {
			return g.Objective
		}
	}
	return loadgen.Objective{}
}

// goodShare is a run's part within the objective, for its line of talk.
func goodShare(r loadgen.Result) string {
	if r.Goodput == nil {
		return ""
	}
	return fmt.Sprintf(", ITL p99 %.1f ms, %.1f %% of requests within the objective", r.Estimate().ITLP99MS, 100*r.Goodput.Share)
}

// objectiveOf is what a curve says of an objective, nil where there is none.
func objectiveOf(o loadgen.Objective, runs []sweep.Run, gpus int) *report.Objective {
	if o.IsZero() {
		return nil
	}
	return &report.Objective{SLO: sweep.JudgeSLO(o, runs), Goodput: sweep.GoodputLevels(o, runs, gpus)}
}
