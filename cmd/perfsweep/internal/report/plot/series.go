package plot

import (
	"math"
	"strings"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/markup"
)

// drawn reports whether a point has a place.
func (d canvas) drawn(x, y float64) bool {
	on := func(a Axis, v float64) bool {
		return !math.IsNaN(v) && !math.IsInf(v, 0) && (a.Log == 0 || v > 0)
	}
	return on(d.c.X, x) && on(d.c.Y, y)
}

func (d canvas) series(s Series) {
	class := "s-" + string(s.Style) + " t-" + string(s.Tone)
	if s.Hollow {
		class += " hollow"
	}
	d.Open("g", markup.A("class", class))
	switch s.Style {
	case Dots, Cross:
		var named []spot
		for i := range s.X {
			if d.drawn(s.X[i], s.Y[i]) {
				d.point(s, i)
				named = d.name(s, i, named)
			}
		}
	default:
		if p := d.path(s); p != "" {
			d.Empty("path", markup.A("d", p))
		}
	}
	d.Close("g")
	d.Line()
}

// point draws one value, with what it is for whoever rests on it.
func (d canvas) point(s Series, i int) {
	x, y := d.x(s.X[i]), d.y(s.Y[i])
	if s.Style == Cross {
		d.Open("path", markup.A("d", "M"+num(x-4)+" "+num(y-4)+"l8 8m0 -8l-8 8"))
	} else {
		d.Open("circle", markup.A("cx", num(x)), markup.A("cy", num(y)), markup.A("r", "3.5"))
	}
	d.Leaf("title", s.Name+": "+Number(s.Y[i])+" "+d.c.Y.Short+" at "+tick(s.X[i])+" "+d.c.X.Short)
	if s.Style == Cross {
		d.Close("path")
	} else {
		d.Close("circle")
	}
}

// spot is a place in the picture.
type spot struct{ x, y float64 }

// name writes what a point is called beside it, unless a name already there
// would be covered.
func (d canvas) name(s Series, i int, named []spot) []spot {
	if i >= len(s.Labels) || s.Labels[i] == "" {
		return named
	}
	at := spot{d.x(s.X[i]) + 7, d.y(s.Y[i]) + 4}
	for _, o := range named {
		if math.Abs(at.x-o.x) < letter*float64(len(s.Labels[i])) && math.Abs(at.y-o.y) < lineHeight {
			return named
		}
	}
	d.text("note", "start", at.x, at.y, s.Labels[i])
	return append(named, at)
}

// path joins the points, interrupted by gaps. Where many of them share a column
// of the picture, the first, the lowest, the highest and the last of it look
// the same as all.
func (d canvas) path(s Series) string {
	var b strings.Builder
	pen := false
	to := func(x, y float64) {
		if pen {
			b.WriteByte('L')
		} else {
			b.WriteByte('M')
		}
		b.WriteString(num(x))
		b.WriteByte(' ')
		b.WriteString(num(y))
		pen = true
	}
	for i := 0; i < len(s.X); {
		if !d.drawn(s.X[i], s.Y[i]) {
			pen = false
			i++
			continue
		}
		x := d.x(s.X[i])
		j, low, high := i, d.y(s.Y[i]), d.y(s.Y[i])
		for j+1 < len(s.X) && d.drawn(s.X[j+1], s.Y[j+1]) && d.x(s.X[j+1])-x < 0.5 {
			j++
			low, high = min(low, d.y(s.Y[j])), max(high, d.y(s.Y[j]))
		}
		to(x, d.y(s.Y[i]))
		if j > i+2 {
			to(x, low)
			to(x, high)
		}
		if j > i {
			to(d.x(s.X[j]), d.y(s.Y[j]))
		}
		i = j + 1
	}
	return b.String()
}

// Key draws the sign of a series for a legend, 26 by 12.
func Key(w *markup.Writer, s Series) {
	class := "s-" + string(s.Style) + " t-" + string(s.Tone)
	if s.Hollow {
		class += " hollow"
	}
	w.Open("g", markup.A("class", class))
	switch s.Style {
	case Dots:
		w.Empty("circle", markup.A("cx", "13"), markup.A("cy", "6"), markup.A("r", "3.5"))
	case Cross:
		w.Empty("path", markup.A("d", "M9 2l8 8m0 -8l-8 8"))
	default:
		w.Empty("path", markup.A("d", "M1 6L25 6"))
	}
	w.Close("g")
}

// legend is the row of names in a picture of its own.
func (d canvas) legend(y float64) {
	x := left
	for _, s := range d.c.Series {
		if s.Mute {
			continue
		}
		d.Open("g", markup.A("transform", "translate("+num(x)+" "+num(y-10)+")"))
		Key(d.Writer, s)
		d.Close("g")
		d.text("tick", "start", x+30, y, s.Name)
		x += 30 + letter*float64(len([]rune(s.Name))) + 18
	}
}

// Ticks are the levels as ticks of an axis.
func Ticks(levels []int) Numbers {
	out := make(Numbers, len(levels))
	for i, n := range levels {
		out[i] = float64(n)
	}
	return out
}
