package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/plot"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// Curve is a fitted curve with where it came from; Fingerprint and Preflight
// are nil for a curve that this tool did not measure.
type Curve struct {
	Runs        []knee.Run
	All         []sweep.Run
	Fit         knee.Fit
	Point       sweep.OperatingPoint
	Fingerprint *sweep.Fingerprint
	Preflight   *loadgen.Preflight
	Reason      string
	// Objective is nil where none was given.
	Objective *Objective
	// Findings say of each level what holds it back; none where the servers were
	// not heard.
	Findings []observe.Finding
	// Stalls are what stood still in the runs.
	Stalls []Stall
	// Explain adds why the fit came to its answer.
	Explain bool
	// Next is the command that comes next, "" for none.
	Next string
}

// CurveText prints the curve with the knee, the answer first.
func CurveText(w io.Writer, c Curve) error {
	p := &printer{w: w}
	p.head(answer(c))
	if c.Fingerprint != nil && c.Fingerprint.Simulated {
		p.line("SIMULATED: nothing here was measured on a GPU.")
	}
	if c.Fingerprint != nil && c.Fingerprint.Transport == loadgen.GoOpenAI {
		p.line("CROSS-CHECK: measured through go-openai, which takes a broken stream for an answer; no gate is set or judged from it.")
	}
	if c.Fingerprint != nil && c.Fingerprint.Labels["disaggregated"] != "" {
		p.line("DISAGGREGATED: the knee is that of %s workers, and per GPU means of both; no AICR gate is for it.", c.Fingerprint.Labels["disaggregated"])
	}
	p.line("")
	p.curve(c.Fit, c.Point)
	p.fit(c.Fit)
	p.objective(c.Objective, c.Point)
	p.bottlenecks(c.Findings, c.Fit.Knee)
	p.invalid(c.All)
	p.stalls(c.Stalls)
	p.generator(c.All)
	for _, s := range c.Fit.Warnings {
		p.line("warning: %s", s)
	}
	switch op := c.Point; {
	case c.Reason != "":
		p.line("%s", c.Reason)
	case op.ConcurrencyPerGPU > 0 || op.Reason != "":
		p.line("%s", op.Sentence())
	}
	if c.Explain {
		p.explain(c.Fit)
	}
	p.next(c.Next)
	return p.err
}

// answer is the first line of every curve.
func answer(c Curve) string {
	f := c.Fit
	if n := c.Point.ConcurrencyPerGPU; c.Point.Basis == "proved" {
		return fmt.Sprintf("%d per GPU is proved: the knee is at least that", n)
	}
	switch f.Status {
	case knee.Knee, knee.LatencyLimited:
		s := fmt.Sprintf("knee at %.3g per GPU (90%% interval %.3g to %.3g)", f.Knee, f.KneeLow, f.KneeHigh)
		if f.Status == knee.LatencyLimited {
			s = fmt.Sprintf("latency limits the load at %.3g per GPU (interval %.3g to %.3g): TTFT p99 steps up before throughput bends", f.Knee, f.KneeLow, f.KneeHigh)
		}
		if c.Point.ConcurrencyPerGPU > 0 {
			s += fmt.Sprintf("; operating point %d per GPU", c.Point.ConcurrencyPerGPU)
		}
		return s
	case knee.Ambiguous:
		return fmt.Sprintf("knee ambiguous near %.3g per GPU: the model and the data disagree; measure the levels around it", f.Knee)
	case knee.NotSaturated:
		if (sweep.Curve{Runs: c.All}).ClientBound() {
			return "no knee within what this machine can load: at the highest level it, not the server, was the limit (V8)"
		}
		s := fmt.Sprintf("no knee: throughput still rises at the highest level measured (elasticity %.2f over the last octave); measure higher levels", f.LastElasticity)
		if c.Point.ConcurrencyPerGPU > 0 {
			s += fmt.Sprintf("; %d per GPU is a lower bound", c.Point.ConcurrencyPerGPU)
		}
		return s
	case knee.SaturatedAtMin:
		return "no knee: already saturated at the lowest level measured; measure lower levels"
	}
	return "no knee: fewer than 4 usable levels; measure more levels"
}

