package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/perfsweep/perfsweep/recipes"
)

const dataUsage = "folder of opt-in recipes, as AICR's --data takes it: its overlays replace those of the same path"

const dataHelp = `--data DIR leaves the shipped overlay alone (NVIDIA/aicr#2714): the candidate, a
copy with the new gate, goes to the same path under DIR with its sidecar and its
approvals, and the next run goes on from there. DIR is what AICR's own --data
takes, whose files replace shipped ones of the same path; the chain is resolved so,
and a registry.yaml without components is made where DIR has none, as AICR wants
one. "recipes status --data DIR" judges both trees as one.`

// dataFlags divert what is written to a tree of its own.
type dataFlags struct {
	dir string
	// shipped is the overlay that was named, "" without --data, and fresh says
	// that there is no candidate of it yet.
	shipped string
	fresh   bool
}

// overlaysFolder is where AICR looks for overlays in a tree.
const overlaysFolder = "overlays"

// candidate is the path under a data folder of an overlay in a recipe tree.
func candidate(dir, recipeFlag, overlay string) (string, error) {
	folder, err := recipeFolder(recipeFlag, overlay)
	if err != nil {
		return "", err
	}
	from, err := filepath.Abs(folder)
	if err != nil {
		return "", badInput(err)
	}
	to, err := filepath.Abs(overlay)
	if err != nil {
		return "", badInput(err)
	}
	rel, err := filepath.Rel(from, to)
	if err != nil || !strings.HasPrefix(rel, overlaysFolder+string(filepath.Separator)) {
		return "", badInputf("--data mirrors a recipe tree, and %s does not lie under the folder %s of one; name its tree with --recipes", overlay, overlaysFolder)
	}
	return filepath.Join(dir, rel), nil
}

// over is where the candidate of an overlay lies, or would, "" without --data.
func (d *dataFlags) over(recipeFlag, overlay string) (string, error) {
	if d.dir == "" {
		return "", nil
	}
	if info, err := os.Stat(d.dir); err == nil && !info.IsDir() {
		return "", badInputf("--data %s is not a folder", d.dir)
	}
	to, err := candidate(d.dir, recipeFlag, overlay)
	if err != nil {
		return "", err
	}
	if sameFile(to, overlay) {
		return "", badInputf("--data %s is the tree that %s lies in: drop --data to take it from there, or name another folder", d.dir, overlay)
	}
	return to, nil
}

// divert makes the candidate the overlay that is edited.
func (f *calibrateFlags) divert() error {
	to, err := f.data.over(f.recipes, f.overlay)
	if err != nil || to == "" {
		return err
	}
	f.data.shipped, f.overlay = f.overlay, to
	return nil
}

// open reads the overlay that is in force: a candidate lies over the shipped one.
func (f *calibrateFlags) open() (overlayFile, error) {
	if _, err := os.Lstat(f.overlay); f.data.shipped != "" && errors.Is(err, fs.ErrNotExist) {
		f.data.fresh = true
		return openOverlay(f.data.shipped)
	}
	return openOverlay(f.overlay)
}

// resolve follows the chain of the overlay, across both trees.
func (f *calibrateFlags) resolve(o *recipes.Overlay) (*recipes.Resolved, error) {
	return f.data.resolve(f.recipes, f.overlay, o)
}

// resolve is resolveOverlay, across both trees where there are two.
func (d *dataFlags) resolve(recipeFlag, overlay string, o *recipes.Overlay) (*recipes.Resolved, error) {
	if d.shipped == "" {
		return resolveOverlay(recipeFlag, overlay, o)
	}
	folder, err := recipeFolder(recipeFlag, d.shipped)
	if err != nil {
		return nil, err
	}
	return resolveOver(d.dir, folder, overlay, o)
}

// resolveOver is resolveOverlay with a data folder over the recipe folder.
func resolveOver(data, folder, path string, o *recipes.Overlay) (*recipes.Resolved, error) {
	r, err := recipes.Resolve(recipes.Layers{
		{FS: os.DirFS(data), Root: filepath.ToSlash(data)}, {FS: os.DirFS(folder), Root: filepath.ToSlash(folder)},
	}, filepath.ToSlash(folder), o)
	if err != nil {
		return nil, badInputf("%s: %w", path, err)
	}
	return r, nil
}

// checkWritable is recipes.CheckWritable for a file whose folders may be missing.
func checkWritable(path string) error {
	for {
		dir := filepath.Dir(path)
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == path {
			return recipes.CheckWritable(path)
		}
		path = dir
	}
}

// registry is the file that AICR wants in a data folder, with nothing in it; ""
// where there is one.
func (d *dataFlags) registry() (path string) {
	path = filepath.Join(d.dir, "registry.yaml")
	if _, err := os.Lstat(path); d.shipped == "" || !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return path
}

const emptyRegistry = `# AICR wants this file in a folder that its --data takes. It adds no component.
apiVersion: aicr.run/v1alpha2
kind: ComponentRegistry
components: []
`

// fromShipped names the shipped overlay as the old side of a diff where there is
// no candidate yet.
func (d *dataFlags) fromShipped(diff, overlay string) string {
	if !d.fresh {
		return diff
	}
	old := func(path string) string { return "--- a/" + strings.TrimPrefix(path, "/") + "\n" }
	return strings.Replace(diff, old(overlay), old(d.shipped), 1)
}

// prepare makes what a candidate needs around it.
func (d *dataFlags) prepare(overlay string) error {
	if d.shipped == "" {
		return nil
	}
	if _, err := os.Lstat(overlay); d.fresh && err == nil {
		return &recipes.ChangedError{Path: overlay}
	}
	if err := os.MkdirAll(filepath.Dir(overlay), 0o755); err != nil {
		return err
	}
	if path := d.registry(); path != "" {
		return recipes.WriteFile(path, []byte(emptyRegistry))
	}
	return nil
}
