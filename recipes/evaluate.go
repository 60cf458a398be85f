package recipes

import (
	"fmt"
	"math"
)

// Tolerance is what AICR's evaluator grants on either side of a threshold.
const Tolerance = 0.10

// Measured is what a benchmark of an overlay read.
type Measured struct {
	TokPerSec   float64 // total, whole run; 0 = missing
	TTFTP99MS   float64 // whole run; 0 = missing
	GPUs        int     // benchmarked
	GPUsPerNode int     // 0 = unknown
}

// Evaluation is AICR's judgement of one measurement.
type Evaluation struct {
	Pass    bool     `json:"pass"`
	Reasons []string `json:"reasons"` // one a failed gate, throughput first; empty on a pass
	// The thresholds as applied, tolerance and GPU count included.
	EffectiveFloorTokPerSec   float64 `json:"effective_floor_output_tok_per_s,omitempty"`
	EffectiveCeilingTTFTP99MS float64 `json:"effective_ceiling_ttft_p99_ms,omitempty"`
}

// The codes of an EvaluateError, named as AICR names its errors.
const (
	CodeInvalidRequest = "INVALID_REQUEST" // the recipe is wrong, whatever was measured
	CodeInternal       = "INTERNAL"        // the measurement cannot be judged
	CodeNoGate         = "NO_GATE"         // nothing is demanded; AICR skips the check
)

// EvaluateError says why there is no verdict.
type EvaluateError struct {
	Code string
	Msg  string
}

func (e *EvaluateError) Error() string { return "evaluating the gate: " + e.Msg }

func noVerdict(code, format string, args ...any) error {
	return &EvaluateError{code, fmt.Sprintf(format, args...)}
}

// Constraint is a name with its value, as a resolved AICR recipe lists it.
type Constraint struct{ Name, Value string }

// GateOf reads the gate out of a recipe's constraints. Names of other checks
// are ignored, as AICR does; a name of ours that is nearly right is not told
// here but by Lint. Errors are *EvaluateError with CodeInvalidRequest, so that a
// recipe can be refused before a benchmark is run for it.
func GateOf(list []Constraint) (Gate, error) {
	var g Gate
	seen := map[string]bool{}
	for _, c := range list {
		if !isManaged(c.Name) {
			continue
		}
		if seen[c.Name] {
			return Gate{}, noVerdict(CodeInvalidRequest, "%s is set twice", c.Name)
		}
		seen[c.Name] = true
		if p := g.read(c.Name, c.Value); p != nil {
			return Gate{}, noVerdict(CodeInvalidRequest, "%s: %s; %s", c.Name, p.msg, p.remedy)
		}
	}
	if g.FloorPerGPU != 0 && g.Floor != 0 {
		return Gate{}, noVerdict(CodeInvalidRequest, "%s and %s are both set; keep one", NameFloorPerGPU, NameFloor)
	}
	return g, nil
}

// Evaluate judges m against g as the AICR evaluator does, with the per-GPU
// semantics of NVIDIA/aicr#1254. An *EvaluateError means that no verdict is possible: a
// missing metric that the gate needs, a per-GPU floor with GPUs ≤ 0, both floor
// names, a threshold that is not a positive number, or no gate at all.
//
// The absolute floor keeps AICR's rule: it shrinks only under partial
// occupancy (0 < GPUs < GPUsPerNode), and an unknown count leaves it whole.
func Evaluate(g Gate, m Measured) (Evaluation, error) {
	e := Evaluation{Reasons: []string{}}
	for _, v := range []float64{g.FloorPerGPU, g.Floor, g.CeilingTTFTP99MS} {
		if v != 0 && !positive(v) {
			return e, noVerdict(CodeInvalidRequest, "the threshold %v is not a positive number", v)
		}
	}
	switch {
	case g.Empty():
		return e, noVerdict(CodeNoGate, "the overlay demands nothing, which is not a pass")
	case g.FloorPerGPU != 0 && g.Floor != 0:
		return e, noVerdict(CodeInvalidRequest, "%s and %s are both set; keep one", NameFloorPerGPU, NameFloor)
	case g.FloorPerGPU != 0 && m.GPUs <= 0:
		return e, noVerdict(CodeInternal, "a floor per GPU needs the number of benchmarked GPUs, got %d", m.GPUs)
	case g.FloorPerGPU+g.Floor != 0 && !positive(m.TokPerSec):
		return e, noVerdict(CodeInternal, "the output throughput is missing or invalid (%v)", m.TokPerSec)
	case g.CeilingTTFTP99MS != 0 && !positive(m.TTFTP99MS):
		return e, noVerdict(CodeInternal, "the TTFT p99 is missing or invalid (%v)", m.TTFTP99MS)
	}
	floor, how := appliedFloor(g, m)
	e.EffectiveFloorTokPerSec = floor * (1 - Tolerance)
	e.EffectiveCeilingTTFTP99MS = g.CeilingTTFTP99MS * (1 + Tolerance)
	if math.IsInf(e.EffectiveFloorTokPerSec, 0) || math.IsInf(e.EffectiveCeilingTTFTP99MS, 0) {
		return Evaluation{Reasons: []string{}}, noVerdict(CodeInvalidRequest, "a threshold is out of range")
	}
	if floor != 0 && m.TokPerSec < e.EffectiveFloorTokPerSec {
		is, least := Apart(m.TokPerSec, e.EffectiveFloorTokPerSec, 2)
		e.Reasons = append(e.Reasons, fmt.Sprintf("output throughput %s tok/s is below %s (%s, less %.0f %%)", is, least, how, 100*Tolerance))
	}
	if g.CeilingTTFTP99MS != 0 && m.TTFTP99MS > e.EffectiveCeilingTTFTP99MS {
		is, most := Apart(m.TTFTP99MS, e.EffectiveCeilingTTFTP99MS, 2)
		e.Reasons = append(e.Reasons, fmt.Sprintf("TTFT p99 %s ms is above %s (ceiling %s, plus %.0f %%)", is, most, decimal(g.CeilingTTFTP99MS), 100*Tolerance))
	}
	e.Pass = len(e.Reasons) == 0
	return e, nil
}

// appliedFloor is the floor for the benchmarked GPUs, before the tolerance.
func appliedFloor(g Gate, m Measured) (tokPerSec float64, how string) {
	if g.FloorPerGPU != 0 {
		return g.FloorPerGPU * float64(m.GPUs), fmt.Sprintf("floor %s per GPU × %d", decimal(g.FloorPerGPU), m.GPUs)
	}
	if m.GPUs > 0 && m.GPUs < m.GPUsPerNode {
		return g.Floor * float64(m.GPUs) / float64(m.GPUsPerNode), fmt.Sprintf("floor %s × %d of %d GPUs", decimal(g.Floor), m.GPUs, m.GPUsPerNode)
	}
	return g.Floor, "floor " + decimal(g.Floor)
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
