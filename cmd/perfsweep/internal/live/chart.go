package live

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/plot"
)

// chartRows is how many rows the curve has where there is room.
const chartRows = 4

// steps are the fillings of one character, lowest first.
func (st Style) steps() []rune {
	if st.Unicode {
		return []rune("▁▂▃▄▅▆▇█")
	}
	return []rune("..--==##")
}

// chart draws tok/s per GPU against concurrency per GPU, a column a level, not
// to scale: levels are a ladder of about equal ratios. A single level is no
// curve.
func chart(points []Point, width, height int, st Style) []string {
	var top float64
	for _, p := range points {
		top = max(top, p.TokPerSecPerGPU)
	}
	if len(points) < 2 || !(top > 0) || math.IsInf(top, 0) {
		return nil
	}
	const indent = "  "
	axis := plot.Number(top)
	room := width - len(indent) - len(axis) - 1
	cell := 0
	for _, p := range points {
		cell = max(cell, len(fmt.Sprint(p.ConcurrencyPerGPU))+1)
	}
	labelled := height > 1 && cell*len(points) <= room
	if !labelled {
		cell = 1
	}
	if room < 2 {
		return nil
	}
	points = points[max(len(points)-room/cell, 0):] // the knee is in the upper part
	var lines []string
	for row := height - 1; row >= 0; row-- {
		left := strings.Repeat(" ", len(axis))
		if row == height-1 {
			left = axis
		}
		var b strings.Builder
		for _, p := range points {
			b.WriteString(bar(p.TokPerSecPerGPU/top*float64(height)-float64(row), cell, row == 0, st))
		}
		lines = append(lines, strings.TrimRight(indent+left+" "+b.String(), " "))
	}
	return append(lines, cut(indent+strings.Repeat(" ", len(axis)+1)+labels(points, cell, labelled), width, st))
}

// bar is a column's part of a row, full from 1 on. The lowest row of a level
// that served anything is never empty.
func bar(filled float64, cell int, lowest bool, st Style) string {
	steps := st.steps()
	n := int(math.Round(filled * float64(len(steps))))
	if lowest {
		n = max(n, 1)
	}
	if n <= 0 || math.IsNaN(filled) {
		return strings.Repeat(" ", cell)
	}
	mark := string(steps[min(n, len(steps))-1])
	if cell == 1 {
		return mark
	}
	return " " + strings.Repeat(mark, cell-1)
}

// labels are the concurrencies under the columns, the first and the last where
// there is no room for all.
func labels(points []Point, cell int, each bool) string {
	if !each {
		return fmt.Sprintf("%d to %d per GPU", points[0].ConcurrencyPerGPU, points[len(points)-1].ConcurrencyPerGPU)
	}
	var b strings.Builder
	for _, p := range points {
		fmt.Fprintf(&b, "%*d", cell, p.ConcurrencyPerGPU)
	}
	return b.String() + "  per GPU"
}
