package recipes

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// Bounds on what Resolve reads and follows. AICR's own tree has fewer than 200
// overlays and chains of six.
const (
	MaxTreeFiles = 4096
	MaxChain     = 32
)

const rootName = "base"

// tree is the overlays and mixins of a recipe folder, by name.
type tree struct {
	overlays map[string]*Overlay
	mixins   map[string]*Overlay
	unread   []refusal  // files that may or may not be part of a chain
	twice    []*Overlay // overlays and mixins whose name an earlier file has
	root     string     // before each file name, for messages
	base     bool       // there is a base.yaml, so the folder is a whole tree
}

// loadTree reads overlays/*.yaml, or *.yaml where there is no such folder, and
// mixins/*.yaml. The leaf stands for the file of its name.
func loadTree(fsys fs.FS, root string, leaf *Overlay) (*tree, error) {
	t := &tree{root: root, overlays: map[string]*Overlay{}, mixins: map[string]*Overlay{}}
	dir := "overlays"
	if info, err := fs.Stat(fsys, dir); err != nil || !info.IsDir() {
		dir = "."
	}
	if err := t.load(fsys, dir, "RecipeMetadata", t.overlays); err != nil {
		return nil, err
	}
	if err := t.load(fsys, "mixins", "RecipeMixin", t.mixins); err != nil {
		return nil, err
	}
	t.stand(leaf)
	t.base = t.overlays[rootName] != nil
	return t, nil
}

// load reads the files of one folder. Files of another kind are no part of the
// tree; a name that is taken keeps its first file, in the order of file names.
func (t *tree) load(fsys fs.FS, dir, kind string, into map[string]*Overlay) error {
	entries, err := fs.ReadDir(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) && dir != "." {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the recipe folder: %w", err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return path.Ext(e.Name()) != ".yaml" || e.IsDir() })
	if len(entries) > MaxTreeFiles {
		return fmt.Errorf("reading the recipe folder: %s has %s, more than %d; name the folder that holds overlays and mixins", dir, plural.Of(len(entries), "YAML file"), MaxTreeFiles)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		file := path.Join(t.rootOf(fsys, name), name)
		src, err := readBounded(fsys, name)
		if err != nil {
			at := &PosError{File: file, Line: 1, Col: 1, Msg: err.Error(), Remedy: "make the file readable, or take it away"}
			t.unread = append(t.unread, refusal{at, kind, strings.TrimSuffix(e.Name(), ".yaml")})
			continue
		}
		o, err := parseAs(kind, file, src)
		var pos *PosError
		switch {
		case errors.As(err, &pos) && pos.Rule == "not-an-overlay":
			continue
		case errors.As(err, &pos):
			t.unread = append(t.unread, refusal{pos, kind, nameIn(e.Name(), src)})
			continue
		case err != nil:
			return err
		}
		as := o.Name()
		if dir != "mixins" && e.Name() == rootName+".yaml" {
			as = rootName
		}
		if into[as] != nil {
			t.twice = append(t.twice, o)
			continue
		}
		into[as] = o
	}
	return nil
}

// stand puts the leaf in the place of its file. Another file of its name stays
// a second one.
func (t *tree) stand(leaf *Overlay) {
	name := leaf.Name()
	if first := t.overlays[name]; first != nil && first.file != path.Clean(leaf.file) {
		for i, o := range t.twice {
			if o.file == path.Clean(leaf.file) {
				t.twice[i] = first
			}
		}
	}
	t.overlays[name] = leaf
}

// readBounded reads no more than Parse takes; Parse then says that it is too large.
func readBounded(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a link to nowhere, such as an editor's lock
	}
	if err != nil {
		return nil, fmt.Errorf("reading the recipe folder: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil // holds no document, so it is no overlay
	}
	if info.Size() > MaxBytes {
		return make([]byte, MaxBytes+1), nil
	}
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("reading the recipe folder: %w", err)
	}
	return src, nil
}

