package report

import (
	"fmt"
	"strconv"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report/plot"
	"github.com/perfsweep/perfsweep/sweep"
)

// goodputGrid is what was served within the objective, a row a level.
func (s Side) goodputGrid() grid {
	o := s.Curve.Objective
	g := grid{caption: s.of("What ended well and within " + limits(o.SLO.Objective) + ", a level; the share is of all requests, failed ones included"),
		head:  []string{"per GPU", "runs", "TTFT p99 ms", "ITL p99 ms", "good requests/s per GPU", "good tok/s per GPU", "good share"},
		marks: map[int]string{}}
	served := map[int]sweep.GoodputLevel{}
	for _, l := range o.Goodput {
		served[l.ConcurrencyPerGPU] = l
	}
	for i, l := range o.SLO.Levels {
		row := []string{strconv.Itoa(l.ConcurrencyPerGPU), strconv.Itoa(l.Runs), number(l.TTFTP99MS), number(l.ITLP99MS), "-", "-", "-"}
		if at, ok := served[l.ConcurrencyPerGPU]; ok {
			row = append(row[:4], fmt.Sprintf("%.3g", at.RequestsPerSecPerGPU), plot.Group(fmt.Sprintf("%.0f", at.TokPerSecPerGPU)), fmt.Sprintf("%.1f %%", 100*at.Share))
		}
		if l.ConcurrencyPerGPU == s.Curve.Point.ConcurrencyPerGPU {
			g.marks[i] = "point"
		}
		g.add(row...)
	}
	return g
}

// goodputWords say how far the objective is met, or what would have told it.
func (s Side) goodputWords() []string {
	o := s.Curve.Objective
	if o == nil {
		return []string{noObjective}
	}
	out := []string{"Objective " + limits(o.SLO.Objective) + ": " + verdictOf(o.SLO)}
	if len(o.SLO.Levels) > 0 && len(o.Goodput) == 0 {
		out = append(out, "no run counted goodput by this objective")
	}
	return append(out, o.SLO.Notes...)
}

// noObjective stands where a table would.
const noObjective = "no objective was asked for, so goodput was not counted: sweep and calibrate count it with --ttft-p99 MS or --itl-p99 MS"

// goodputTable is goodput on the page.
func (h *htmlPage) goodputTable(s Side) {
	h.section("goodput"+s.Letter, s.of("Goodput"))
	for _, w := range s.goodputWords() {
		h.Leaf("p", capital(w)+".")
	}
	if o := s.Curve.Objective; o != nil && len(o.SLO.Levels) > 0 {
		h.table(s.goodputGrid())
	}
	h.Close("section")
}
