package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/recipes"
)

// CheckOutcome is a check for a pipeline that collects test results. A check
// that came to no end has Err, and its result says nothing.
type CheckOutcome struct {
	CheckReport
	Version string // of this program
	Err     error
	// Start and Stop bound the runs; equal where nothing ran.
	Start, Stop time.Time
}

// The status names of the Common Test Report Format that a check can have. An
// inconclusive check is "other", which AICR counts as blocking: it is neither a
// pass nor a skip, and a failure would blame the cluster.
const (
	ctrfPassed = "passed"
	ctrfFailed = "failed"
	ctrfOther  = "other"
)

// status is the CTRF status, and our own word for it.
func (c CheckOutcome) status() (ctrf, raw string) {
	switch {
	case c.Err != nil:
		return ctrfOther, "error"
	case c.Result.Verdict == calibrate.Pass:
		return ctrfPassed, string(c.Result.Verdict)
	case c.Result.Verdict == calibrate.Fail:
		return ctrfFailed, string(c.Result.Verdict)
	}
	return ctrfOther, string(calibrate.Inconclusive)
}

// message is why; a pass has its numbers there.
func (c CheckOutcome) message() string {
	if c.Err != nil {
		return c.Err.Error()
	}
	return strings.Join(c.Result.Reasons, "; ")
}

// lines are those of AICR's check. Doubtful runs have no result.
func (c CheckReport) lines() []string {
	if c.Result.Verdict != calibrate.Pass && c.Result.Verdict != calibrate.Fail {
		return nil
	}
	gpus := c.Curve.Fingerprint.GPUs
	m := recipes.Measured{TokPerSec: c.Result.TokPerSecPerGPU * float64(gpus), TTFTP99MS: c.Result.TTFTP99MS, GPUs: gpus}
	return recipes.ResultLines(c.Result.Gate, m, c.Result.Effective)
}

// The part of CTRF that is written; https://ctrf.io has the schema.
type (
	ctrfDoc struct {
		ReportFormat string      `json:"reportFormat"`
		SpecVersion  string      `json:"specVersion"`
		Timestamp    string      `json:"timestamp"`
		GeneratedBy  string      `json:"generatedBy"`
		Results      ctrfResults `json:"results"`
	}
	ctrfResults struct {
		Tool        ctrfTool          `json:"tool"`
		Summary     ctrfSummary       `json:"summary"`
		Tests       []ctrfTest        `json:"tests"`
		Environment map[string]string `json:"environment,omitempty"`
	}
	ctrfTool struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	ctrfSummary struct {
		Tests   int   `json:"tests"`
		Passed  int   `json:"passed"`
		Failed  int   `json:"failed"`
		Skipped int   `json:"skipped"`
		Pending int   `json:"pending"`
		Other   int   `json:"other"`
		Start   int64 `json:"start"`
		Stop    int64 `json:"stop"`
	}
	ctrfTest struct {
		Name      string     `json:"name"`
		Status    string     `json:"status"`
		Duration  int64      `json:"duration"`
		Start     int64      `json:"start"`
		Stop      int64      `json:"stop"`
		Suite     []string   `json:"suite"`
		Message   string     `json:"message,omitempty"`
		RawStatus string     `json:"rawStatus"`
		Stdout    []string   `json:"stdout,omitempty"`
		Extra     *ctrfExtra `json:"extra,omitempty"`
	}
	// ctrfExtra is what AICR's two lines lack.
	ctrfExtra struct {
		Model             string  `json:"model,omitempty"`
		GPUs              int     `json:"gpus,omitempty"`
		ConcurrencyPerGPU int     `json:"concurrency_per_gpu,omitempty"`
		TokPerSecPerGPU   float64 `json:"output_tok_per_s_per_gpu,omitempty"`
		TTFTP99MS         float64 `json:"ttft_p99_ms,omitempty"`
		EffectiveFloor    float64 `json:"effective_floor_output_tok_per_s,omitempty"`
		EffectiveCeiling  float64 `json:"effective_ceiling_ttft_p99_ms,omitempty"`
		Valid             int     `json:"valid_attempts"`
		Attempts          int     `json:"attempts"`
		Simulated         bool    `json:"simulated"`
	}
)

// CTRF renders a check in the Common Test Report Format, in the version and with
// the names that aicr validate uses.
func CTRF(c CheckOutcome) ([]byte, error) {
	status, raw := c.status()
	start, stop := c.Start.UnixMilli(), c.Stop.UnixMilli()
	s := ctrfSummary{Tests: 1, Start: start, Stop: stop}
	switch status {
	case ctrfPassed:
		s.Passed = 1
	case ctrfFailed:
		s.Failed = 1
	default:
		s.Other = 1
	}
	test := ctrfTest{
		Name: recipes.CheckName, Status: status, RawStatus: raw, Suite: []string{"performance"},
		Start: start, Stop: stop, Duration: stop - start, Message: c.message(), Stdout: c.lines(),
	}
	if c.Err == nil {
		r, f := c.Result, c.Curve.Fingerprint
		test.Extra = &ctrfExtra{f.Model, f.GPUs, r.Gate.ConcurrencyPerGPU, r.TokPerSecPerGPU, r.TTFTP99MS,
			r.Effective.EffectiveFloorTokPerSec, r.Effective.EffectiveCeilingTTFTP99MS, r.Valid, r.Attempts, f.Simulated}
	}
	b, err := json.MarshalIndent(ctrfDoc{
		"CTRF", "0.0.1", c.Stop.UTC().Format(time.RFC3339), "perfsweep",
		ctrfResults{ctrfTool{"perfsweep", c.Version}, s, []ctrfTest{test}, map[string]string{"testEnvironment": c.Overlay}},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the test report: %w", err)
	}
	return append(b, '\n'), nil
}
