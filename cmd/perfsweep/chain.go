package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/recipes"
)

const recipesUsage = "folder with overlays/ and mixins/ that the overlay inherits from (default: the one that it lies in)"

// resolveOverlay follows the chain of an overlay in a recipe folder. Without a
// folder it is the one that AICR's layout gives: overlays/ lies in it.
func resolveOverlay(folder, path string, o *recipes.Overlay) (*recipes.Resolved, error) {
	if folder == "" {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, badInput(err)
		}
		folder = filepath.Dir(path)
		if filepath.Base(filepath.Dir(abs)) == "overlays" {
			folder = filepath.Join(folder, "..")
		}
	}
	r, err := recipes.Resolve(os.DirFS(folder), filepath.ToSlash(folder), o)
	if err != nil {
		return nil, badInputf("%s: %w", path, err)
	}
	return r, nil
}

// rehearse makes the edit with values of no meaning and resolves the result, so
// that a layout that cannot be edited and a chain that contradicts the gate are
// said before hours of load.
func (a *app) rehearse(f *calibrateFlags, ov overlayFile, form calibrate.Form) error {
	g := recipes.Gate{Model: "rehearsal", ConcurrencyPerGPU: 1, RoutingMode: ov.gate.RoutingMode, CeilingTTFTP99MS: 1}
	switch {
	case f.gate == "ttft-only":
	case form == calibrate.Absolute:
		g.Floor = 1
	default:
		g.FloorPerGPU = 1
	}
	edited, err := ov.SetGate(g, nil)
	if err != nil {
		return err
	}
	r, err := f.chainAllows(edited, g)
	if err != nil {
		return err
	}
	for _, open := range r.Open() {
		a.say("the inherited chain was not checked: %s", open)
	}
	return nil
}

// chainAllows resolves an edited overlay before it is written: the chain must
// hold the gate that is meant, and no other.
func (f *calibrateFlags) chainAllows(edited []byte, g recipes.Gate) (*recipes.Resolved, error) {
	o, err := recipes.Parse(f.overlay, edited)
	if err != nil {
		return nil, err
	}
	r, err := resolveOverlay(f.recipes, f.overlay, o)
	if err != nil {
		return nil, err
	}
	err = r.Forbids()
	if err == nil {
		err = r.Proves(g)
	}
	var pos *recipes.PosError
	if errors.As(err, &pos) && pos.File == f.overlay { // its lines are those of a file that nobody has
		err = badInputf("%s, as it would be written: %s; %s", f.overlay, pos.Msg, pos.Remedy)
	}
	return r, err
}
