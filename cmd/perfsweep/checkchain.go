package main

import (
	"fmt"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
)

// inForceGate is the gate that AICR judges an overlay by: that of its chain, where
// the chain can be followed. The file alone may demand less than what it inherits,
// and a check of it alone would pass what AICR fails, at a load that nobody pinned.
// notes say what of the gate does not stand in the file.
func (f *checkFlags) inForceGate(ov overlayFile) (g recipes.Gate, enabled bool, notes []string, err error) {
	followed := f.recipes != "" || f.data.shipped != "" || parentAtHand("", f.overlay, ov.Overlay)
	if !followed && !f.emulate {
		return ov.gate, ov.enabled, f.leftOpen(ov), nil
	}
	r, err := f.data.resolve(f.recipes, f.overlay, ov.Overlay)
	switch {
	case err != nil:
		return ov.gate, ov.enabled, nil, err
	case !followed: // read so that what is wrong with it is said before any load
		return ov.gate, ov.enabled, f.leftOpen(ov), nil
	}
	if err := r.Refused(); err != nil {
		return r.Gate, r.Enabled, nil, err
	}
	for _, v := range r.Inherited(f.overlay) {
		notes = append(notes, fmt.Sprintf("inherited: %s %q stands in %s, line %d", v.Name, v.Value, v.From.File, v.From.Line))
	}
	for _, open := range r.Open() {
		notes = append(notes, "the inherited chain was not checked: "+open)
	}
	return r.Gate, r.Enabled, notes, nil
}

// leftOpen tells what a parent that is not here may add to a gate.
func (f *checkFlags) leftOpen(ov overlayFile) []string {
	open := ov.gate.LeavesOpen()
	if ov.Parent() == "" || open == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s leaves %s to what it inherits, and its parent %q is in no file here: name the recipe folder that holds it (--recipes)", f.overlay, open, ov.Parent())}
}

// nodeSize takes the GPUs of the node that an absolute floor is of from the sidecar.
// Another number would scale the floor until anything passes.
func (f *checkFlags) nodeSize(p *calibrate.Provenance, g recipes.Gate) (note []string, err error) {
	if p == nil || g.Floor == 0 || p.Gate.Floor == 0 || p.NodeGPUs == 0 {
		return nil, nil
	}
	name := sidecarFile(f.sidecar, f.overlay)
	if f.nodeGPUs != 0 && f.nodeGPUs != p.NodeGPUs {
		return nil, badInputf("--node-gpus %d: the floor of %s is of a node of %s, as %s says: leave the flag out", f.nodeGPUs, f.overlay, plural.Of(p.NodeGPUs, "GPU"), name)
	}
	f.nodeGPUs = p.NodeGPUs
	return []string{fmt.Sprintf("the absolute floor is of a node of %s, as %s says", plural.Of(p.NodeGPUs, "GPU"), name)}, nil
}
