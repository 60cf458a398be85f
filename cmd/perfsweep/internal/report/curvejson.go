package report

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// schemaVersion is that of every JSON document on stdout.
const schemaVersion = 1

type curveDoc struct {
	SchemaVersion  int                   `json:"schema_version"`
	Simulated      bool                  `json:"simulated,omitempty"`
	Status         knee.Status           `json:"status"`
	Flags          []string              `json:"flags"`
	Knee           float64               `json:"knee,omitempty"`
	KneeGrid       float64               `json:"knee_grid,omitempty"`
	KneeLow        float64               `json:"knee_low,omitempty"`
	KneeHigh       float64               `json:"knee_high,omitempty"`
	OperatingPoint int                   `json:"operating_point,omitempty"`
	Point          *sweep.OperatingPoint `json:"operating_point_detail,omitempty"`
	EStar          float64               `json:"e_star,omitempty"`
	Model          string                `json:"model,omitempty"`
	Params         map[string]float64    `json:"model_params,omitempty"`
	TiltLevel      int                   `json:"tilted_argmax,omitempty"`
	LatencyEdge    int                   `json:"latency_edge,omitempty"`
	NStar          float64               `json:"n_star,omitempty"`
	SLO            *sweep.SLO            `json:"slo,omitempty"`
	Goodput        []sweep.GoodputLevel  `json:"goodput,omitempty"`
	Elasticity     float64               `json:"last_octave_elasticity,omitempty"`
	Noise          float64               `json:"run_noise_ln,omitempty"`
	NoiseDF        int                   `json:"run_noise_df,omitempty"`
	Levels         []knee.Level          `json:"levels"`
	Refine         []float64             `json:"measure_next,omitempty"`
	Invalid        []invalidDoc          `json:"invalid_runs,omitempty"`
	Generator      []generatorDoc        `json:"generator,omitempty"`
	Fingerprint    *sweep.Fingerprint    `json:"fingerprint,omitempty"`
	Bottlenecks    []observe.Finding     `json:"bottlenecks,omitempty"`
	Stalls         []Stall               `json:"stalls,omitempty"`
	Reason         string                `json:"reason,omitempty"`
	Explain        *knee.Reasoning       `json:"explain,omitempty"`
	Warnings       []string              `json:"warnings"`
}

type invalidDoc struct {
	Seq               int               `json:"seq"`
	ConcurrencyPerGPU int               `json:"concurrency_per_gpu"`
	Violations        []sweep.Violation `json:"violations"`
}

// CurveJSON prints the curve as one JSON document.
func CurveJSON(w io.Writer, c Curve) error {
	f := c.Fit
	d := curveDoc{
		SchemaVersion: schemaVersion, Status: f.Status, Flags: list(f.Flags), Knee: f.Knee, KneeGrid: f.GridKnee,
		KneeLow: f.KneeLow, KneeHigh: f.KneeHigh, OperatingPoint: c.Point.ConcurrencyPerGPU, EStar: f.EStar,
		Model: f.Model, Params: f.Params, TiltLevel: f.TiltLevel, LatencyEdge: f.LatencyEdge, NStar: f.NStar,
		Elasticity: f.LastElasticity, Noise: f.Noise, NoiseDF: f.NoiseDF, Levels: f.Levels, Refine: f.Refine,
		Fingerprint: c.Fingerprint, Reason: c.Reason, Explain: f.Reasoning, Warnings: list(f.Warnings),
	}
	if d.Levels == nil {
		d.Levels = []knee.Level{}
	}
	if c.Point.ConcurrencyPerGPU > 0 || c.Point.Reason != "" {
		d.Point = &c.Point
	}
	if c.Fingerprint != nil {
		d.Simulated = c.Fingerprint.Simulated
	}
	if c.Objective != nil {
		d.SLO, d.Goodput = &c.Objective.SLO, c.Objective.Goodput
	}
	d.Bottlenecks, d.Stalls, d.Invalid = c.Findings, c.Stalls, invalidRuns(c.All)
	d.Generator = generatorDocs(c.All)
	return encode(w, d)
}

func invalidRuns(all []sweep.Run) []invalidDoc {
	var out []invalidDoc
	for _, r := range all {
		if !r.Valid() {
			out = append(out, invalidDoc{r.Seq, r.Step.ConcurrencyPerGPU, r.Violations})
		}
	}
	return out
}

// list makes an absent list an empty one: readers may range over it.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// CurveCSV prints the runs in the form that the knee command reads.
func CurveCSV(w io.Writer, c Curve) error {
	cw := csv.NewWriter(w)
	rows := [][]string{{"concurrency_per_gpu", "output_tok_per_s_per_gpu", "ttft_p50_ms", "ttft_p99_ms", "itl_ms"}}
	// Scripts know the header: a column is added only for what was asked for.
	itl := c.Objective != nil && c.Objective.SLO.Objective.ITLMS > 0
	if itl {
		rows[0] = append(rows[0], "itl_p99_ms")
	}
	for _, r := range c.Runs {
		row := []string{strconv.Itoa(r.ConcurrencyPerGPU), cell(r.TokPerSecPerGPU), cell(r.TTFTP50MS), cell(r.TTFTP99MS), cell(r.ITLMS)}
		if itl {
			row = append(row, cell(r.ITLP99MS))
		}
		rows = append(rows, row)
	}
	return cw.WriteAll(rows)
}

// cell prints a metric, absent as an empty cell.
func cell(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
