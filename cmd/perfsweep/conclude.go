package main

import (
	"runtime"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/bundle"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/observe"
)

// conclusion is what a curve comes to under a policy.
type conclusion struct {
	policy   calibrate.Policy // with what the servers' own words add to it
	findings []observe.Finding
	proposal calibrate.Proposal
	// reconfirm is how the gate so far compares, nil without --reconfirm.
	reconfirm *calibrate.Reconfirmation
	// ended is why the planner stopped, "" where the gate may be written.
	ended string
}

// conclude is everything between a curve and a proposal. It depends on nothing
// else, so that verify comes to the same.
func conclude(curve sweep.Curve, current recipes.Gate, p calibrate.Policy) conclusion {
	c := conclusion{policy: p, findings: attribute(curve.Runs, curve.Fingerprint.GPUs)}
	c.policy.FrontendBound, c.policy.Frontends = frontendBound(c.findings, curve)
	c.proposal = calibrate.Propose(curve, current, c.policy)
	refuseDisaggregated(&c.proposal, curve.Fingerprint.Labels)
	return c
}

// keptRecord is a conclusion for a bundle.
type keptRecord struct {
	calibrate.Record
	Bottlenecks []observe.Finding `json:"bottlenecks"`
}

func (c conclusion) record(curve sweep.Curve, current recipes.Gate, by bundle.Maker) ([]byte, error) {
	r := calibrate.NewRecord(curve, current, c.policy, c.proposal)
	r.ToolVersion, r.Platform = by.ToolVersion, by.Platform
	findings := c.findings
	if findings == nil {
		findings = []observe.Finding{}
	}
	return calibrate.EncodeRecord(keptRecord{r, findings})
}

// thisTool is the program that runs.
func thisTool() bundle.Maker {
	return bundle.Maker{ToolVersion: version, Platform: runtime.GOOS + "/" + runtime.GOARCH}
}