// Parent is the name in spec.base as it stands there, "" where there is none.
func (o *Overlay) Parent() string { return scalar(lookup(o.spec.val, "base")) }

// parent is the name that spec.base refers to, "" for the root.
func (o *Overlay) parent() string {
	if b := o.Parent(); b != rootName {
		return b
	}
	return ""
}

// chain is an overlay with its ancestors, the oldest first, without the root.
// A problem ends it early.
func (t *tree) chain(o *Overlay) (list []*Overlay, problem *PosError) {
	for list = []*Overlay{o}; o.parent() != ""; {
		at := lookup(o.spec.val, "base").val
		next := t.overlays[o.parent()]
		switch {
		case next == nil && t.refused("RecipeMetadata", o.parent()) != nil:
			problem = t.refused("RecipeMetadata", o.parent()).as("the parent", o)
		case next == nil:
			problem = o.errNode(at, "missing-parent", fmt.Sprintf("the parent %q is in no file here, so what it demands is unknown", clip(o.parent())),
				"name the recipe folder that holds it (--recipes), or correct spec.base")
		case slices.Contains(list, next):
			problem = o.errNode(at, "inheritance-cycle", fmt.Sprintf("%s is its own ancestor", clip(next.Name())), "let spec.base lead to base")
		case len(list) == MaxChain:
			problem = o.errNode(at, "chain-too-deep", fmt.Sprintf("more than %d ancestors", MaxChain), "shorten the chain")
		}
		if problem != nil {
			break
		}
		list, o = append(list, next), next
	}
	slices.Reverse(list)
	return list, problem
}

// leaves are the overlays that AICR applies to a query with o's criteria: those
// that match and are nobody's ancestor, the least specific first.
func (t *tree) leaves(o *Overlay) []*Overlay {
	query := o.criteria()
	found := []*Overlay{o}
	for _, name := range t.names() {
		c := t.overlays[name]
		// A folder without base.yaml may be anyone's scratch folder: there only
		// AICR's name for wildcards makes a file a part of others.
		if c != o && name != rootName && matches(c.criteria(), query) && (t.base || strings.HasSuffix(name, "-any")) {
			found = append(found, c)
		}
	}
	ancestors := map[*Overlay]bool{}
	for _, c := range found {
		list, _ := t.chain(c)
		for _, a := range list[:len(list)-1] {
			ancestors[a] = true
		}
	}
	found = slices.DeleteFunc(found, func(c *Overlay) bool { return ancestors[c] })
	slices.SortStableFunc(found, func(a, b *Overlay) int {
		if d := len(a.criteria()) - len(b.criteria()); d != 0 {
			return d
		}
		return strings.Compare(a.Name(), b.Name())
	})
	return found
}

func (t *tree) names() []string {
	var names []string
	for n := range t.overlays {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// criteria are those that are not "any". nil means that the file has none at
// all, and then it can only be inherited.
func (o *Overlay) criteria() map[string]string {
	e := lookup(o.spec.val, "criteria")
	if e.empty() || e.val.Kind != yamlMapping {
		return nil
	}
	c := map[string]string{}
	for i := 0; i < len(e.val.Content); i += 2 {
		key, value := e.val.Content[i].Value, scalar(entry{e.val.Content[i], e.val.Content[i+1]})
		if anyCriterion(key, value) {
			continue
		}
		c[key] = value
	}
	return c
}

func anyCriterion(key, value string) bool {
	switch strings.ToLower(value) {
	case "", "any":
		return true
	case "self-managed", "self", "vanilla":
		return key == "service"
	case "0":
		return key == "nodes"
	}
	return false
}

// matches is AICR's rule: what a recipe leaves open fits every query, what a
// query leaves open fits only recipes that leave it open too.
func matches(recipe, query map[string]string) bool {
	if recipe == nil || query == nil {
		return false
	}
	for k, v := range recipe {
		if query[k] != v {
			return false
		}
	}
	return true
}
