package recipes

// Gate is what the performance phase of an overlay pins and demands. A zero
// field is absent; every valid value is greater than zero.
type Gate struct {
	Model             string  `json:"model,omitempty"`
	ConcurrencyPerGPU int     `json:"concurrency_per_gpu,omitempty"`
	RoutingMode       string  `json:"routing_mode,omitempty"`
	FloorPerGPU       float64 `json:"floor_output_tok_per_s_per_gpu,omitempty"` // inference-throughput-per-gpu
	Floor             float64 `json:"floor_output_tok_per_s,omitempty"`         // inference-throughput, absolute
	CeilingTTFTP99MS  float64 `json:"ceiling_ttft_p99_ms,omitempty"`            // inference-ttft-p99
}

// Empty reports whether the gate demands nothing.
func (g Gate) Empty() bool { return g.FloorPerGPU == 0 && g.Floor == 0 && g.CeilingTTFTP99MS == 0 }
