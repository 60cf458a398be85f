package calibrate

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// RecordSchema is the version of a Record.
const RecordSchema = 1

// Record is a calibration with everything that its numbers follow from beside the
// journals, so that whoever holds those can compute all of it again.
type Record struct {
	SchemaVersion int    `json:"schema_version"`
	ToolVersion   string `json:"tool_version"` // that computed it
	Platform      string `json:"platform"`     // GOOS/GOARCH that computed it
	Asked         Asked  `json:"asked"`
	// AskedSHA256 is of Asked's JSON: not all of it shows in the numbers.
	AskedSHA256 string `json:"asked_sha256"`
	// FrontendBound and Frontends are what the servers' own words came to.
	FrontendBound bool      `json:"frontend_bound"`
	Frontends     int       `json:"frontends"`
	Fit           FitRecord `json:"fit"`
	Proposal      Proposal  `json:"proposal"`
}

// Asked is what a proposal was made for: the policy, the overlay's gate, and the
// names of the journals it was held against.
type Asked struct {
	Current        recipes.Gate `json:"current_gate"`
	Profile        Profile      `json:"floor_profile"`
	Form           Form         `json:"floor_form"`
	NodeGPUs       int          `json:"node_gpus"`
	TTFTOnly       bool         `json:"ttft_only"`
	AllowSimulated bool         `json:"allow_simulated"`
	SLOMaxTTFTMS   float64      `json:"slo_max_ttft_ms"`
	Accelerator    string       `json:"accelerator"`
	Service        string       `json:"service"`
	Journal        Source       `json:"journal"`
	Approvals      []Approval   `json:"approvals"`
	Anchors        []Source     `json:"anchors"`
	Scaling        []Source     `json:"scaling"`
	PublicAnchor   bool         `json:"public_anchor"`
	// Compared is what the deployment's comparison with the evaluator's template
	// found. The deployment itself may hold secrets and is not kept.
	Compared             *Compared `json:"deployment_compared,omitempty"`
	AcceptDeploymentDiff bool      `json:"accept_deployment_diff"`
	BridgeAsked          bool      `json:"bridge_asked,omitempty"`
}

// Compared is what recipes.Deployment.Differences said of a deployment.
type Compared struct {
	Differs []string `json:"differs"`
	Unknown []string `json:"unknown"`
}

// FitRecord is a fit in full, concurrencies per GPU.
type FitRecord struct {
	Status         string             `json:"status"`
	Flags          []string           `json:"flags"`
	Knee           float64            `json:"knee,omitempty"`
	GridKnee       float64            `json:"grid_knee,omitempty"`
	Low            float64            `json:"knee_low,omitempty"`
	High           float64            `json:"knee_high,omitempty"`
	EStar          float64            `json:"elasticity"`
	Model          string             `json:"model,omitempty"`
	Params         map[string]float64 `json:"params,omitempty"`
	TiltLevel      int                `json:"tilt_level,omitempty"`
	LatencyEdge    int                `json:"latency_edge,omitempty"`
	NStar          float64            `json:"n_star,omitempty"`
	LastElasticity float64            `json:"last_elasticity,omitempty"`
	Noise          float64            `json:"noise_log_sd"`
	NoiseDF        int                `json:"noise_degrees_of_freedom"`
	Levels         []knee.Level       `json:"levels"`
	Refine         []float64          `json:"refine"`
	Warnings       []string           `json:"warnings"`
}

// NewRecord records a proposal for a curve.
func NewRecord(c sweep.Curve, current recipes.Gate, p Policy, out Proposal) Record {
	a := Asked{
		Current: current, Profile: p.Profile, Form: p.Form, NodeGPUs: p.NodeGPUs, TTFTOnly: p.TTFTOnly,
		AllowSimulated: p.AllowSimulated, SLOMaxTTFTMS: p.SLOMaxTTFTMS, Accelerator: p.Accelerator, Service: p.Service,
		Journal: p.Journal, Approvals: some(p.Approvals), Anchors: sources(p.Anchors), Scaling: sources(p.Scaling),
		PublicAnchor: p.PublicAnchor, Compared: p.Compared, AcceptDeploymentDiff: p.AcceptDeploymentDiff, BridgeAsked: p.BridgeAsked,
	}
	if p.Deployment != nil {
		differs, unknown := p.Deployment.Differences(c.Fingerprint.GPUs, modelOf(c))
		a.Compared = &Compared{some(differs), some(unknown)}
	}
	return Record{
		SchemaVersion: RecordSchema, Asked: a, AskedSHA256: jsonHash(a), FrontendBound: p.FrontendBound, Frontends: p.Frontends,
		Fit: fitRecord(out.Fit), Proposal: out,
	}
}

// Policy is the policy that was asked for, with the journals that it names.
func (a Asked) Policy(anchors, scaling []AnchorJournal) Policy {
	return Policy{
		Profile: a.Profile, Form: a.Form, NodeGPUs: a.NodeGPUs, TTFTOnly: a.TTFTOnly,
		AllowSimulated: a.AllowSimulated, SLOMaxTTFTMS: a.SLOMaxTTFTMS, Accelerator: a.Accelerator, Service: a.Service,
		Journal: a.Journal, Approvals: a.Approvals, Anchors: anchors, Scaling: scaling,
		PublicAnchor: a.PublicAnchor, Compared: a.Compared, AcceptDeploymentDiff: a.AcceptDeploymentDiff, BridgeAsked: a.BridgeAsked,
	}
}

// EncodeRecord is a record, or one with more beside it, as a bundle keeps it.
func EncodeRecord(r any) ([]byte, error) {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return nil, fmt.Errorf("recording the proposal: %w", err)
	}
	return append(b, '\n'), nil
}

func sources(list []AnchorJournal) []Source {
	out := []Source{}
	for _, a := range list {
		out = append(out, a.Source)
	}
	return out
}

func fitRecord(f knee.Fit) FitRecord {
	out := FitRecord{
		Status: string(f.Status), Flags: some(f.Flags), Knee: known0(f.Knee), GridKnee: known0(f.GridKnee), Low: known0(f.KneeLow), High: known0(f.KneeHigh),
		EStar: known0(f.EStar), Model: f.Model, TiltLevel: f.TiltLevel, LatencyEdge: f.LatencyEdge, NStar: known0(f.NStar),
		LastElasticity: known0(f.LastElasticity), Noise: known0(f.Noise), NoiseDF: f.NoiseDF,
		Levels: some(f.Levels), Refine: []float64{}, Warnings: some(f.Warnings),
	}
	for k, v := range f.Params {
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			if out.Params == nil {
				out.Params = map[string]float64{}
			}
			out.Params[k] = v
		}
	}
	for _, n := range f.Refine {
		out.Refine = append(out.Refine, known0(n))
	}
	return out
}

// known0 is a number that JSON has, 0 for one that it has not.
func known0(x float64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	return x
}
