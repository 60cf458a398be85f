package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/plot"
	"github.com/perfsweep/perfsweep/knee"
)

// perUser is the speed that one user sees, as AIPerf defines its
// output_token_throughput_per_user: the inverse of the time between tokens.
func perUser(l knee.Level) float64 {
	if l.ITLMS <= 0 {
		return 0
	}
	return 1000 / l.ITLMS
}

// tradeoff is what a GPU serves against what a user gets of it. The front joins
// the levels that no other one beats in both.
func (p Page) tradeoff() plot.Chart {
	c := plot.Chart{ID: "tradeoff", Title: "Trade-off: tok/s per GPU against tok/s per user", Desc: "each point is a level, named by its concurrency per GPU; the line joins the levels that no other beats in both",
		X: plot.Axis{Label: "output tok/s per user (1 / ITL p50)", Short: "tok/s per user"}, Y: plot.Axis{Label: "output tok/s per GPU", Short: "tok/s per GPU"}}
	for _, s := range p.sides() {
		levels := plot.Series{Name: s.of("levels, by concurrency per GPU"), Style: plot.Dots, Tone: tone(s), Hollow: s.Letter == "B"}
		for _, l := range s.Curve.Fit.Levels {
			if u := perUser(l); u > 0 {
				levels.X, levels.Y = append(levels.X, u), append(levels.Y, l.TokPerSecPerGPU)
				levels.Labels = append(levels.Labels, strconv.Itoa(l.ConcurrencyPerGPU))
			}
		}
		if len(levels.X) == 0 {
			continue
		}
		front := plot.Series{Name: s.of("Pareto front"), Style: plot.Line, Tone: tone(s)}
		if s.Letter == "B" {
			front.Style = plot.Dashed
		}
		for _, i := range unbeaten(levels.X, levels.Y) {
			front.X, front.Y = append(front.X, levels.X[i]), append(front.Y, levels.Y[i])
		}
		c.Series = append(c.Series, front, levels)
		for _, l := range s.Curve.Fit.Levels {
			if l.ConcurrencyPerGPU == s.Curve.Point.ConcurrencyPerGPU && perUser(l) > 0 {
				c.Marks = append(c.Marks, plot.Mark{At: perUser(l), Label: s.of(fmt.Sprintf("operating point %d", l.ConcurrencyPerGPU)), Tone: plot.Point, Dashed: s.Letter == "B"})
			}
		}
	}
	if len(c.Series) > 0 {
		c.Fit(nil)
	}
	return c
}

// unbeaten are the places of points that no other one beats in both values, by
// the first of them.
func unbeaten(x, y []float64) []int {
	var out []int
	for i := range x {
		beaten := false
		for j := range x {
			if x[j] >= x[i] && y[j] >= y[i] && (x[j] > x[i] || y[j] > y[i]) {
				beaten = true
			}
		}
		if !beaten {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	return out
}
