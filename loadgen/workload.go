package loadgen

// WorkloadSpec describes the requests of a campaign; it is recorded in the
// journal and is part of the fingerprint.
type WorkloadSpec struct {
	// Name is "aicr", "synthetic" or "file".
	Name string `json:"name"`
	// ISL and OSL are mean input and output tokens, with standard deviations.
	ISL       int    `json:"isl"`
	ISLStddev int    `json:"isl_stddev"`
	OSL       int    `json:"osl"`
	OSLStddev int    `json:"osl_stddev"`
	Pool      int    `json:"pool"` // distinct prompts; 0 = every request its own
	Seed      uint64 `json:"seed"`
	// IgnoreEOS is sent by synthetic workloads only.
	IgnoreEOS bool `json:"ignore_eos"`
	// File and FileSHA256 name a JSON Lines workload.
	File       string `json:"file,omitempty"`
	FileSHA256 string `json:"file_sha256,omitempty"`
}

// Workload makes request bodies; request i is a function of (spec, i) alone.
type Workload struct{}

// NewWorkload builds the generator of a spec, with the prompt length
// calibration of a preflight.
func NewWorkload(spec WorkloadSpec, pre Preflight) (*Workload, error) { panic("not built") }
