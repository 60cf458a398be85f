package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

// Comparison is two curves and what moved between them. Differences are the
// fields in which their fingerprints differ.
type Comparison struct {
	NameA, NameB string
	A, B         compare.Side
	Options      compare.Options
	// Objective is what both sides' SLO and goodput are of; zero = none.
	Objective   loadgen.Objective
	Differences []string
	Report      compare.Report
	Turns       *Turns // nil unless both were measured by one command
	// Next is the command that comes next, "" for none.
	Next string
}

// Turns is how two targets were measured in turns.
type Turns struct {
	Pairs   int `json:"pairs"`
	Dropped int `json:"pairs_dropped"` // not counted in Pairs
	// Reason is why it ended: the last word of A's planner.
	Reason string `json:"reason"`
}

// CompareText prints the comparison, the answer first.
func CompareText(w io.Writer, c Comparison) error {
	p := &printer{w: w}
	r := c.Report
	p.line("output tok/s per GPU: %s", c.sentence(r.Throughput, c.Options.Throughput))
	p.line("TTFT p99: %s", c.sentence(r.TTFT, c.Options.TTFT))
	c.objective(p)
	if simulated(c.A) || simulated(c.B) {
		p.line("SIMULATED: nothing here was measured on a GPU.")
	}
	p.line("A is %s, B is %s; the verdicts are over %s together%s.", c.NameA, c.NameB, plural.Of(len(r.Levels), "level"), byPairs(r))
	if t := c.Turns; t != nil {
		p.line("measured in turns: %s compared, %d dropped; %s", plural.Of(t.Pairs, "pair"), t.Dropped, t.Reason)
	}
	if len(c.Differences) == 0 {
		p.line("what differs between them is not recorded: their fingerprints are equal or absent")
	}
	for _, d := range c.Differences {
		p.line("differs: %s", d)
	}
	p.line("")
	p.levels(r)
	c.points(p)
	for _, s := range r.Warnings {
		p.line("warning: %s", s)
	}
	p.next(c.Next)
	return p.err
}

func byPairs(r compare.Report) string {
	if r.Paired {
		return ", pair by pair"
	}
	return ""
}

// sentence says what became of a metric.
func (c Comparison) sentence(s compare.Change, matters float64) string {
	switch s.Verdict {
	case compare.Absent:
		return "absent on one side, which is no verdict"
	case compare.Better, compare.Worse:
		return fmt.Sprintf("%s, B is %s", s.Verdict, interval(s.Shift))
	case compare.Same:
		return fmt.Sprintf("no change of ±%.3g %%, B is %s", 100*matters, interval(s.Shift))
	}
	return fmt.Sprintf("cannot tell, B is %s; %s", interval(s.Shift), needs(s, matters))
}

func needs(s compare.Change, matters float64) string {
	if !s.SpreadKnown {
		return fmt.Sprintf("each level needs at least %s a side: no level was repeated, so the spread is unknown", plural.Of(s.More, "more run"))
	}
	if s.More >= compare.MaxRuns {
		return fmt.Sprintf("to tell a change of %.3g %% at the spread of %.2g %% between runs, each level would need %s a side, and at most %d can be compared: look for what makes runs differ, or for a larger change",
			100*matters, 100*s.Spread, plural.Of(s.More, "more run"), compare.MaxRuns)
	}
	return fmt.Sprintf("each level needs %s a side to tell a change of %.3g %% at the spread of %.2g %% between runs", plural.Of(s.More, "more run"), 100*matters, 100*s.Spread)
}

func interval(s compare.Shift) string {
	if !s.HasInterval() {
		return fmt.Sprintf("%s (p %.2g; too few runs for an interval)", percent(s.Ratio), s.P)
	}
	return fmt.Sprintf("%s (%.0f %% interval %s to %s, p %.2g)", percent(s.Ratio), 100*s.Confidence, percent(s.Low), percent(s.High), s.P)
}

func percent(ratio float64) string { return fmt.Sprintf("%+.1f %%", 100*(ratio-1)) }

