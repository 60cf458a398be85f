package imports

import (
	"strings"
	"testing"
)

// TestCSVOrder: a row whose p99 lies below its p50 was not measured.
func TestCSVOrder(t *testing.T) {
	const head = "concurrency_per_gpu,output_tok_per_s_per_gpu,ttft_p50_ms,ttft_p99_ms\n"
	if _, err := CSV("f", strings.NewReader(head+"1,9,50,50\n2,9,50,\n")); err != nil {
		t.Error(err)
	}
	if _, err := CSV("f", strings.NewReader(head+"1,9,50,60\n2,9,50,2\n")); err == nil || !strings.Contains(err.Error(), "f:3: ttft_p50_ms of 50 is above ttft_p99_ms of 2") {
		t.Error(err)
	}
}
