package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
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
	// Clusters is from how many clusters the gate is, 0 where it is from one campaign.
	Clusters int
	// Ended is what the planner said last, and Unchecked what of the inherited chain
	// could not be looked at. Both are among the Reasons too.
	Ended     string
	Unchecked []string
	// Next is the command that comes next, "" for none.
	Next string
}

// CalibrationText prints the decision, why, the gate with what it rests on, the
// knee, what limits, what is not known, and the diff, each thing once.
func CalibrationText(w io.Writer, c Calibration) error {
	p := &printer{w: w}
	r := c.Proposal
	p.head(decision(c))
	p.why(c)
	p.line("")
	if c.pointed() {
		p.line("%s", c.point())
	}
	p.limits(c)
	p.bridge(r.Bridge)
	p.head(answer(Curve{Fit: r.Fit, Point: proved(r.Point), All: c.Curve.Runs}))
	p.curve(r.Fit, r.Point)
	p.fit(r.Fit)
	p.objective(c.Objective, r.Point)
	p.bottlenecks(c.Findings, r.Fit.Knee)
	p.invalid(c.Curve.Runs)
	p.stalls(c.Stalls)
	if c.Explain {
		p.explain(r.Fit)
		p.whole(r, c.Curve.Runs)
	} else {
		p.gates(r.Gates)
	}
	p.sensitivity(r.Sensitivity)
	p.unknown(c)
	p.change(c)
	if c.Next != "" && c.Diff == "" { // which ends with a blank line
		p.line("")
	}
	p.next(c.Next)
	return p.err
}

// proved is a point that the knee rests on; any other was said before it.
func proved(op sweep.OperatingPoint) sweep.OperatingPoint {
	if op.Basis == "proved" {
		return op
	}
	return sweep.OperatingPoint{}
}

// change prints the edit, and what it needs elsewhere.
func (p *printer) change(c Calibration) {
	if c.Diff != "" {
		p.line("")
		if !c.Wrote {
			p.line("not written:")
		}
		p.raw(c.Diff + "\n")
	}
	switch {
	case c.Shipped != "" && c.Wrote:
		p.line("a candidate: %s is unchanged, and holds until AICR is given the folder with --data", c.Shipped)
	case c.changed():
		p.line("what AICR's repository needs besides this edit:")
		for _, n := range c.Upstream {
			p.line("  %s: %s", n.What, n.How)
		}
	}
}

// changed reports whether the overlay is another one now.
func (c Calibration) changed() bool { return c.Wrote && c.Diff != "" }

// pointed reports whether the operating point has a line; without one the first
// line has said why.
func (c Calibration) pointed() bool {
	op := c.Proposal.Point
	return op.ConcurrencyPerGPU > 0 && (op.Reason == "" || !strings.Contains(deciding(c.Proposal), op.Reason))
}

// point says what the operating point is; the planner may know more of it.
func (c Calibration) point() string {
	s := c.Proposal.Point.Sentence()
	if strings.Contains(c.Ended, s) {
		return c.Ended
	}
	return s
}

// gates prints a line for each gate that stands; the others are among the reasons.
func (p *printer) gates(gates []calibrate.GateResult) {
	first := true
	for _, g := range gates {
		if g.State == calibrate.Unmet {
			continue
		}
		if first {
			p.line("")
		}
		first = false
		p.line("%-4s %-10s  %s: %s", g.ID, g.State, g.Name, g.Observed)
	}
}

// limits prints floor and ceiling with what they rest on.
func (p *printer) limits(c Calibration) {
	r, l := c.Proposal, c.Proposal.Limits
	if l.Runs > 0 {
		on := "deployment"
		if c.Clusters > 0 {
			on = "cluster"
		}
		p.line("at %d per GPU, %s on %s: median %s tok/s per GPU%s, TTFT p99 %s ms", r.Point.ConcurrencyPerGPU, plural.Of(l.Runs, "gate run"), plural.Of(l.Deployments, on),
			number(r.TokPerSecPerGPU), spread(c.gateRuns(), l.Runs), number(r.TTFTP99MS))
		rests := fmt.Sprintf("tolerance limit %s; s within %.1f %%, between %.1f %% %s", number(l.L), 100*l.SW, 100*l.SB, l.SBBasis)
		switch g := r.Gate; {
		case g.FloorPerGPU > 0:
			p.line("floor %s tok/s per GPU (%s), acts as %s: the evaluator gives 10 %%", number(g.FloorPerGPU), r.Profile, number((1-recipes.Tolerance)*g.FloorPerGPU))
		case g.Floor > 0:
			p.line("floor %s tok/s for a full node (%s), acts as %s: the evaluator gives 10 %%", number(g.Floor), r.Profile, number((1-recipes.Tolerance)*g.Floor))
		default:
			p.line("no floor")
		}
		p.line("  the rule gives per GPU: portable %s, regression %s (%s)", number(l.Portable), number(l.Regression), rests)
		if c.Clusters >= calibrate.ToleranceClusters && (r.Gate.FloorPerGPU > 0 || r.Gate.Floor > 0) {
			p.line("  a tolerance statement: with confidence 0.95, at least 95 %% of the gate runs on a further cluster read %s tok/s per GPU or more", number(l.L))
		}
	}
	if top := r.Gate.CeilingTTFTP99MS; top > 0 {
		p.line("TTFT p99 ceiling %s ms, acts as %s", number(top), number((1+recipes.Tolerance)*top))
	}
	if l.Runs > 0 || r.Point.ConcurrencyPerGPU > 0 {
		p.line("")
	}
}

// gateRuns are what the valid gate runs at the point read, per GPU.
func (c Calibration) gateRuns() []float64 {
	var out []float64
	for _, r := range c.Curve.Runs {
		if r.Step.Purpose == sweep.Confirm && r.Step.Kind == loadgen.Gate && r.Step.ConcurrencyPerGPU == c.Proposal.Point.ConcurrencyPerGPU && r.Valid() {
			out = append(out, r.Result.WholeRun.OutputTokPerSec/float64(max(c.Curve.Fingerprint.GPUs, 1)))
		}
	}
	return out
}

// spread is from where to where readings go; nothing where others than those
// were used too.
func spread(x []float64, used int) string {
	if len(x) != used {
		return ""
	}
	return fmt.Sprintf(" (%s to %s)", number(slices.Min(x)), number(slices.Max(x)))
}

// bridge says how AIPerf reads the same; a bridge that does not stand is among the
// reasons.
func (p *printer) bridge(b *calibrate.Bridge) {
	if !b.Stands() {
		return
	}
	p.line("bridge, %s: AIPerf %s reads x%.4f of perfsweep's throughput (%.4f to %.4f) and x%.3f of its TTFT p99 (%.3f to %.3f); floor and ceiling are as AIPerf reads them",
		plural.Of(b.Pairs, "pair"), b.Version, b.Throughput.Ratio, b.Throughput.Low, b.Throughput.High, b.TTFT.Ratio, b.TTFT.Low, b.TTFT.High)
	p.line("output tokens by the server's own counter: perfsweep counts x%.4f of them, AIPerf x%.4f", b.PerfsweepCounted, b.AIPerfCounted)
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
