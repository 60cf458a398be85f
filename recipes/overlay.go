package recipes

// Overlay is a parsed overlay file.
type Overlay struct{}

// Parse reads an overlay; name is for error positions. Errors are *PosError.
func Parse(name string, src []byte) (*Overlay, error) { panic("not built") }

// Name is metadata.name.
func (o *Overlay) Name() string { panic("not built") }

// Criterion returns spec.criteria[key], such as accelerator or service.
func (o *Overlay) Criterion(key string) string { panic("not built") }

// Gate reads the gate of the performance phase. ok is false when the
// inference-perf check is not enabled or nothing is demanded; the inputs
// (model, concurrency, routing) are returned even then.
func (o *Overlay) Gate() (g Gate, ok bool, err error) { panic("not built") }

// SetGate returns the file with the gate set and the managed comment replaced,
// every other byte kept. Setting the same gate and comment again returns the
// same bytes. comment holds the lines without indentation or "# ".
func (o *Overlay) SetGate(g Gate, comment []string) ([]byte, error) { panic("not built") }

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
	Reasons []string `json:"reasons"`
	// The thresholds as applied, tolerance and GPU count included.
	EffectiveFloorTokPerSec   float64 `json:"effective_floor_output_tok_per_s,omitempty"`
	EffectiveCeilingTTFTP99MS float64 `json:"effective_ceiling_ttft_p99_ms,omitempty"`
}

// Evaluate judges m against g as the AICR evaluator does, with the per-GPU
// semantics of NVIDIA/aicr#1254. An error means that no verdict is possible
// (a missing metric, GPUs ≤ 0, both floor names).
func Evaluate(g Gate, m Measured) (Evaluation, error) { panic("not built") }

// WriteFile replaces path atomically (temp file, fsync, rename, same mode).
func WriteFile(path string, b []byte) error { panic("not built") }

// Finding is one mistake in an overlay.
type Finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Col      int    `json:"column"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"` // "error" or "warning"
	Message  string `json:"message"`
	Remedy   string `json:"remedy"`
}

// Lint returns every mistake found in src.
func Lint(name string, src []byte) []Finding { panic("not built") }

// PosError is an error at a place in a file.
type PosError struct {
	File      string
	Line, Col int
	Msg       string
}

func (e *PosError) Error() string { panic("not built") }