// printer keeps the first write error, so that rendering reads as a list.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, folded(p.w, fmt.Sprintf(format+"\n", args...)))
	}
}

// head prints an answer, which fits a terminal wherever it is read, and the one it is
// printed on where that is narrower.
func (p *printer) head(text string) {
	width := usualColumns
	if columns := columnsOf(p.w); columns > 0 {
		width = min(width, columns)
	}
	p.raw(fold(text+"\n", width))
}

// next prints the command that comes next, as the last thing.
func (p *printer) next(text string) {
	if text != "" {
		p.head("next: " + text)
	}
}

// raw prints a text as it is.
func (p *printer) raw(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text)
	}
}

// curve draws one bar a level.
func (p *printer) curve(f knee.Fit, op sweep.OperatingPoint) {
	var top float64
	for _, l := range f.Levels {
		top = max(top, l.TokPerSecPerGPU)
	}
	if top == 0 || p.err != nil {
		return
	}
	var table strings.Builder
	tw := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "per GPU\truns\ttok/s/GPU\tTTFT p50 ms\tp99 ms\t")
	for _, l := range f.Levels {
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\t\n", l.ConcurrencyPerGPU, runs(l), number(l.TokPerSecPerGPU), number(l.TTFTP50MS), number(l.TTFTP99MS))
	}
	if p.err = tw.Flush(); p.err != nil {
		return
	}
	head, rows, _ := strings.Cut(table.String(), "\n")
	p.raw(head + "\n")
	widest := 0 // of what is said behind a bar
	for _, l := range f.Levels {
		widest = max(widest, len(remark(l, f, op)))
	}
	room := min(max(usualColumns-len(head)-1-widest, leastBar), mostBar)
	for i, row := range strings.Split(strings.TrimSuffix(rows, "\n"), "\n") {
		l := f.Levels[i]
		p.raw(row + " " + strings.Repeat("#", int(l.TokPerSecPerGPU/top*float64(room)+0.5)) + remark(l, f, op) + "\n")
	}
}

// The length of the longest bar.
const (
	leastBar = 8
	mostBar  = 30
)

func runs(l knee.Level) string {
	if l.Kept == l.Runs {
		return fmt.Sprint(l.Runs)
	}
	return fmt.Sprintf("%d of %d", l.Kept, l.Runs)
}

// remark says what is special about a level.
func remark(l knee.Level, f knee.Fit, op sweep.OperatingPoint) string {
	s, n := "", float64(l.ConcurrencyPerGPU)
	switch {
	case l.ConcurrencyPerGPU == op.ConcurrencyPerGPU:
		s = " <- point"
	case f.KneeLow > 0 && n >= f.KneeLow && n <= f.KneeHigh:
		s = " . knee"
	}
	if len(l.Flags) > 0 {
		s += " [" + strings.Join(l.Flags, ",") + "]"
	}
	return s
}

// fit prints how the answer was found.
func (p *printer) fit(f knee.Fit) {
	p.line("")
	if f.Model != "" {
		p.line("status %s  model %s  e* %.2f  tilted argmax %d  N* %.3g  run noise %.1f %%", f.Status, f.Model, f.EStar, f.TiltLevel, f.NStar, 100*f.Noise)
	} else {
		p.line("status %s", f.Status)
	}
	if len(f.Flags) > 0 {
		p.line("flags: %s", strings.Join(f.Flags, ", "))
	}
}

// invalid says what was kept out.
func (p *printer) invalid(all []sweep.Run) {
	bad := 0
	for _, r := range all {
		if !r.Valid() {
			bad++
		}
	}
	if bad == 0 {
		return
	}
	p.line("%d of %s %s INVALID and %s not in the curve:", bad, plural.Of(len(all), "run"), plural.Verb(bad, "was", "were"), plural.Verb(bad, "is", "are"))
	for _, r := range all {
		for _, why := range failed(r) {
			p.line("  run %d at %d per GPU: %s", r.Seq, r.Step.ConcurrencyPerGPU, why)
		}
	}
}

// number prints a positive number at reading precision, absent as "-".
func number(v float64) string {
	if v == 0 {
		return "-"
	}
	return plot.Number(v)
}
