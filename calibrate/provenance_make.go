package calibrate

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// wholeRun names the estimator of everything that a gate compares.
const wholeRun = "whole_run"

// Edit is an edit of an overlay, with the gate as it is read from the new bytes.
type Edit struct {
	Overlay  string // its path
	Old, New []byte
	Gate     recipes.Gate
	At       time.Time
}

// NewProvenance records what a proposal rests on, for the overlay that it is
// written into. before is the overlay's sidecar so far, nil where there is
// none: an edit that changes nothing keeps its date.
func NewProvenance(c sweep.Curve, p Proposal, policy Policy, e Edit, before *Provenance) Provenance {
	began, last := measuredFrom(c, p.Point.ConcurrencyPerGPU, policy)
	out := Provenance{
		SchemaVersion: ProvenanceSchema, ToolVersion: c.Fingerprint.ToolVersion,
		CampaignStarted: stamp(began), Measured: stamp(last), Written: stamp(e.At),
		Overlay: filepath.Base(e.Overlay), OverlaySHA256: hash(e.New), ReplacedOverlaySHA256: hash(e.Old), GateSHA256: GateHash(e.Gate),
		Outcome: p.Outcome, FloorForm: p.Form, FloorProfile: p.Profile, NodeGPUs: policy.NodeGPUs, TTFTOnly: policy.TTFTOnly,
		Gate: e.Gate, Effective: EffectiveGate{p.EffectiveFloorPerGPU, p.EffectiveCeilingTTFTP99MS},
		Tolerance: recipes.Tolerance, Rule: p.Rule, Limits: p.Limits,
		Knee: KneeRecord{
			Status: string(p.Fit.Status), Model: p.Fit.Model, Knee: p.Fit.Knee, Low: p.Fit.KneeLow, High: p.Fit.KneeHigh,
			Elasticity: p.Fit.EStar, NoiseSD: p.Fit.Noise, NoiseDF: p.Fit.NoiseDF,
		},
		Point: p.Point, RunKind: string(loadgen.Gate), Estimator: wholeRun, BaselineRuns: []BaselineRun{},
		FaultPower: some(p.Sensitivity), BlindSpots: some(misses(p.Sensitivity)), NotKnown: some(p.NotKnown),
		Anchor: p.Anchor, Equivalence: p.Equivalence, Validity: p.Validity, Bridge: p.Bridge, Gates: some(p.Gates),
		Fingerprint: c.Fingerprint, FingerprintSHA256: p.FingerprintHash, Journal: policy.Journal,
		Clusters: clusterRecords(c, p.Point.ConcurrencyPerGPU, policy),
	}
	for _, r := range gateAttempts(c, p.Point.ConcurrencyPerGPU, policy).valid {
		out.BaselineRuns = append(out.BaselineRuns, baselineRun(p.Point.ConcurrencyPerGPU, r))
	}
	if before != nil && before.OverlaySHA256 == out.OverlaySHA256 && before.OverlaySHA256 == out.ReplacedOverlaySHA256 {
		out.Written, out.ReplacedOverlaySHA256 = before.Written, before.ReplacedOverlaySHA256
	}
	return out
}

// Encode is the file.
func (p Provenance) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the provenance of %s: %w", p.Overlay, err)
	}
	return append(b, '\n'), nil
}

// measuredFrom is when the first campaign of those that a proposal rests on began,
// and the last gate run of any of them at its point.
func measuredFrom(c sweep.Curve, n int, p Policy) (began, last time.Time) {
	began, last = c.Started, lastGateRun(c, n)
	for _, o := range p.Clusters {
		if o.Curve.Started.Before(began) {
			began = o.Curve.Started // zero too: not known of one is not known of all
		}
		if t := lastGateRun(o.Curve, n); t.After(last) {
			last = t
		}
	}
	return began, last
}

// lastGateRun is when the last gate run at a point began, as the journal has it.
func lastGateRun(c sweep.Curve, n int) time.Time {
	var last time.Time
	for _, r := range c.Runs {
		if r.Step.Kind == loadgen.Gate && r.Step.Purpose == sweep.Confirm && r.Step.ConcurrencyPerGPU == n && r.Started.After(last) {
			last = r.Started
		}
	}
	return last
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// some is a list that JSON shows as one, however empty.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
