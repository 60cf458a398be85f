package report

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/plot"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// Objective is what a curve says of an objective, beside its knee.
type Objective struct {
	SLO     sweep.SLO
	Goodput []sweep.GoodputLevel
}

// objective prints where the objective stops being met, what was served within
// it, and what became of the operating point; nothing without an objective.
func (p *printer) objective(o *Objective, op sweep.OperatingPoint) {
	if o == nil {
		return
	}
	p.line("")
	p.line("objective %s: %s", limits(o.SLO.Objective), verdictOf(o.SLO))
	switch n := op.ConcurrencyPerGPU; {
	case op.Bound == "objective" && n > 0:
		p.line("the objective, not the knee, holds the operating point at %d per GPU", n)
	case n > 0 && o.SLO.State == sweep.SLOMet, n > 0 && o.SLO.State == sweep.SLOCrossed:
		p.line("the operating point stays at %d per GPU: an objective never raises it", n)
	case n > 0 && o.SLO.State == sweep.SLOInsufficient:
		p.line("the operating point at %d per GPU is not held against it, so no gate can be made there", n)
	case o.SLO.State == sweep.SLONotMet:
		p.line("no operating point: none meets the objective")
	}
	for _, s := range o.SLO.Notes {
		p.line("  %s", s)
	}
	p.within(o)
}

func limits(o loadgen.Objective) string {
	var parts []string
	if o.TTFTMS > 0 {
		parts = append(parts, fmt.Sprintf("TTFT p99 ≤ %s ms", number(o.TTFTMS)))
	}
	if o.ITLMS > 0 {
		parts = append(parts, fmt.Sprintf("ITL p99 ≤ %s ms", number(o.ITLMS)))
	}
	return strings.Join(parts, " and ")
}

// verdictOf says the state in a sentence.
func verdictOf(s sweep.SLO) string {
	missed := map[string]string{"ttft_p99": "TTFT", "itl_p99": "ITL"}[s.Binding]
	switch s.State {
	case sweep.SLOCrossed:
		return fmt.Sprintf("met up to %.3g per GPU (90%% interval %s), crossed between %d and %d by %s", s.ConcurrencyPerGPU, ends(s), s.LevelMet, s.LevelMissed, missed)
	case sweep.SLOMet:
		return fmt.Sprintf("met at every level, so up to at least %.3g per GPU (90%% interval %s)", s.ConcurrencyPerGPU, ends(s))
	case sweep.SLONotMet:
		return fmt.Sprintf("not met at %d per GPU, the lowest level, by %s", s.LevelMissed, missed)
	}
	return "cannot be judged: " + s.Reason
}

// ends are those of the interval; an open one lies at the end of the levels.
func ends(s sweep.SLO) string {
	low, high := fmt.Sprintf("%.3g", s.Low), fmt.Sprintf("%.3g", s.High)
	if s.LowOpen {
		low = "below " + low
	}
	if s.HighOpen {
		high = "above " + high
	}
	return low + " to " + high
}

// within prints what each level was judged by and what it served in time.
func (p *printer) within(o *Objective) {
	if len(o.SLO.Levels) == 0 || p.err != nil {
		return
	}
	served := map[int]sweep.GoodputLevel{}
	var without int64
	for _, g := range o.Goodput {
		served[g.ConcurrencyPerGPU] = g
		without += g.WithoutITL
	}
	head := "per GPU\truns\tTTFT p99 ms\tITL p99 ms\t"
	if len(served) > 0 {
		head += "good requests/s/GPU\tgood tok/s/GPU\tgood share\t"
	}
	tw := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, head)
	for _, l := range o.SLO.Levels {
		row := fmt.Sprintf("%d\t%d\t%s\t%s\t", l.ConcurrencyPerGPU, l.Runs, number(l.TTFTP99MS), number(l.ITLP99MS))
		if g, ok := served[l.ConcurrencyPerGPU]; ok {
			row += fmt.Sprintf("%.3g\t%s\t%.1f %%\t", g.RequestsPerSecPerGPU, plot.Group(fmt.Sprintf("%.0f", g.TokPerSecPerGPU)), 100*g.Share)
		}
		fmt.Fprintln(tw, row)
	}
	p.err = tw.Flush()
	if len(served) > 0 {
		p.line("good: ended well and within every limit (goodput); the share is of all requests, failed ones included")
	}
	for _, g := range o.Goodput {
		if g.Windows > 1 {
			p.line("%d per GPU was measured in %s; the lowest share of one is %.1f %%, in window %d", g.ConcurrencyPerGPU, plural.Of(g.Windows, "window"), 100*g.LowestShare, g.LowestWindow)
		}
	}
	if without > 0 {
		p.line("%s had one token and so no ITL: %s judged by TTFT alone", plural.Of(without, "answer"), plural.Verb(without, "it was", "they were"))
	}
}
