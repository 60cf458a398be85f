package calibrate

import (
	"fmt"

	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// Recompute is the sidecar with everything that follows from its own runs computed
// anew: the limits, the floor and ceiling of the written gate, what an evaluator
// makes of them, the clusters' medians and the hashes of what it holds. What needs
// the journal (the knee, the point, the gates, the fault power) stays. It fails
// where the runs give no limit.
func (p Provenance) Recompute() (Provenance, error) {
	var a attempts
	for _, r := range p.BaselineRuns {
		a.valid = append(a.valid, reading{tokPerSecPerGPU: r.TokPerSecPerGPU, ttftP99MS: r.TTFTP99MS, window: r.Window, deployment: r.Deployment})
	}
	limits, err := FloorLimits(a.byDeployment())
	if err != nil {
		return Provenance{}, fmt.Errorf("computing the floor of %s again: %w", p.Overlay, err)
	}
	e := &evidence{
		limits: limits, form: p.FloorForm, ceilingMS: ceiling(a.p99s(), p.Bridge), bridge: p.Bridge,
		policy: Policy{Profile: p.FloorProfile, NodeGPUs: p.NodeGPUs, TTFTOnly: p.TTFTOnly},
	}
	p.Limits = limits
	written, _ := e.floor(e.form)
	p.Gate.FloorPerGPU, p.Gate.Floor, p.Gate.CeilingTTFTP99MS = written, 0, e.ceilingMS
	if e.form == Absolute {
		p.Gate.FloorPerGPU, p.Gate.Floor = 0, written
	}
	p.Effective = EffectiveGate{e.effectiveFloor(), (1 + recipes.Tolerance) * e.ceilingMS}
	p.GateSHA256, p.FingerprintSHA256 = GateHash(p.Gate), FingerprintHash(p.Fingerprint)
	clusters := p.Clusters
	p.Clusters = nil
	for _, c := range clusters {
		own := a.of(clusterLabel + " " + c.Cluster)
		c.Runs, c.TokPerSecPerGPU, c.TTFTP99MS = len(own.valid), sweep.Median(own.throughputs()), sweep.Median(own.p99s())
		p.Clusters = append(p.Clusters, c)
	}
	return p, nil
}

// of keeps the readings of one deployment.
func (a attempts) of(deployment string) (out attempts) {
	for _, r := range a.valid {
		if r.deployment == deployment {
			out.valid = append(out.valid, r)
		}
	}
	return out
}

// Mismatch is a value of an overlay that its sidecar has otherwise.
type Mismatch struct{ Name, Sidecar, Overlay string }

// Mismatches holds an overlay against its sidecar: the values of the gate by name,
// and the bytes of the file.
func (p Provenance) Mismatches(o OverlayState) []Mismatch {
	var out []Mismatch
	for _, e := range p.edited(o.Gate) {
		out = append(out, Mismatch{e.name, e.was, e.is})
	}
	if h := hash(o.Bytes); h != p.OverlaySHA256 {
		out = append(out, Mismatch{"overlay_sha256", p.OverlaySHA256, h})
	}
	return out
}
