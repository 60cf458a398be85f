package calibrate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// ProvenanceSchema is the version of the sidecar that is written and read.
const ProvenanceSchema = 1

// Provenance is the sidecar of a calibrated overlay, OVERLAY.provenance.json:
// what the written gate rests on, for programs, as the comment is for people.
//
// Schema 1. Every key below is there but for those that are marked as optional
// in their own types, and no others; a reader refuses the rest. Rates are output
// tokens a second, TTFT and ITL are milliseconds, concurrency is per GPU, dates
// are RFC 3339 in UTC, hashes are SHA-256 in hex.
//
//   - schema_version, tool_version
//   - campaign_started, measured (the last gate run), written: "" if unknown; of
//     several clusters the first that began and the last that was measured
//   - overlay: the file's name; overlay_sha256 and replaced_overlay_sha256: the
//     file after and before the write. The sidecar is renamed first: an overlay
//     that has the second hash and not the first was never written.
//   - gate_sha256: GateHash of written_gate. It stands for the values, and
//     neither for their spelling nor for comments.
//   - outcome, floor_form, floor_profile, node_gpus (0: not stated), ttft_only
//   - written_gate, and effective_gate: what an evaluator compares with, whose
//     evaluator_tolerance_ratio is the one assumed. Another one makes it stale.
//   - rule: how floor and ceiling follow from the runs; limits has the numbers,
//     the floors of both profiles among them.
//   - knee, operating_point
//   - run_kind, estimator: of baseline_runs, the valid gate runs at the point
//   - fault_power, blind_spots, not_known
//   - anchor, equivalence, validity (in GPUs), gates
//   - fingerprint, fingerprint_sha256 (FingerprintHash of it), journal: of the
//     slowest cluster, where clusters has several, whose runs are baseline_runs
//   - bridge, where one was made: AIPerf's readings as a share of perfsweep's, which
//     floor and ceiling hold already; baseline_runs and limits are perfsweep's own
//   - reconfirmed, where there is one: later measurements, the newest last, which
//     the gate was held against and kept
type Provenance struct {
	SchemaVersion         int           `json:"schema_version"`
	ToolVersion           string        `json:"tool_version"`
	CampaignStarted       string        `json:"campaign_started"`
	Measured              string        `json:"measured"`
	Written               string        `json:"written"`
	Overlay               string        `json:"overlay"`
	OverlaySHA256         string        `json:"overlay_sha256"`
	ReplacedOverlaySHA256 string        `json:"replaced_overlay_sha256"`
	GateSHA256            string        `json:"gate_sha256"`
	Outcome               Outcome       `json:"outcome"`
	FloorForm             Form          `json:"floor_form"`
	FloorProfile          Profile       `json:"floor_profile"`
	NodeGPUs              int           `json:"node_gpus"`
	TTFTOnly              bool          `json:"ttft_only"`
	Gate                  recipes.Gate  `json:"written_gate"`
	Effective             EffectiveGate `json:"effective_gate"`
	Tolerance             float64       `json:"evaluator_tolerance_ratio"`
	Rule                  string        `json:"rule"`
	Limits                Limits        `json:"limits"`
	Knee                  KneeRecord    `json:"knee"`
	// Point and the lists below it are as in the answer of calibrate.
	Point             sweep.OperatingPoint `json:"operating_point"`
	RunKind           string               `json:"run_kind"`
	Estimator         string               `json:"estimator"`
	BaselineRuns      []BaselineRun        `json:"baseline_runs"`
	FaultPower        []Sensitivity        `json:"fault_power"`
	BlindSpots        []string             `json:"blind_spots"`
	NotKnown          []string             `json:"not_known"`
	Anchor            AnchorResult         `json:"anchor"`
	Equivalence       Equivalence          `json:"equivalence"`
	Validity          Validity             `json:"validity"`
	Gates             []GateResult         `json:"gates"`
	Fingerprint       sweep.Fingerprint    `json:"fingerprint"`
	FingerprintSHA256 string               `json:"fingerprint_sha256"`
	Journal           Source               `json:"journal"`
	// Clusters are those that the floor rests on, where there are several.
	Clusters []ClusterRecord `json:"clusters,omitempty"`
	// Bridge is how AIPerf reads what was measured, nil where it made no run.
	Bridge *Bridge `json:"bridge,omitempty"`
	// Reconfirmed are later measurements that the gate was held against and kept.
	Reconfirmed []Reconfirmed `json:"reconfirmed,omitempty"`
}

// EffectiveGate is what an evaluator compares with, its tolerance applied.
type EffectiveGate struct {
	FloorPerGPU      float64 `json:"floor_output_tok_per_s_per_gpu,omitempty"`
	CeilingTTFTP99MS float64 `json:"ceiling_ttft_p99_ms"`
}

// KneeRecord is the fit that the operating point rests on, concurrency per GPU.
type KneeRecord struct {
	Status     string  `json:"status"`
	Model      string  `json:"model,omitempty"`
	Knee       float64 `json:"knee,omitempty"`
	Low        float64 `json:"knee_low,omitempty"`
	High       float64 `json:"knee_high,omitempty"`
	Elasticity float64 `json:"elasticity,omitempty"`
	NoiseSD    float64 `json:"noise_log_sd,omitempty"`
	NoiseDF    int     `json:"noise_degrees_of_freedom,omitempty"`
}

// BaselineRun is one valid gate run at the operating point.
type BaselineRun struct {
	ConcurrencyPerGPU int     `json:"concurrency_per_gpu"`
	TokPerSecPerGPU   float64 `json:"output_tok_per_s_per_gpu"`
	TTFTP50MS         float64 `json:"ttft_p50_ms"`
	TTFTP99MS         float64 `json:"ttft_p99_ms"`
	Window            int     `json:"window"`
	Deployment        string  `json:"deployment_id"` // "" if it was not stated
	Started           string  `json:"started"`
}

// GateHash is the SHA-256, in hex, of a gate's JSON form.
func GateHash(g recipes.Gate) string { return jsonHash(g) }

func jsonHash(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return hash(b)
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
