package report

import (
	"fmt"
	"io"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// Calibration is a proposal with the edit that it makes.
type Calibration struct {
	Curve    sweep.Curve
	Proposal calibrate.Proposal
	Overlay  string
	// Reconfirm is how the gate so far compares with the runs, nil unless asked.
	Reconfirm *calibrate.Reconfirmation
	Made      bool   // there was no Overlay before
	Shipped   string // the overlay that Overlay is a candidate of, "" if none
	Diff      string
	Wrote     bool
	Sidecar   string // written with it
	Upstream  []recipes.Need
	// Objective is nil where none was given.
	Objective *Objective
	// Findings and Stalls are those of Curve.
	Findings []observe.Finding
	Stalls   []Stall
	// Explain adds how the decision came about.
	Explain bool
	// Next is the command that comes next, "" for none.
	Next string
}

// CalibrationText prints the decision first, then the curve, the gates on the
// data, the arithmetic, and the diff.
func CalibrationText(w io.Writer, c Calibration) error {
	p := &printer{w: w}
	r := c.Proposal
	p.head(decision(c))
	if c.Wrote {
		p.line("  what it rests on is in %s", c.Sidecar)
	}
	for _, s := range r.Reasons {
		p.line("  %s", s)
	}
	p.line("")
	p.head(answer(Curve{Fit: r.Fit, Point: r.Point, All: c.Curve.Runs}))
	p.curve(r.Fit, r.Point)
	p.fit(r.Fit)
	if r.Point.ConcurrencyPerGPU > 0 { // else the reasons say why there is none
		p.line("%s", r.Point.Sentence())
	}
	p.objective(c.Objective, r.Point)
	p.bottlenecks(c.Findings, r.Fit.Knee)
	p.invalid(c.Curve.Runs)
	p.stalls(c.Stalls)
	if !c.Explain {
		p.gates(r.Gates)
	}
	p.limits(r)
	p.sensitivity(r.Sensitivity)
	if c.Explain {
		p.explain(r.Fit)
		p.whole(r)
	}
	if c.Diff != "" {
		p.line("")
		if !c.Wrote {
			p.line("not written:")
		}
		p.raw(c.Diff + "\n")
	}
	switch {
	case c.Shipped != "" && c.Wrote:
		p.line("a candidate: %s is left as it is, and holds until AICR is given the folder with --data", c.Shipped)
	case c.changed():
		p.line("what AICR's repository needs besides this edit:")
		for _, n := range c.Upstream {
			p.line("  %s: %s", n.What, n.How)
		}
	}
	p.next(c.Next)
	return p.err
}

// changed reports whether the overlay is another one now.
func (c Calibration) changed() bool { return c.Wrote && c.Diff != "" }

// decision is the first line.
func decision(c Calibration) string {
	r := c.Proposal
	switch {
	case c.Wrote && c.Diff == "" && c.Made:
		return fmt.Sprintf("%s: made %s, with the gate that %s holds already", r.Outcome, c.Overlay, c.Shipped)
	case c.Wrote && c.Diff == "":
		return fmt.Sprintf("%s: %s already holds this gate", r.Outcome, c.Overlay)
	case c.Wrote:
		return fmt.Sprintf("%s: wrote %s at %d per GPU", r.Outcome, c.Overlay, r.Point.ConcurrencyPerGPU)
	case r.Writable:
		return fmt.Sprintf("%s: the gate at %d per GPU may be written; add --write", r.Outcome, r.Point.ConcurrencyPerGPU)
	}
	return fmt.Sprintf("%s: %s is left as it is", r.Outcome, c.Overlay)
}

// gates prints a line a gate, and for an unmet one what was wanted and what to do.
func (p *printer) gates(gates []calibrate.GateResult) {
	if len(gates) == 0 {
		return
	}
	p.line("")
	for _, g := range gates {
		p.line("%-4s %-10s  %s: %s", g.ID, g.State, g.Name, g.Observed)
	}
	for _, g := range gates {
		if g.State == calibrate.Unmet && g.Observed != calibrate.NoGateRun {
			p.line("  %s wants %s; %s", g.ID, g.Threshold, g.Remedy)
		}
	}
}

func (p *printer) limits(r calibrate.Proposal) {
	l := r.Limits
	if l.Runs == 0 {
		return
	}
	p.line("")
	p.line("at %d per GPU, %d gate runs on %s: median %s tok/s per GPU, TTFT p99 %s ms", r.Point.ConcurrencyPerGPU, l.Runs, count(l.Deployments, "deployment"), number(r.TokPerSecPerGPU), number(r.TTFTP99MS))
	p.line("floors: portable %s, regression %s tok/s per GPU (tolerance limit %s; s within %.1f %%, between %.1f %% %s)",
		number(l.Portable), number(l.Regression), number(l.L), 100*l.SW, 100*l.SB, l.SBBasis)
	g := r.Gate
	switch {
	case g.FloorPerGPU > 0:
		p.line("written floor (%s) %s tok/s per GPU; the evaluator's 10 %% makes it %s", r.Profile, number(g.FloorPerGPU), number((1-recipes.Tolerance)*g.FloorPerGPU))
	case g.Floor > 0:
		p.line("written floor (%s) %s tok/s for a full node; the evaluator's 10 %% makes it %s", r.Profile, number(g.Floor), number((1-recipes.Tolerance)*g.Floor))
	}
	if g.CeilingTTFTP99MS > 0 {
		p.line("written TTFT p99 ceiling %s ms; the evaluator's 10 %% makes it %s", number(g.CeilingTTFTP99MS), number((1+recipes.Tolerance)*g.CeilingTTFTP99MS))
	}
}

func (p *printer) sensitivity(ss []calibrate.Sensitivity) {
	if len(ss) == 0 {
		return
	}
	p.line("")
	p.line("what this gate would catch: how fast the loss reads, how often one run of AICR's catches it, and check with a capacity pulse:")
	p.line("  reads  one run  check")
	for _, s := range ss {
		p.line("  %3.0f %%    %3.0f %%  %3.0f %%  %s", 100*s.Ratio, 100*s.Caught, 100*s.CheckCaught, s.Loss)
	}
}
