package recipes

import (
	"slices"
	"testing"
)

func TestResultLines(t *testing.T) {
	const x, ttft = "RESULT: Inference throughput: 108789.87 tokens/sec", "RESULT: Inference TTFT p99: 687.50 ms"
	pair := Gate{Floor: 50000, CeilingTTFTP99MS: 2000}
	for name, c := range map[string]struct {
		g    Gate
		m    Measured
		want []string
	}{
		// The four lines are those of AICR's docs/user/validation.md.
		"AICR's own example": {pair, Measured{108789.87, 687.5, 8, 8}, []string{x, ttft, "Throughput constraint: >= 50000 → PASS", "TTFT p99 constraint: <= 2000 → PASS"}},
		"per GPU":            {Gate{FloorPerGPU: 12000.5, CeilingTTFTP99MS: 2000}, Measured{108789.87, 687.5, 8, 8}, []string{x, ttft, "Throughput per GPU constraint: >= 12000.5 → PASS", "TTFT p99 constraint: <= 2000 → PASS"}},
		"throughput fails":   {Gate{Floor: 200000, CeilingTTFTP99MS: 2000}, Measured{108789.87, 687.5, 8, 8}, []string{x, ttft}},
		"TTFT fails":         {Gate{Floor: 50000, CeilingTTFTP99MS: 600}, Measured{108789.87, 687.5, 8, 8}, []string{x, ttft, "Throughput constraint: >= 50000 → PASS"}},
		"TTFT only":          {Gate{CeilingTTFTP99MS: 2000}, Measured{108789.87, 687.5, 8, 8}, []string{x, ttft, "TTFT p99 constraint: <= 2000 → PASS"}},
		"no TTFT":            {pair, Measured{108789.87, 0, 8, 8}, []string{x}},
		"nothing":            {pair, Measured{GPUs: 8}, []string{}},
	} {
		e, _ := Evaluate(c.g, c.m) // the error of a missing metric is another test's
		if got := ResultLines(c.g, c.m, e); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
