package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/knee"
)

// explain prints why a fit has this model, this knee and this status.
func (p *printer) explain(f knee.Fit) {
	p.line("")
	r := f.Reasoning
	if r == nil {
		p.line("why: nothing was fitted; see the warnings")
		return
	}
	p.line("why this model: the lowest AICc of those in the running; the error is the distance of the levels from the model (rms)")
	p.table(candidateRows(r.Candidates))
	p.line("")
	p.line("what the levels say: the tilt is ln X - e*·ln n with e* = %.2f, in percent of throughput below its best", f.EStar)
	p.table(levelRows(r.Levels))
	p.line("")
	p.line("why this knee and status %s:", f.Status)
	for i, s := range r.Steps {
		p.line("  %d. %s: %s; %s", i+1, s.Rule, s.Seen, s.Decision)
	}
	if len(r.Spans) > 0 {
		p.line("")
		p.line("why this interval, %.4g to %.4g: the union of", f.KneeLow, f.KneeHigh)
		for _, s := range r.Spans {
			p.line("  %.4g to %.4g  %s", s.Low, s.High, s.From)
		}
	}
}

func candidateRows(all []knee.Candidate) [][]string {
	rows := [][]string{{"model", "parameters", "error %", "AICc above best", "knee", "parameters' values, or why it is out"}}
	for _, c := range all {
		fitted := len(c.Params) > 0
		row := []string{c.Model, fmt.Sprint(c.Parameters), "-", "-", "-", params(c.Params)}
		if fitted {
			row[2] = fmt.Sprintf("%.2f", c.ErrorPct)
		}
		if c.Rejected == "" {
			row[3] = fmt.Sprintf("%.1f", c.DeltaAICc)
		} else {
			row[5] = "out: " + c.Rejected
		}
		if c.Knee > 0 {
			row[4] = fmt.Sprintf("%.4g", c.Knee)
		}
		rows = append(rows, row)
	}
	return rows
}

func params(p map[string]float64) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		out = append(out, fmt.Sprintf("%s %.4g", name, p[name]))
	}
	return strings.Join(out, ", ")
}

func levelRows(levels []knee.LevelReasoning) [][]string {
	rows := [][]string{{"per GPU", "tok/s/GPU", "off the model %", "tilt below best %", "TTFT p99 ms", ""}}
	for _, l := range levels {
		mark := ""
		if l.TiltPct == 0 {
			mark = "<- tilted argmax"
		}
		rows = append(rows, []string{fmt.Sprint(l.ConcurrencyPerGPU), number(l.TokPerSecPerGPU), fmt.Sprintf("%+.1f", l.ModelPct),
			fmt.Sprintf("%.1f", l.TiltPct), number(l.TTFTP99MS), mark})
	}
	return rows
}
