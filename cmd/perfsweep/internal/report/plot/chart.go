package plot

import (
	"math"
	"strconv"
)

// Numbers are values of which NaN is a gap; in JSON it is null, and ten digits
// are enough for a picture and for what is read off it.
type Numbers []float64

// MarshalJSON implements json.Marshaler.
func (n Numbers) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range n {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			out = append(out, "null"...)
		} else {
			out = strconv.AppendFloat(out, v, 'g', 10, 64)
		}
	}
	return append(out, ']'), nil
}

// Style is how a series is drawn.
type Style string

// The styles. A cross is what was measured and is not used.
const (
	Line   Style = "line"
	Dashed Style = "dashed"
	Dots   Style = "dots"
	Cross  Style = "cross"
)

// Tone is a colour by what it stands for; the stylesheet knows its value in
// light and in dark.
type Tone string

// The tones.
const (
	First  Tone = "first"
	Second Tone = "second"
	Third  Tone = "third"
	Model  Tone = "model"
	Knee   Tone = "knee"
	Point  Tone = "point"
	Gate   Tone = "gate"
	Bad    Tone = "bad"
	Plain  Tone = "plain"
)

// Series is one set of points, in the order of X. Labels, where there are any,
// stand beside the points.
type Series struct {
	Name   string   `json:"name"`
	Style  Style    `json:"style"`
	Tone   Tone     `json:"tone"`
	Hollow bool     `json:"hollow,omitempty"` // of the second of two journals
	X      Numbers  `json:"x"`
	Y      Numbers  `json:"y"`
	Labels []string `json:"labels,omitempty"`
	// Mute keeps a series out of the legend: another one stands for it.
	Mute bool `json:"mute,omitempty"`
}

// Band is a stretch of X. Edge puts it along the axis instead of across the
// whole chart.
type Band struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Label string  `json:"label,omitempty"`
	Tone  Tone    `json:"tone"`
	Edge  bool    `json:"edge,omitempty"`
}

// Mark is a line across the chart: at X, or at Y where Level is set. Before puts
// its name to the left of it, where there is room.
type Mark struct {
	At     float64 `json:"at"`
	Level  bool    `json:"level,omitempty"`
	Label  string  `json:"label"`
	Tone   Tone    `json:"tone"`
	Dashed bool    `json:"dashed,omitempty"`
	Before bool    `json:"before,omitempty"`
}

// Axis is one direction. Log is the base of its scale, 0 for a linear one.
type Axis struct {
	Label string  `json:"label"`
	Short string  `json:"short"` // what a value is called where it is read off
	Log   int     `json:"log,omitempty"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Ticks Numbers `json:"ticks"`
}

// Chart is a picture of some series. X of every series is in the unit of the
// X axis.
type Chart struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Desc   string   `json:"-"` // what a reader who sees no picture is told
	X      Axis     `json:"x_axis"`
	Y      Axis     `json:"y_axis"`
	Series []Series `json:"series"`
	Bands  []Band   `json:"bands,omitempty"`
	Marks  []Mark   `json:"marks,omitempty"`
}

// Fit chooses the ends and ticks of both axes from what is to be seen. At, if
// not nil, are the ticks of X.
func (c *Chart) Fit(at []float64) {
	var xs, ys []float64
	for _, s := range c.Series {
		xs, ys = append(xs, s.X...), append(ys, s.Y...)
	}
	for _, m := range c.Marks {
		if m.Level {
			ys = append(ys, m.At)
		} else {
			xs = append(xs, m.At)
		}
	}
	for _, b := range c.Bands {
		xs = append(xs, b.From, b.To)
	}
	c.X.fit(xs)
	c.Y.fit(ys)
	if at != nil {
		c.X.Ticks = at
	}
}

// fit sets the ends a little beyond the values, and ticks between them.
func (a *Axis) fit(values []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) && (a.Log == 0 || v > 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	switch {
	case low > high && a.Log > 0:
		low, high = 1, 10
	case low > high:
		low, high = 0, 1
	}
	if a.Log > 0 {
		f := math.Pow(high/low, 0.04) * 1.05
		a.Low, a.High = low/f, high*f
		a.Ticks = decades(a.Low, a.High)
		return
	}
	a.Low, a.High = min(0, low), high
	if a.High == a.Low {
		a.High = a.Low + 1
	}
	if low < 0 {
		a.Low = low - 0.04*(high-low)
	}
	a.High += 0.04 * (a.High - a.Low)
	a.Ticks = even(a.Low, a.High)
}

// even are round values, about five.
func even(low, high float64) []float64 {
	rough := (high - low) / 5
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, f := range []float64{1, 2, 2.5, 5, 10} {
		if f*step >= rough {
			step *= f
			break
		}
	}
	var out []float64
	for i := math.Ceil(low / step); i*step <= high && len(out) < 20; i++ {
		out = append(out, i*step)
	}
	return out
}

// decades are 1, 2, 5 and their tenfolds, or powers of ten where those are many.
func decades(low, high float64) []float64 {
	steps := []float64{1, 2, 5}
	if high/low > 2e3 {
		steps = steps[:1]
	}
	var out []float64
	for e := math.Floor(math.Log10(low)); e <= math.Log10(high) && len(out) < 60; e++ {
		for _, f := range steps {
			if v := f * math.Pow(10, e); v >= low && v <= high {
				out = append(out, v)
			}
		}
	}
	return out
}
