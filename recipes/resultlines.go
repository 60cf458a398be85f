package recipes

import "fmt"

// ResultLines are the lines that AICR's inference check prints of a judged run:
// its two results, then one line for each gate that passed, up to the first that
// did not. AICR's command line repeats what begins with "RESULT: ". A metric
// that was not measured has no line; AICR prints it as 0.00.
func ResultLines(g Gate, m Measured, e Evaluation) []string {
	lines := []string{}
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if m.TokPerSec > 0 {
		say("RESULT: Inference throughput: %.2f tokens/sec", m.TokPerSec)
	}
	if m.TTFTP99MS > 0 {
		say("RESULT: Inference TTFT p99: %.2f ms", m.TTFTP99MS)
	}
	switch {
	case g.FloorPerGPU+g.Floor == 0:
	case !positive(e.EffectiveFloorTokPerSec) || !(m.TokPerSec >= e.EffectiveFloorTokPerSec):
		return lines // an evaluation that came to no verdict has no thresholds
	case g.FloorPerGPU != 0:
		say("Throughput per GPU constraint: >= %s → PASS", decimal(g.FloorPerGPU))
	default:
		say("Throughput constraint: >= %s → PASS", decimal(g.Floor))
	}
	if g.CeilingTTFTP99MS != 0 && m.TTFTP99MS > 0 && m.TTFTP99MS <= e.EffectiveCeilingTTFTP99MS {
		say("TTFT p99 constraint: <= %s → PASS", decimal(g.CeilingTTFTP99MS))
	}
	return lines
}
