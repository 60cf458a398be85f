package plot

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/markup"
)

// The picture's own unit; it scales with the page.
const (
	width, height = 760.0, 360.0
	left, right   = 68.0, 16.0
	top, bottom   = 26.0, 48.0
	plotRight     = width - right
	plotBottom    = height - bottom
	letter        = 6.4 // the width of a letter, about
	lineHeight    = 11.0
)

// canvas is a chart being drawn.
type canvas struct {
	*markup.Writer
	c Chart
}

// SVG draws the chart. With a style it is a picture of its own, with title and
// legend; without one it stands in a page that has all of these.
func (c Chart) SVG(style markup.Raw) ([]byte, error) {
	d := canvas{&markup.Writer{}, c}
	above := 0.0
	if style != nil {
		above = 46
	}
	d.Open("svg", markup.A("xmlns", "http://www.w3.org/2000/svg"), markup.F("viewBox", "0 %g %g %g", -above, width, height+above),
		markup.A("role", "img"), markup.A("class", "chart"), markup.A("aria-label", c.Title+". "+c.Desc))
	if style != nil {
		d.Block("style", style)
		d.Leaf("title", c.Title)
		d.Empty("rect", markup.F("y", "%g", -above), markup.A("class", "paper"), markup.F("width", "%g", width), markup.F("height", "%g", height+above))
		d.Leaf("text", c.Title, markup.A("class", "title"), markup.F("x", "%g", left), markup.F("y", "%g", 18-above))
		d.legend(36 - above)
	}
	d.bands()
	d.axes()
	d.marks()
	for _, s := range c.Series {
		d.series(s)
	}
	d.Close("svg")
	return d.Bytes()
}

func (a Axis) place(v, from, to float64) float64 {
	low, high := a.Low, a.High
	if a.Log > 0 {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return from + (v-low)/(high-low)*(to-from)
}

func (d canvas) x(v float64) float64 { return d.c.X.place(v, left, plotRight) }
func (d canvas) y(v float64) float64 { return d.c.Y.place(v, plotBottom, top) }

// num is short: a picture has thousands.
func num(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.1f", v), "0"), ".")
}

func (d canvas) line(class string, x1, y1, x2, y2 float64) {
	d.Empty("line", markup.A("class", class), markup.A("x1", num(x1)), markup.A("y1", num(y1)), markup.A("x2", num(x2)), markup.A("y2", num(y2)))
}

func (d canvas) text(class, anchor string, x, y float64, s string) {
	d.Leaf("text", s, markup.A("class", class), markup.A("text-anchor", anchor), markup.A("x", num(x)), markup.A("y", num(y)))
}

func (d canvas) axes() {
	last := math.Inf(-1)
	for _, v := range d.c.X.Ticks {
		x, s := d.x(v), tick(v)
		if x < left-1 || x > plotRight+1 {
			continue
		}
		d.line("grid", x, top, x, plotBottom)
		if half := letter * float64(len(s)) / 2; x-half > last { // labels do not overlap
			d.text("tick", "middle", x, plotBottom+16, s)
			last = x + half + letter
		}
	}
	for _, v := range d.c.Y.Ticks {
		y := d.y(v)
		if y < top-1 || y > plotBottom+1 {
			continue
		}
		d.line("grid", left, y, plotRight, y)
		d.text("tick", "end", left-6, y+4, tick(v))
	}
	d.line("axis", left, plotBottom, plotRight, plotBottom)
	d.line("axis", left, top, left, plotBottom)
	d.text("label", "middle", (left+plotRight)/2, height-8, d.c.X.Label)
	d.text("label", "start", 4, 14, d.c.Y.Label)
	d.Line()
}

func (d canvas) bands() {
	for _, b := range d.c.Bands {
		x1, x2 := max(left, d.x(b.From)), min(plotRight, d.x(b.To))
		y, h, class := top, plotBottom-top, "band t-"+string(b.Tone)
		if b.Edge {
			y, h, class = plotBottom-5, 5, class+" edge"
		}
		d.Empty("rect", markup.A("class", class), markup.A("x", num(x1)), markup.A("y", num(y)),
			markup.A("width", num(max(x2-x1, 1))), markup.A("height", num(h)))
		if room := x2 - x1; b.Label != "" && room > letter*float64(len(b.Label)) {
			d.text("note", "middle", (x1+x2)/2, plotBottom-9, b.Label)
		}
	}
}

// marks draws the lines with their names, those at an x one below the other so
// that neighbours stay legible.
func (d canvas) marks() {
	row := 0.0
	for _, m := range d.c.Marks {
		class := "mark t-" + string(m.Tone)
		if m.Dashed {
			class += " dashed"
		}
		if m.Level {
			y := d.y(m.At)
			d.line(class, left, y, plotRight, y)
			d.text("note t-"+string(m.Tone), "start", left+6, y-4, m.Label)
			continue
		}
		x := d.x(m.At)
		d.line(class, x, top, x, plotBottom)
		anchor, off := "start", 5.0
		if long := letter * float64(len(m.Label)); x+long > plotRight || m.Before && x-long > left {
			anchor, off = "end", -5
		}
		d.text("note t-"+string(m.Tone), anchor, x+off, top+12+14*row, m.Label)
		row++
	}
}
