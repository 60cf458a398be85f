package live

import (
	"fmt"
	"math"
	"time"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/plot"
	"github.com/perfsweep/perfsweep/internal/plural"
)

// A view leaves this many rows of the terminal to what is printed above it.
const (
	rowsAbove = 3
	fullRows  = 16 // from here on the curve has more than one row
)

// Lines is the view of a state. No line is as wide as the terminal: a character
// in the last column makes some wrap.
func Lines(s State, size Size, st Style) []Line {
	if s.Run.ConcurrencyPerGPU == 0 {
		return nil
	}
	size = size.known()
	width := max(size.Columns-1, 1)
	one := func(t Tone, sep string, parts ...string) Line { return Line{pack(width, st, sep, parts...), t} }
	lines := []Line{
		one(Strong, ", ", s.head(), plural.Of(s.Run.Streams, "stream"), s.Run.Kind),
		one(Plain, ", ", append([]string{"  " + s.Run.clock()}, s.Run.counts()...)...),
		one(Plain, ", ", append([]string{"  " + s.ahead()}, s.levels(), s.invalid())...),
	}
	if s.Last.TokPerSecPerGPU > 0 {
		lines = append(lines, one(Plain, ", ", "  "+s.last(), fmt.Sprintf("TTFT p99 %s ms", plot.Number(s.Last.TTFTP99MS)), s.best()))
	}
	if s.Run.Why != "" {
		lines = append(lines, one(Faint, "", "  why: "+s.Run.Why))
	}
	height := 1
	if size.Rows >= fullRows {
		height = chartRows
	}
	for _, text := range chart(s.Points, width, height, st) {
		lines = append(lines, Line{text, Plain})
	}
	return lines[:min(len(lines), max(size.Rows-rowsAbove, 1))]
}

// head is where the campaign is.
func (s State) head() string {
	text := fmt.Sprintf("run %d", s.Done+1)
	if s.Left > 0 {
		text += fmt.Sprintf(" of about %d", s.Done+s.Left)
	}
	text += fmt.Sprintf(": %d per GPU", s.Run.ConcurrencyPerGPU)
	if s.Side != "" {
		text = s.Side + ": " + text
	}
	if s.Ending {
		text = "ending, " + text
	}
	return text
}

// clock is how long the run has lasted, and how long it probably does.
func (r Run) clock() string {
	if r.Expected <= 0 {
		return clock(r.Took) + " in this run"
	}
	return clock(r.Took) + " of about " + clock(r.Expected)
}

// counts say what the run has done so far; most of it is before any token rate
// is known, so requests are what is counted.
func (r Run) counts() []string {
	if r.At <= 0 {
		return nil
	}
	parts := []string{fmt.Sprintf("%s requests/s", plot.Number(float64(r.Requests)/r.At.Seconds())), fmt.Sprintf("%d in flight", r.InFlight)}
	if r.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", r.Failed))
	}
	return parts
}

// ahead is what is still to do, less what the run in progress has done.
func (s State) ahead() string {
	if s.Left == 0 {
		return "time to go is not known"
	}
	used := s.Run.Took
	if s.Run.Expected > 0 {
		used = min(used, s.Run.Expected)
	}
	text := "about " + clock(max(s.ToGo-used, 0)) + " to go"
	if s.Most > 0 {
		text += ", at most " + plural.Of(s.Most, "run")
	}
	return text
}

func (s State) levels() string {
	return plural.Of(len(s.Points), "level") + " done"
}

func (s State) invalid() string {
	if s.Invalid == 0 {
		return ""
	}
	return fmt.Sprintf("%d INVALID", s.Invalid)
}

func (s State) last() string {
	return fmt.Sprintf("last %s tok/s per GPU at %d", plot.Number(s.Last.TokPerSecPerGPU), s.Last.ConcurrencyPerGPU)
}

func (s State) best() string {
	if s.Best == (Point{}) {
		return ""
	}
	return fmt.Sprintf("best %s at %d", plot.Number(s.Best.TokPerSecPerGPU), s.Best.ConcurrencyPerGPU)
}

// clock is a time of day's form: 0:07, 12:30, 1:02:03.
func clock(d time.Duration) string {
	n := int(math.Round(max(d, 0).Seconds()))
	h, m, sec := n/3600, n/60%60, n%60
	if h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, m, sec)
	}
	return fmt.Sprintf("%d:%02d", m, sec)
}
