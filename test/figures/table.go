package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

// row is one figure.
type row struct {
	name     string
	target   string
	measured string
	// reference is what the other side did in the same run, ratio what the
	// target is about where it is about a ratio.
	reference, ratio string
	verdict          string // met, missed, or empty where nothing was promised
	others           float64
}

// atLeast and atMost judge a value; the miss is said in percent of the target.
func (r row) atLeast(got, target float64) row { return r.judge(got >= target, got, target) }
func (r row) atMost(got, target float64) row  { return r.judge(got <= target, got, target) }

func (r row) judge(met bool, got, target float64) row {
	switch {
	case math.IsNaN(got):
		r.verdict = "not measured"
	case met:
		r.verdict = "met"
	case target == 0:
		r.verdict = "missed"
	default:
		r.verdict = fmt.Sprintf("missed by %.3g %%", 100*math.Abs(got/target-1))
	}
	return r
}

func table(w io.Writer, rows []row) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "figure\ttarget\tmeasured\treference\tratio\tverdict\tothers")
	for _, r := range rows {
		others := "-"
		if !math.IsNaN(r.others) {
			others = fmt.Sprintf("%.0f %%", 100*r.others)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.name, r.target, r.measured, dash(r.reference), dash(r.ratio), dash(r.verdict), others)
	}
	return tw.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// median of values, NaN of none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// spread prints a median with its range.
func spread(v []float64, format string) string {
	if len(v) == 0 {
		return ""
	}
	s := fmt.Sprintf(format, median(v))
	if len(v) > 1 {
		s += fmt.Sprintf(" ("+format+".."+format+")", slices.Min(v), slices.Max(v))
	}
	return s
}
