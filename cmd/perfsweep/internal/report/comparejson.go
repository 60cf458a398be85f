package report

import (
	"io"

	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

type compareDoc struct {
	SchemaVersion int             `json:"schema_version"`
	Simulated     bool            `json:"simulated,omitempty"`
	Verdict       compare.Verdict `json:"verdict"`
	TTFTVerdict   compare.Verdict `json:"ttft_verdict"`
	Throughput    changeDoc       `json:"output_tok_per_s_per_gpu"`
	TTFT          changeDoc       `json:"ttft_p99_ms"`
	// Objective is absent where none was given.
	Objective   *compareObjective `json:"objective,omitempty"`
	Levels      []compareRow      `json:"levels"`
	Point       *compareRow       `json:"operating_point,omitempty"`
	Knee        *kneeShift        `json:"knee,omitempty"`
	OnlyA       []int             `json:"levels_only_a,omitempty"`
	OnlyB       []int             `json:"levels_only_b,omitempty"`
	Interleaved bool              `json:"interleaved"`
	Turns       *Turns            `json:"turns,omitempty"`
	Differences []string          `json:"differences"`
	A           compareSide       `json:"a"`
	B           compareSide       `json:"b"`
	Matters     compareThreshold  `json:"matters"`
	Warnings    []string          `json:"warnings"`
}

type compareThreshold struct {
	Confidence float64 `json:"confidence"`
	Throughput float64 `json:"output_tok_per_s_per_gpu"`
	TTFT       float64 `json:"ttft_p99_ms"`
}

type compareSide struct {
	Name           string             `json:"name"`
	Status         string             `json:"status"`
	Knee           float64            `json:"knee,omitempty"`
	OperatingPoint int                `json:"operating_point,omitempty"`
	Fingerprint    *sweep.Fingerprint `json:"fingerprint,omitempty"`
}

type compareRow struct {
	ConcurrencyPerGPU int        `json:"concurrency_per_gpu"`
	Throughput        changeDoc  `json:"output_tok_per_s_per_gpu"`
	TTFT              changeDoc  `json:"ttft_p99_ms"`
	Goodput           *changeDoc `json:"good_output_tok_per_s_per_gpu,omitempty"`
}

type kneeShift struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"ratio_low"`
	High  float64 `json:"ratio_high"`
}

type changeDoc struct {
	Verdict    compare.Verdict `json:"verdict"`
	RunsA      int             `json:"runs_a"`
	RunsB      int             `json:"runs_b"`
	MedianA    float64         `json:"median_a,omitempty"`
	MedianB    float64         `json:"median_b,omitempty"`
	Ratio      float64         `json:"ratio,omitempty"`
	Low        float64         `json:"ratio_low,omitempty"`
	High       float64         `json:"ratio_high,omitempty"`
	Confidence float64         `json:"confidence,omitempty"`
	P          float64         `json:"p"`
	Corrected  float64         `json:"p_corrected"`
	Spread     float64         `json:"run_noise_ln,omitempty"`
	More       int             `json:"more_runs_per_level_and_side,omitempty"`
}

func changed(c compare.Change) changeDoc {
	return changeDoc{c.Verdict, c.RunsA, c.RunsB, c.MedianA, c.MedianB, c.Ratio, c.Low, c.High, c.Confidence, c.P, c.Corrected, c.Spread, c.More}
}

func (c Comparison) row(l compare.Level) compareRow {
	row := compareRow{ConcurrencyPerGPU: l.ConcurrencyPerGPU, Throughput: changed(l.Throughput), TTFT: changed(l.TTFT)}
	if c.Report.Goodput != nil {
		g := changed(l.Goodput)
		row.Goodput = &g
	}
	return row
}

func compareSideOf(name string, s compare.Side) compareSide {
	return compareSide{name, string(s.Fit.Status), s.Fit.Knee, s.Point.ConcurrencyPerGPU, s.Fingerprint}
}

func simulated(s compare.Side) bool { return s.Fingerprint != nil && s.Fingerprint.Simulated }

// CompareJSON prints the comparison as one JSON document.
func CompareJSON(w io.Writer, c Comparison) error {
	r := c.Report
	d := compareDoc{
		SchemaVersion: schemaVersion, Simulated: simulated(c.A) || simulated(c.B),
		Verdict: r.Throughput.Verdict, TTFTVerdict: r.TTFT.Verdict, Throughput: changed(r.Throughput), TTFT: changed(r.TTFT), Objective: c.objectiveDoc(),
		Levels: []compareRow{}, OnlyA: r.OnlyA, OnlyB: r.OnlyB, Interleaved: r.Interleaved, Turns: c.Turns, Differences: list(c.Differences),
		A: compareSideOf(c.NameA, c.A), B: compareSideOf(c.NameB, c.B),
		Matters: compareThreshold{c.Options.Confidence, c.Options.Throughput, c.Options.TTFT}, Warnings: list(r.Warnings),
	}
	for _, l := range r.Levels {
		d.Levels = append(d.Levels, c.row(l))
	}
	if r.Point != nil {
		row := c.row(*r.Point)
		d.Point = &row
	}
	if r.KneeRatio > 0 {
		d.Knee = &kneeShift{r.KneeRatio, r.KneeLow, r.KneeHigh}
	}
	return encode(w, d)
}
