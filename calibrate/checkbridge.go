package calibrate

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// CheckBridge says how a gate that is what AIPerf reads was held against readings of
// this tool: floor and ceiling are converted back by the ratios that they were
// written with, whose error then cancels. Like a bridge this loosens nothing.
type CheckBridge struct {
	Version string `json:"aiperf_version"`
	// The two are AIPerf's reading as a share of this tool's, as the sidecar has them.
	ThroughputRatio float64 `json:"throughput_ratio"`
	TTFTRatio       float64 `json:"ttft_p99_ratio"`
	// What readings of AIPerf are compared with, tolerance included; the effective
	// gate has what those of this tool are.
	FloorTokPerSec   float64 `json:"aiperf_effective_floor_output_tok_per_s,omitempty"`
	CeilingTTFTP99MS float64 `json:"aiperf_effective_ceiling_ttft_p99_ms,omitempty"`
}

// asRead says whose readings the values of a gate are.
type asRead struct {
	bridge *Bridge // AIPerf's, by this; nil: this tool's own
	unsure string  // why that is not known; a pass is none then unless it is one either way
}

// backDigits are those of a value that is converted back: three that it was written
// with, and more than a rounding shows in.
const backDigits = 6

// judgedGate is a gate that measured values were held against.
type judgedGate struct {
	recipes.Evaluation                    // of the gate as this tool reads it
	written            recipes.Evaluation // of the gate as it is written
	bridge             *CheckBridge
	doubts, notes      []string
}

// evaluate compares readings of this tool with a gate, like with like.
func (a asRead) evaluate(g recipes.Gate, m recipes.Measured) (judgedGate, error) {
	written, err := recipes.Evaluate(g, m)
	out := judgedGate{Evaluation: written, written: written}
	if err != nil {
		return out, err
	}
	if b := a.bridge; b != nil {
		share, _ := b.floorFactors()
		multiple, _ := b.ceilingFactors()
		own := g
		own.FloorPerGPU, own.Floor = max(g.FloorPerGPU, floorSig(g.FloorPerGPU/share, backDigits)), max(g.Floor, floorSig(g.Floor/share, backDigits))
		own.CeilingTTFTP99MS = min(g.CeilingTTFTP99MS, ceilSig(g.CeilingTTFTP99MS/multiple, backDigits))
		if out.Evaluation, err = recipes.Evaluate(own, m); err != nil {
			return out, err
		}
		out.bridge = &CheckBridge{b.Version, b.Throughput.Ratio, b.TTFT.Ratio, written.EffectiveFloorTokPerSec, written.EffectiveCeilingTTFTP99MS}
		out.notes = []string{out.bridge.note(out.Evaluation, m.GPUs)}
	}
	if a.unsure != "" && written.Pass && (a.bridge == nil || !out.Pass) {
		out.doubts = []string{a.unsure}
	}
	return out, nil
}

// note states both numbers of each threshold.
func (b CheckBridge) note(own recipes.Evaluation, gpus int) string {
	var parts []string
	if x := own.EffectiveFloorTokPerSec; x > 0 {
		per := float64(max(gpus, 1))
		parts = append(parts, fmt.Sprintf("at least %s tok/s per GPU, where AIPerf's are against %s", num(x/per), num(b.FloorTokPerSec/per)))
	}
	if t := own.EffectiveCeilingTTFTP99MS; t > 0 {
		parts = append(parts, fmt.Sprintf("a TTFT p99 of at most %s ms, where AIPerf's is against %s ms", num(t), num(b.CeilingTTFTP99MS)))
	}
	return fmt.Sprintf("the gate is what AIPerf %s reads, x%.4f of perfsweep's throughput and x%.3f of its TTFT p99 by the sidecar's bridge: perfsweep's readings are held against %s (tolerance included)",
		printable(b.Version), b.ThroughputRatio, b.TTFTRatio, strings.Join(parts, ", and "))
}

// reads says whose readings the overlay's gate is, by its sidecar and by its comment.
func (s Sidecar) reads(c sweep.Curve) asRead {
	p := s.Provenance
	if p != nil && p.Bridge.Stands() {
		out := asRead{bridge: p.Bridge}
		switch JudgeProvenance(s.Name, p, s.Overlay, c).State {
		case ProvenanceMatches:
			return out
		case ProvenanceEdited:
			if g, w := s.Overlay.Gate, p.Gate; g.FloorPerGPU != w.FloorPerGPU || g.Floor != w.Floor || g.CeilingTTFTP99MS != w.CeilingTTFTP99MS {
				out.unsure = fmt.Sprintf("the gate was edited after it was written as AIPerf reads it: whether its values are that still is not known, and as perfsweep reads it by the bridge of %s these runs fail it; calibrate again, or check with AIPerf",
					s.Name)
			}
			return out
		}
		return asRead{} // there is no verdict in any case
	}
	if !saysBridged(s.Overlay.Bytes) {
		return asRead{}
	}
	why := "there is no sidecar " + s.Name
	if p != nil {
		why = s.Name + " has no bridge"
	}
	return asRead{unsure: fmt.Sprintf("the overlay's comment says that its gate is what AIPerf reads, and %s: by how much perfsweep reads more is not known, so that no reading of its passes; name the sidecar with --sidecar, or check with AIPerf", why)}
}

// bridgedComment begins the paragraph of a comment that a standing bridge leaves.
const bridgedComment = "Bridge: AIPerf "

// saysBridged reports whether the comment of an overlay says that its gate is what
// AIPerf reads.
func saysBridged(overlay []byte) bool {
	for line := range bytes.Lines(overlay) {
		if text, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("#")); ok && bytes.HasPrefix(bytes.TrimLeft(text, "# "), []byte(bridgedComment)) {
			return true
		}
	}
	return false
}
