package report

import (
	"fmt"
	"text/tabwriter"

	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

// objective prints what became of goodput and of the concurrency up to which an
// objective is met; nothing without one.
func (c Comparison) objective(p *printer) {
	o, r := c.Objective, c.Report
	if o.IsZero() {
		return
	}
	if r.Goodput != nil {
		p.line("goodput within %s, tok/s per GPU: %s", limits(o), c.sentence(*r.Goodput, c.Options.Throughput))
	}
	for _, s := range []struct {
		name string
		slo  sweep.SLO
	}{{"A", c.A.SLO}, {"B", c.B.SLO}} {
		p.line("objective %s: in %s %s", limits(o), s.name, verdictOf(s.slo))
	}
	if r.SLORatio > 0 {
		p.line("B meets it up to ×%.2f of the concurrency of A, ×%.2f to ×%.2f by their own intervals", r.SLORatio, r.SLOLow, r.SLOHigh)
	}
}

// goodput prints the goodput of each level.
func (p *printer) goodput(r compare.Report) {
	if r.Goodput == nil || len(r.Levels) == 0 || p.err != nil {
		return
	}
	tw := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "per GPU\truns\tgood tok/s/GPU A\tB\tchange\tp*\t\t")
	for _, l := range r.Levels {
		g := l.Goodput
		fmt.Fprintf(tw, "%d\t%d+%d\t%s\t%s\t%s\t%.2g\t%s\t\n", l.ConcurrencyPerGPU, g.RunsA, g.RunsB, number(g.MedianA), number(g.MedianB), change(g), g.Corrected, g.Verdict)
	}
	p.err = tw.Flush()
}

// objectiveDoc is an objective with its units.
type objectiveDoc struct {
	TTFTP99MS float64 `json:"ttft_p99_ms,omitempty"`
	ITLP99MS  float64 `json:"itl_p99_ms,omitempty"`
}

// compareObjective is what JSON tells of an objective.
type compareObjective struct {
	Objective objectiveDoc `json:"limits"`
	// Verdict and Goodput are absent unless both sides counted goodput.
	Verdict compare.Verdict `json:"goodput_verdict,omitempty"`
	Goodput *changeDoc      `json:"good_output_tok_per_s_per_gpu,omitempty"`
	A       sweep.SLO       `json:"slo_a"`
	B       sweep.SLO       `json:"slo_b"`
	// Shift is of the concurrencies up to which it is met.
	Shift *kneeShift `json:"slo_concurrency,omitempty"`
}

func (c Comparison) objectiveDoc() *compareObjective {
	o, r := c.Objective, c.Report
	if o.IsZero() {
		return nil
	}
	d := &compareObjective{Objective: objectiveDoc{o.TTFTMS, o.ITLMS}, A: c.A.SLO, B: c.B.SLO}
	if r.Goodput != nil {
		g := changed(*r.Goodput)
		d.Verdict, d.Goodput = r.Goodput.Verdict, &g
	}
	if r.SLORatio > 0 {
		d.Shift = &kneeShift{r.SLORatio, r.SLOLow, r.SLOHigh}
	}
	return d
}
