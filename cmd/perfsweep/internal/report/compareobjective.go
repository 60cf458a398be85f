package report

import (
	"fmt"

	"github.com/perfsweep/perfsweep/loadgen"
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
	switch g := r.Goodput; {
	case g == nil:
	case g.Verdict == compare.Absent:
		p.line("goodput within %s: no request of either side was good at a level that both measured, which is no verdict", limits(o))
	default:
		p.line("goodput within %s, tok/s per GPU: %s", limits(o), c.sentence(*g, c.Options.Throughput))
	}
	for _, s := range []struct {
		name string
		slo  sweep.SLO
	}{{"A", c.A.SLO}, {"B", c.B.SLO}} {
		p.line("objective %s: in %s %s", limits(o), s.name, verdictOf(s.slo))
	}
	if r.SLORatio > 0 {
		low, high := fmt.Sprintf("×%.2f", r.SLOLow), fmt.Sprintf("×%.2f", r.SLOHigh)
		if r.SLOLowOpen {
			low = "below " + low
		}
		if r.SLOHighOpen {
			high = "above " + high
		}
		p.line("B meets it up to ×%.2f of the concurrency of A, %s to %s by their own intervals", r.SLORatio, low, high)
	}
}

// sloShift is a kneeShift whose ends may lie beyond.
type sloShift struct {
	kneeShift
	LowOpen  bool `json:"low_open,omitempty"`
	HighOpen bool `json:"high_open,omitempty"`
}

// compareObjective is what JSON tells of an objective.
type compareObjective struct {
	Objective loadgen.Objective `json:"limits"`
	// Verdict and Goodput are absent unless both sides counted goodput.
	Verdict compare.Verdict `json:"goodput_verdict,omitempty"`
	Goodput *changeDoc      `json:"good_output_tok_per_s_per_gpu,omitempty"`
	A       sweep.SLO       `json:"slo_a"`
	B       sweep.SLO       `json:"slo_b"`
	// Shift is of the concurrencies up to which it is met.
	Shift *sloShift `json:"slo_concurrency,omitempty"`
}

func (c Comparison) objectiveDoc() *compareObjective {
	o, r := c.Objective, c.Report
	if o.IsZero() {
		return nil
	}
	d := &compareObjective{Objective: o, A: c.A.SLO, B: c.B.SLO}
	if r.Goodput != nil {
		g := changed(*r.Goodput)
		d.Verdict, d.Goodput = r.Goodput.Verdict, &g
	}
	if r.SLORatio > 0 {
		d.Shift = &sloShift{kneeShift{r.SLORatio, r.SLOLow, r.SLOHigh}, r.SLOLowOpen, r.SLOHighOpen}
	}
	return d
}
