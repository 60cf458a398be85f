package recipes

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
)

// Layer is a recipe folder that lies over or under others.
type Layer struct {
	FS   fs.FS
	Root string // before its file names, for messages
}

// Layers is a tree of recipe folders, the first on top: a file replaces the whole
// one of the same relative path below it, as AICR's --data does
// (https://docs.nvidia.com/aicr/integrator-guide/data-extension). Resolve names
// each file with the root of its own layer.
type Layers []Layer

// of is the topmost layer that has the name.
func (l Layers) of(name string) (Layer, error) {
	err := error(&fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist})
	for _, one := range l {
		if _, err = fs.Stat(one.FS, name); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return one, err
		}
	}
	return Layer{}, err
}

// Open opens the topmost file of a name.
func (l Layers) Open(name string) (fs.File, error) {
	one, err := l.of(name)
	if err != nil {
		return nil, err
	}
	return one.FS.Open(name)
}

// ReadDir lists what any layer has in a folder.
func (l Layers) ReadDir(name string) ([]fs.DirEntry, error) {
	by := map[string]fs.DirEntry{}
	found := false
	for _, one := range slices.Backward(l) {
		entries, err := fs.ReadDir(one.FS, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = true
		for _, e := range entries {
			by[e.Name()] = e
		}
	}
	if !found {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	out := make([]fs.DirEntry, 0, len(by))
	for _, e := range by {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return out, nil
}

// rootOf is what is put before a file's name.
func (t *tree) rootOf(fsys fs.FS, name string) string {
	if l, ok := fsys.(Layers); ok {
		if one, err := l.of(name); err == nil {
			return one.Root
		}
	}
	return t.root
}
