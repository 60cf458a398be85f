package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/recipes"
)

const recipesUsage = "folder with overlays/ and mixins/ that the overlay inherits from (default: the one that it lies in)"

// recipeFolder is the folder of an overlay's tree. Without a flag it is the one
// that AICR's layout gives: overlays/ lies in it.
func recipeFolder(flag, path string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", badInput(err)
	}
	if filepath.Base(filepath.Dir(abs)) == "overlays" {
		return filepath.Join(filepath.Dir(path), ".."), nil
	}
	return filepath.Dir(path), nil
}

// resolveOverlay follows the chain of an overlay in a recipe folder.
func resolveOverlay(folder, path string, o *recipes.Overlay) (*recipes.Resolved, error) {
	folder, err := recipeFolder(folder, path)
	if err != nil {
		return nil, err
	}
	r, err := recipes.Resolve(os.DirFS(folder), filepath.ToSlash(folder), o)
	if err != nil {
		return nil, badInputf("%s: %w", path, err)
	}
	return r, nil
}

// parentAtHand reports whether the parent that an overlay names lies in its
// recipe folder, in the file of its name, so that its chain can be followed
// without reading a folder that is none.
func parentAtHand(folder, path string, o *recipes.Overlay) bool {
	root, err := recipeFolder(folder, path)
	if err != nil || o.Parent() == "" || o.Parent() != filepath.Base(o.Parent()) {
		return false
	}
	for _, dir := range []string{filepath.Join(root, "overlays"), root} {
		if info, err := os.Stat(filepath.Join(dir, o.Parent()+".yaml")); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// withCatalogs adds the validator catalogs of the trees that files lie in: they
// say which validator judges them, and can void what they demand.
func withCatalogs(folder string, args []string) ([]string, error) {
	all := args
	for _, path := range args {
		root, err := recipeFolder(folder, path)
		if err != nil {
			return nil, err
		}
		catalog := filepath.Join(root, "validators", "catalog.yaml")
		if _, err := os.Stat(catalog); err == nil && !slices.Contains(all, catalog) {
			all = append(slices.Clone(all), catalog)
		}
	}
	return all, nil
}

// rehearse makes the edit with values of no meaning and resolves the result, so
// that a layout that cannot be edited and a chain that contradicts the gate are
// said before hours of load. What could not be checked is said, and returned.
func (a *app) rehearse(f *calibrateFlags, ov overlayFile, form calibrate.Form) (unchecked []string, err error) {
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
		return nil, err
	}
	r, err := f.chainAllows(edited, g)
	if err != nil {
		return nil, err
	}
	for _, open := range r.Open() {
		unchecked = append(unchecked, "the inherited chain was not checked: "+open)
		a.say("%s", unchecked[len(unchecked)-1])
	}
	return unchecked, nil
}

// chainAllows resolves an edited overlay before it is written: the chain must
// hold the gate that is meant, and no other.
func (f *calibrateFlags) chainAllows(edited []byte, g recipes.Gate) (*recipes.Resolved, error) {
	o, err := recipes.Parse(f.overlay, edited)
	if err != nil {
		return nil, err
	}
	r, err := f.resolve(o)
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
