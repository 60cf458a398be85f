package report

import (
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/plot"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// timeline is every run, one after the other, as the tokens came. What lies
// between runs is cut out: a second window may begin an hour later.
func (s Side) timeline() plot.Chart {
	c := plot.Chart{ID: "timeline" + s.Letter, Title: s.of("Run time line: throughput per GPU while it was measured"),
		Desc: "the measured parts of all runs, one after the other without the time between them, named along the axis by their concurrency per GPU: green are gate runs, red are INVALID ones, and red areas are stalls; the tables below have them in words",
		X:    plot.Axis{Label: "seconds of measurement, end to end", Short: "s"}, Y: plot.Axis{Label: "output tok/s per GPU", Short: "tok/s per GPU"}}
	tokens := plot.Series{Name: s.of("tok/s per GPU"), Style: plot.Line, Tone: tone(s)}
	clock, window := 0.0, 0
	for _, r := range s.Curve.All {
		length := r.Result.SeriesSeconds * float64(len(r.Result.Series))
		if !(length > 0) || math.IsInf(length, 0) {
			continue
		}
		if w := max(r.Window, 1); w != window {
			if window = w; w > 1 || s.windows() > 1 {
				c.Marks = append(c.Marks, plot.Mark{At: clock, Label: fmt.Sprintf("window %d", w), Tone: plot.Plain, Dashed: true})
			}
		}
		for i, n := range r.Result.Series {
			tokens.X = append(tokens.X, clock+(float64(i)+0.5)*r.Result.SeriesSeconds)
			tokens.Y = append(tokens.Y, n/r.Result.SeriesSeconds/s.gpus())
		}
		c.Bands = append(c.Bands, runBand(r, clock, length))
		for _, e := range s.Stalls[r.Seq] {
			c.Bands = append(c.Bands, plot.Band{From: clock + max(e.StartS, 0), To: clock + min(max(e.StartS+e.LengthS, 0), length), Tone: plot.Bad})
		}
		clock += length
		// a gap, so that runs are not joined
		tokens.X, tokens.Y = append(tokens.X, clock), append(tokens.Y, math.NaN())
	}
	if len(tokens.X) > 0 {
		c.Series = append(c.Series, tokens)
		c.Fit(nil)
		c.X.High = clock
	}
	return c
}

// runBand is a run along the axis: what it was of, and whether it counted.
func runBand(r sweep.Run, clock, length float64) plot.Band {
	b := plot.Band{From: clock, To: clock + length, Label: fmt.Sprint(r.Step.ConcurrencyPerGPU), Tone: plot.First, Edge: true}
	switch {
	case !r.Valid():
		b.Tone = plot.Bad
	case r.Step.Kind == loadgen.Gate:
		b.Tone = plot.Point
	}
	return b
}

// windows is how many windows were measured.
func (s Side) windows() int {
	n := 1
	for _, r := range s.Curve.All {
		n = max(n, r.Window)
	}
	return n
}
