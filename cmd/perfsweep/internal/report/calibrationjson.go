package report

import (
	"io"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

type calibrationDoc struct {
	SchemaVersion     int                       `json:"schema_version"`
	Outcome           calibrate.Outcome         `json:"outcome"`
	Simulated         bool                      `json:"simulated"`
	Reasons           []string                  `json:"reasons"`
	Gates             []calibrate.GateResult    `json:"gates"`
	Status            knee.Status               `json:"status"`
	Knee              float64                   `json:"knee,omitempty"`
	KneeLow           float64                   `json:"knee_low,omitempty"`
	KneeHigh          float64                   `json:"knee_high,omitempty"`
	ConcurrencyPerGPU int                       `json:"concurrency_per_gpu,omitempty"`
	Point             sweep.OperatingPoint      `json:"operating_point"`
	SLO               *sweep.SLO                `json:"slo,omitempty"`
	Goodput           []sweep.GoodputLevel      `json:"goodput,omitempty"`
	Bottlenecks       []observe.Finding         `json:"bottlenecks,omitempty"`
	Stalls            []Stall                   `json:"stalls,omitempty"`
	TokPerSecPerGPU   float64                   `json:"output_tok_per_s_per_gpu,omitempty"`
	TTFTP99MS         float64                   `json:"ttft_p99_ms,omitempty"`
	Floor             float64                   `json:"floor,omitempty"`
	FloorForm         calibrate.Form            `json:"floor_form,omitempty"`
	FloorProfile      calibrate.Profile         `json:"floor_profile,omitempty"`
	CeilingMS         float64                   `json:"ceiling_ms,omitempty"`
	Limits            *calibrate.Limits         `json:"limits,omitempty"`
	Sensitivity       []calibrate.Sensitivity   `json:"sensitivity"`
	Anchor            calibrate.AnchorResult    `json:"anchor"`
	Equivalence       calibrate.Equivalence     `json:"equivalence"`
	Validity          calibrate.Validity        `json:"valid_gpus"`
	Bridge            *calibrate.Bridge         `json:"bridge,omitempty"`
	Runs              []runDoc                  `json:"runs"`
	Fingerprint       sweep.Fingerprint         `json:"fingerprint"`
	OutputTokens      int64                     `json:"total_output_tokens"`
	Gate              *recipes.Gate             `json:"gate,omitempty"`
	Overlay           string                    `json:"overlay"`
	Reconfirm         *calibrate.Reconfirmation `json:"reconfirmation,omitempty"`
	Shipped           string                    `json:"shipped_overlay,omitempty"`
	Diff              string                    `json:"diff,omitempty"`
	Wrote             bool                      `json:"wrote"`
	Sidecar           string                    `json:"sidecar,omitempty"`
	Upstream          []recipes.Need            `json:"upstream,omitempty"`
	Explain           *calibrationExplain       `json:"explain,omitempty"`
}

// calibrationExplain is how a decision came about; the gates stand beside it.
type calibrationExplain struct {
	RunGates []calibrate.GateResult `json:"run_gates"`
	Steps    []calibrate.Step       `json:"steps"`
	Knee     *knee.Reasoning        `json:"knee,omitempty"`
}

// runDoc is one run in a JSON answer; the journal holds the whole of it.
type runDoc struct {
	Seq               int               `json:"seq"`
	ConcurrencyPerGPU int               `json:"concurrency_per_gpu"`
	Kind              string            `json:"kind"`
	Purpose           sweep.Purpose     `json:"purpose"`
	Window            int               `json:"window"`
	Deployment        string            `json:"deployment_id,omitempty"`
	Valid             bool              `json:"valid"`
	WindowTokPerSec   float64           `json:"window_output_tok_per_s,omitempty"`
	WholeTokPerSec    float64           `json:"whole_run_output_tok_per_s,omitempty"`
	WindowTTFTP99MS   float64           `json:"window_ttft_p99_ms,omitempty"`
	WholeTTFTP99MS    float64           `json:"whole_run_ttft_p99_ms,omitempty"`
	Violations        []sweep.Violation `json:"violations,omitempty"`
	Workers           *sweep.Workers    `json:"workers,omitempty"`
	Servers           *sweep.Servers    `json:"servers,omitempty"`
	Health            loadgen.Health    `json:"health"`
}

func runDocs(runs []sweep.Run) []runDoc {
	out := []runDoc{}
	for _, r := range runs {
		out = append(out, runDoc{
			Seq: r.Seq, ConcurrencyPerGPU: r.Step.ConcurrencyPerGPU, Kind: string(r.Step.Kind), Purpose: r.Step.Purpose,
			Window: max(r.Window, 1), Deployment: r.Deployment,
			Valid: r.Valid(), WindowTokPerSec: r.Result.Window.OutputTokPerSec, WholeTokPerSec: r.Result.WholeRun.OutputTokPerSec,
			WindowTTFTP99MS: r.Result.Window.TTFTP99MS, WholeTTFTP99MS: r.Result.WholeRun.TTFTP99MS, Violations: r.Violations, Workers: r.Workers, Servers: r.Servers,
			Health: r.Result.Health,
		})
	}
	return out
}

// CalibrationJSON prints the calibration as one JSON document.
func CalibrationJSON(w io.Writer, c Calibration) error {
	r := c.Proposal
	d := calibrationDoc{
		SchemaVersion: schemaVersion, Outcome: r.Outcome, Simulated: c.Curve.Fingerprint.Simulated,
		Reasons: list(r.Reasons), Gates: r.Gates, Status: r.Fit.Status,
		Knee: r.Fit.Knee, KneeLow: r.Fit.KneeLow, KneeHigh: r.Fit.KneeHigh,
		ConcurrencyPerGPU: r.Point.ConcurrencyPerGPU, Point: r.Point,
		TokPerSecPerGPU: r.TokPerSecPerGPU, TTFTP99MS: r.TTFTP99MS,
		Floor: r.Gate.FloorPerGPU + r.Gate.Floor, FloorForm: r.Form, FloorProfile: r.Profile, CeilingMS: r.CeilingMS,
		Sensitivity: r.Sensitivity, Anchor: r.Anchor, Equivalence: r.Equivalence, Validity: r.Validity, Bridge: r.Bridge, Runs: runDocs(c.Curve.Runs), Fingerprint: c.Curve.Fingerprint,
		OutputTokens: c.Curve.OutputTokens(), Overlay: c.Overlay, Reconfirm: c.Reconfirm, Shipped: c.Shipped, Diff: c.Diff, Wrote: c.Wrote,
	}
	if c.Wrote {
		d.Sidecar = c.Sidecar
	}
	if c.changed() {
		d.Upstream = c.Upstream
	}
	d.Bottlenecks, d.Stalls = c.Findings, c.Stalls
	if c.Objective != nil {
		d.SLO, d.Goodput = &c.Objective.SLO, c.Objective.Goodput
	}
	if d.Sensitivity == nil {
		d.Sensitivity = []calibrate.Sensitivity{}
	}
	if r.Limits.Runs > 0 {
		d.Limits = &r.Limits
	}
	if !r.Gate.Empty() {
		d.Gate = &r.Gate
	}
	if c.Explain {
		d.Explain = &calibrationExplain{r.RunGates, r.Steps, r.Fit.Reasoning}
	}
	return encode(w, d)
}
