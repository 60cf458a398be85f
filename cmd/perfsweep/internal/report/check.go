package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// CheckReport is a verdict with the runs behind it.
type CheckReport struct {
	Overlay string
	Curve   sweep.Curve
	Result  calibrate.CheckResult
	Inputs  recipes.Inputs // zero where nothing was to be measured
	AICR    *AICR          // nil unless asked for
	// Findings say of each run what held it back, where the servers were heard,
	// and Stalls what stood still in it.
	Findings []RunFinding
	Stalls   []Stall
	// Next is the command that comes next, "" for none.
	Next string
}

// CheckText prints the verdict first.
func CheckText(w io.Writer, c CheckReport) error {
	p := &printer{w: w}
	r := c.Result
	p.head(fmt.Sprintf("%s: %s", r.Verdict, c.Overlay))
	for _, s := range r.Reasons {
		p.line("  %s", s)
	}
	p.inputs(c.Inputs)
	if r.TokPerSecPerGPU > 0 {
		p.line("measured at %d per GPU: %s tok/s per GPU, TTFT p99 %s ms (median of %s)",
			r.Gate.ConcurrencyPerGPU, number(r.TokPerSecPerGPU), number(r.TTFTP99MS), plural.Of(r.Valid, "valid gate run"))
	}
	if s := effective(r.Effective); s != "" {
		p.line("effective gate, tolerance included: %s", s)
	}
	if len(c.Curve.Runs) > 0 && p.err == nil {
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, run := range c.Curve.Runs {
			est := run.Result.Estimate()
			fmt.Fprintf(tw, "  run %d\t%s\t%s tok/s\tTTFT p99 %s ms\t%s\n", run.Seq, run.Step.Kind, number(est.OutputTokPerSec), number(est.TTFTP99MS), validity(run))
		}
		p.err = tw.Flush()
	}
	p.stalls(c.Stalls)
	p.reasonsOf(c.Findings, r.Verdict == calibrate.Pass)
	p.aicr(c.AICR, r.Verdict)
	for _, l := range c.lines() {
		p.line("%s", l)
	}
	p.next(c.Next)
	return p.err
}

// effective names the thresholds that there are.
func effective(e recipes.Evaluation) string {
	var parts []string
	if e.EffectiveFloorTokPerSec > 0 {
		parts = append(parts, "at least "+number(e.EffectiveFloorTokPerSec)+" tok/s in total")
	}
	if e.EffectiveCeilingTTFTP99MS > 0 {
		parts = append(parts, "TTFT p99 at most "+number(e.EffectiveCeilingTTFTP99MS)+" ms")
	}
	return strings.Join(parts, ", ")
}

func validity(r sweep.Run) string {
	if r.Valid() {
		return "valid"
	}
	return "INVALID " + strings.Join(failed(r), "; ")
}

type checkDoc struct {
	SchemaVersion int                         `json:"schema_version"`
	Verdict       calibrate.Verdict           `json:"verdict"`
	Simulated     bool                        `json:"simulated"`
	Reasons       []string                    `json:"reasons"`
	Measured      measuredDoc                 `json:"measured"`
	Gate          recipes.Gate                `json:"gate"`
	Effective     recipes.Evaluation          `json:"effective_gate"`
	Bridge        *calibrate.CheckBridge      `json:"bridge,omitempty"`
	Pulse         calibrate.PulseResult       `json:"pulse,omitzero"`
	Sensitivity   []calibrate.Sensitivity     `json:"sensitivity,omitempty"`
	Drift         *calibrate.Drift            `json:"drift,omitempty"`
	History       *calibrate.History          `json:"history,omitempty"`
	Runs          []runDoc                    `json:"runs"`
	Bottlenecks   []RunFinding                `json:"bottlenecks,omitempty"`
	Stalls        []Stall                     `json:"stalls,omitempty"`
	Fingerprint   *sweep.Fingerprint          `json:"fingerprint,omitempty"`
	Inputs        *recipes.Inputs             `json:"inputs,omitempty"`
	Provenance    *calibrate.ProvenanceResult `json:"provenance,omitempty"`
	AICR          *aicrDoc                    `json:"aicr,omitempty"`
}

type aicrDoc struct {
	*AICR
	Differs bool `json:"differs"`
}

type measuredDoc struct {
	TokPerSecPerGPU float64 `json:"output_tok_per_s_per_gpu,omitempty"`
	TTFTP99MS       float64 `json:"ttft_p99_ms,omitempty"`
	Valid           int     `json:"valid_attempts"`
	Attempts        int     `json:"attempts"`
}

// CheckJSON prints the verdict as one JSON document.
func CheckJSON(w io.Writer, c CheckReport) error {
	r := c.Result
	d := checkDoc{
		SchemaVersion: schemaVersion, Verdict: r.Verdict, Simulated: c.Curve.Fingerprint.Simulated, Reasons: list(r.Reasons),
		Measured: measuredDoc{r.TokPerSecPerGPU, r.TTFTP99MS, r.Valid, r.Attempts},
		Gate:     r.Gate, Effective: r.Effective, Bridge: r.Bridge, Pulse: r.Pulse, Sensitivity: r.Sensitivity, Drift: r.Drift, History: r.History, Runs: runDocs(c.Curve.Runs),
		Bottlenecks: c.Findings, Stalls: c.Stalls,
	}
	if d.Effective.Reasons == nil {
		d.Effective.Reasons = []string{}
	}
	if c.Inputs.ConcurrencyPerGPU > 0 {
		d.Inputs = &c.Inputs
	}
	if r.Provenance.State != "" {
		d.Provenance = &r.Provenance
	}
	if c.AICR != nil {
		d.AICR = &aicrDoc{c.AICR, c.AICR.differs(r.Verdict)}
	}
	if c.Curve.Fingerprint.Target != "" {
		d.Fingerprint = &c.Curve.Fingerprint
	}
	return encode(w, d)
}

// RunsCSV prints one row a run, whatever its kind.
func RunsCSV(w io.Writer, c sweep.Curve) error {
	rows := [][]string{{"seq", "kind", "concurrency_per_gpu", "output_tok_per_s", "ttft_p50_ms", "ttft_p99_ms", "valid"}}
	for _, r := range c.Runs {
		e := r.Result.Estimate()
		rows = append(rows, []string{
			strconv.Itoa(r.Seq), string(r.Step.Kind), strconv.Itoa(r.Step.ConcurrencyPerGPU),
			cell(e.OutputTokPerSec), cell(e.TTFTP50MS), cell(e.TTFTP99MS), strconv.FormatBool(r.Valid()),
		})
	}
	return csv.NewWriter(w).WriteAll(rows)
}