func (p *printer) levels(r compare.Report) {
	if len(r.Levels) == 0 {
		return
	}
	p.changes(r, "tok/s/GPU", func(l compare.Level) compare.Change { return l.Throughput })
	p.changes(r, "TTFT p99 ms", func(l compare.Level) compare.Change { return l.TTFT })
	if r.Goodput != nil {
		p.changes(r, "good tok/s/GPU", func(l compare.Level) compare.Change { return l.Goodput })
	}
	p.line("p* is corrected (Holm) for %s", plural.Of(len(r.Levels), "level"))
}

// changes prints what became of a metric, level by level.
func (p *printer) changes(r compare.Report, metric string, of func(compare.Level) compare.Change) {
	if p.err != nil {
		return
	}
	tw := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "per GPU\truns\t%s A\tB\tchange\tp*\t\t\n", metric)
	for _, l := range r.Levels {
		c := of(l)
		fmt.Fprintf(tw, "%d\t%d+%d\t%s\t%s\t%s\t%.2g\t%s\t\n", l.ConcurrencyPerGPU, c.RunsA, c.RunsB, number(c.MedianA), number(c.MedianB), change(c), c.Corrected, c.Verdict)
	}
	p.err = tw.Flush()
}

func change(c compare.Change) string {
	if c.Ratio == 0 {
		return "-"
	}
	return percent(c.Ratio)
}

// points prints what became of the operating point and the knee.
func (c Comparison) points(p *printer) {
	r := c.Report
	p.line("")
	if l := r.Point; l != nil {
		p.line("at A's operating point, %d per GPU: output tok/s per GPU %s", l.ConcurrencyPerGPU, c.sentence(l.Throughput, c.Options.Throughput))
		p.line("at A's operating point, %d per GPU: TTFT p99 %s", l.ConcurrencyPerGPU, c.sentence(l.TTFT, c.Options.TTFT))
		if r.Goodput != nil {
			p.line("at A's operating point, %d per GPU: goodput %s", l.ConcurrencyPerGPU, c.sentence(l.Goodput, c.Options.Throughput))
		}
	} else if n := c.A.Point.ConcurrencyPerGPU; n > 0 {
		p.line("A's operating point, %d per GPU, was not measured on both sides", n)
	}
	if r.KneeRatio > 0 {
		p.line("knee: %.3g per GPU in A, %.3g in B: ×%.2f, ×%.2f to ×%.2f by their own intervals; operating point %s, %s", c.A.Fit.Knee, c.B.Fit.Knee,
			r.KneeRatio, r.KneeLow, r.KneeHigh, atPoint(c.A), atPoint(c.B))
	} else {
		p.line("knee: status %s in A, %s in B; there is no shift without two knees", c.A.Fit.Status, c.B.Fit.Status)
	}
}

func atPoint(s compare.Side) string {
	if s.Point.ConcurrencyPerGPU == 0 {
		return "none"
	}
	return strconv.Itoa(s.Point.ConcurrencyPerGPU)
}

// CompareCSV prints a row a level and metric, and one for all levels.
func CompareCSV(w io.Writer, c Comparison) error {
	cw := csv.NewWriter(w)
	rows := [][]string{{"concurrency_per_gpu", "metric", "runs_a", "runs_b", "median_a", "median_b", "ratio", "ratio_low", "ratio_high", "confidence", "p", "p_corrected", "verdict", "more_runs"}}
	add := func(at, metric string, s compare.Change) {
		rows = append(rows, []string{at, metric, strconv.Itoa(s.RunsA), strconv.Itoa(s.RunsB), cell(s.MedianA), cell(s.MedianB), cell(s.Ratio), cell(s.Low), cell(s.High),
			cell(s.Confidence), cell(s.P), cell(s.Corrected), string(s.Verdict), strconv.Itoa(s.More)})
	}
	all := compare.Level{Throughput: c.Report.Throughput, TTFT: c.Report.TTFT}
	if c.Report.Goodput != nil {
		all.Goodput = *c.Report.Goodput
	}
	for _, l := range append([]compare.Level{all}, c.Report.Levels...) {
		at := "all"
		if l.ConcurrencyPerGPU > 0 {
			at = strconv.Itoa(l.ConcurrencyPerGPU)
		}
		add(at, "output_tok_per_s_per_gpu", l.Throughput)
		add(at, "ttft_p99_ms", l.TTFT)
		if c.Report.Goodput != nil {
			add(at, "good_output_tok_per_s_per_gpu", l.Goodput)
		}
	}
	return cw.WriteAll(rows)
}
