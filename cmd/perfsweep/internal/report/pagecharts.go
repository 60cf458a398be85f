package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/plot"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// charts are the pictures of a report, those with anything to show.
func (p Page) charts() []plot.Chart {
	var out []plot.Chart
	for _, c := range []plot.Chart{p.throughput(), p.latency(), p.tradeoff()} {
		if len(c.Series) > 0 {
			out = append(out, c)
		}
	}
	for _, s := range p.sides() {
		if c := s.timeline(); len(c.Series) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// loadAxis is the axis of concurrency.
func loadAxis() plot.Axis {
	return plot.Axis{Label: "concurrency per GPU (requests in flight)", Short: "per GPU", Log: 2}
}

// levels are the concurrencies that were measured on any side.
func (p Page) levels() plot.Numbers {
	seen := map[int]bool{}
	for _, s := range p.sides() {
		for _, r := range s.Curve.All {
			seen[r.Step.ConcurrencyPerGPU] = true
		}
		for _, r := range s.Curve.Runs {
			seen[r.ConcurrencyPerGPU] = true
		}
	}
	delete(seen, 0)
	return plot.Ticks(slices.Sorted(maps.Keys(seen)))
}

func tone(s Side) plot.Tone {
	if s.Letter == "B" {
		return plot.Second
	}
	return plot.First
}

// throughput is the curve with everything that was decided on it.
func (p Page) throughput() plot.Chart {
	c := plot.Chart{ID: "throughput", Title: "Throughput per GPU against concurrency per GPU", Desc: p.A.kneeWords(),
		X: loadAxis(), Y: plot.Axis{Label: "output tok/s per GPU", Short: "tok/s per GPU"}}
	for _, s := range p.sides() {
		c.Series = append(c.Series, s.model()...)
		c.Series = append(c.Series, points(s.of("runs"), plot.Dots, tone(s), s, func(r knee.Run) float64 { return r.TokPerSecPerGPU })...)
		c.Series = append(c.Series, s.invalidPoints()...)
		fit := s.Curve.Fit
		if fit.KneeLow > 0 && fit.KneeHigh > fit.KneeLow {
			c.Bands = append(c.Bands, plot.Band{From: fit.KneeLow, To: fit.KneeHigh, Tone: plot.Knee})
		}
		if fit.HasKnee() && fit.Knee > 0 {
			c.Marks = append(c.Marks, plot.Mark{At: fit.Knee, Label: s.of(fmt.Sprintf("knee %.3g", fit.Knee)), Tone: plot.Knee, Dashed: s.Letter == "B"})
		}
		if n := s.Curve.Point.ConcurrencyPerGPU; n > 0 {
			c.Marks = append(c.Marks, plot.Mark{At: float64(n), Label: s.of(fmt.Sprintf("operating point %d", n)), Tone: plot.Point, Dashed: s.Letter == "B", Before: true})
		}
		if g := s.Gates; g != nil && g.FloorPerGPU > 0 {
			c.Marks = append(c.Marks, plot.Mark{At: g.FloorPerGPU, Level: true, Label: s.of("floor " + number(g.FloorPerGPU) + ", acts as " + number(g.ActsFloor)), Tone: plot.Gate},
				plot.Mark{At: g.ActsFloor, Level: true, Tone: plot.Gate, Dashed: true})
		}
	}
	c.Fit(p.levels())
	return c
}

func (s Side) kneeWords() string { return answer(s.Curve) }

// samples is how finely the fitted model is drawn.
const samples = 96

// model is the fitted curve, through the levels themselves so that it can be
// read off beside what was measured there.
func (s Side) model() []plot.Series {
	levels := s.Curve.Fit.Levels
	if len(levels) < 2 {
		return nil
	}
	low, high := float64(levels[0].ConcurrencyPerGPU), float64(levels[len(levels)-1].ConcurrencyPerGPU)
	var at []float64
	for i := range samples + 1 {
		at = append(at, low*math.Pow(high/low, float64(i)/samples))
	}
	for _, l := range levels {
		at = append(at, float64(l.ConcurrencyPerGPU))
	}
	slices.Sort(at)
	out := plot.Series{Name: s.of("fitted model (" + s.Curve.Fit.Model + ")"), Style: plot.Line, Tone: plot.Model}
	if s.Letter == "B" {
		out.Style = plot.Dashed
	}
	for _, n := range slices.Compact(at) {
		if x, ok := s.Curve.Fit.TokPerSecPerGPU(n); ok {
			out.X, out.Y = append(out.X, n), append(out.Y, x)
		}
	}
	if len(out.X) == 0 {
		return nil
	}
	return []plot.Series{out}
}

// points are the runs of the curve by one value; none where it is not known.
func points(name string, style plot.Style, tone plot.Tone, s Side, value func(knee.Run) float64) []plot.Series {
	out := plot.Series{Name: name, Style: style, Tone: tone, Hollow: s.Letter == "B"}
	for _, r := range s.Curve.Runs {
		if v := value(r); v > 0 {
			out.X, out.Y = append(out.X, float64(r.ConcurrencyPerGPU)), append(out.Y, v)
		}
	}
	if len(out.X) == 0 {
		return nil
	}
	return []plot.Series{out}
}

// invalidPoints are steady runs that failed a run gate.
func (s Side) invalidPoints() []plot.Series {
	out := plot.Series{Name: s.of("INVALID runs"), Style: plot.Cross, Tone: plot.Bad}
	for _, r := range s.Curve.All {
		if v := r.Result.Window.OutputTokPerSec; !r.Valid() && r.Step.Kind == loadgen.Steady && r.Step.Purpose != sweep.Pulse && v > 0 {
			out.X, out.Y = append(out.X, float64(r.Step.ConcurrencyPerGPU)), append(out.Y, v/s.gpus())
		}
	}
	if len(out.X) == 0 {
		return nil
	}
	return []plot.Series{out}
}

// latency is what a user waits for.
func (p Page) latency() plot.Chart {
	c := plot.Chart{ID: "latency", Title: "Latency against concurrency per GPU", Desc: "TTFT p50 and p99 and the time between tokens, medians of the runs of each level, on a logarithmic axis; the numbers are in the table of levels",
		X: loadAxis(), Y: plot.Axis{Label: "milliseconds (logarithmic)", Short: "ms", Log: 10}}
	for _, s := range p.sides() {
		for _, m := range []struct {
			name  string
			tone  plot.Tone
			run   func(knee.Run) float64
			level func(knee.Level) float64
		}{
			{"TTFT p99", plot.Second, func(r knee.Run) float64 { return r.TTFTP99MS }, func(l knee.Level) float64 { return l.TTFTP99MS }},
			{"TTFT p50", plot.First, func(r knee.Run) float64 { return r.TTFTP50MS }, func(l knee.Level) float64 { return l.TTFTP50MS }},
			{"ITL p50", plot.Third, func(r knee.Run) float64 { return r.ITLMS }, func(l knee.Level) float64 { return l.ITLMS }},
		} {
			line := plot.Series{Name: s.of(m.name + ", median of a level"), Style: plot.Line, Tone: m.tone, Mute: true}
			if s.Letter == "B" {
				line.Style = plot.Dashed
			}
			for _, l := range s.Curve.Fit.Levels {
				if v := m.level(l); v > 0 {
					line.X, line.Y = append(line.X, float64(l.ConcurrencyPerGPU)), append(line.Y, v)
				}
			}
			if len(line.X) > 0 {
				c.Series = append(c.Series, line)
			}
			c.Series = append(c.Series, points(s.of(m.name), plot.Dots, m.tone, s, m.run)...)
		}
		if n := s.Curve.Point.ConcurrencyPerGPU; n > 0 {
			c.Marks = append(c.Marks, plot.Mark{At: float64(n), Label: s.of(fmt.Sprintf("operating point %d", n)), Tone: plot.Point, Dashed: s.Letter == "B", Before: true})
		}
	}
	if len(c.Series) == 0 {
		return c
	}
	switch g := p.A.Gates; {
	case g != nil && g.CeilingTTFTP99MS > 0:
		c.Marks = append(c.Marks, plot.Mark{At: g.CeilingTTFTP99MS, Level: true, Label: p.A.of("TTFT p99 ceiling " + number(g.CeilingTTFTP99MS) + " ms, acts as " + number(g.ActsAbove)), Tone: plot.Gate})
	case p.A.LimitTTFTMS > 0:
		c.Marks = append(c.Marks, plot.Mark{At: p.A.LimitTTFTMS, Level: true, Label: "TTFT p99 counts as healthy up to " + number(p.A.LimitTTFTMS) + " ms", Tone: plot.Plain, Dashed: true})
	}
	c.Fit(p.levels())
	return c
}
