package recipes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two files of one name, and files that are refused although YAML reads them:
// each is told with both files, and nothing is written over it where the chain
// may need it.
func TestResolveDoubts(t *testing.T) {
	base := phaseOf("base", "  base: base\n", "")
	par := phaseOf("par", "  criteria: {accelerator: h100}\n", "[inference-perf]", NameFloorPerGPU, `">= 1"`)
	leaf := phaseOf("leaf", "  base: par\n  criteria: {accelerator: h100}\n", "[inference-perf]", NameCeiling, `"<= 1"`)
	anchored := func(src string) string { return strings.Replace(src, "kind: ", "kind: &k ", 1) }
	unrelated := phaseOf("z", "  criteria: {accelerator: b200}\n", "")
	mixed := strings.Replace(leaf, "  base: par", "  mixins: [m]\n  base: par", 1)
	mixin := "kind: RecipeMixin\nmetadata: {name: m}\n"
	for name, c := range map[string]struct {
		files   example
		finding string // of the rule in it
		forbids bool
	}{
		"two parents": {example{"par.yaml": par, "par2.yaml": par, "leaf.yaml": leaf},
			`par2.yaml:3:9: the name "par" is that of par.yaml as well`, true},
		"two leaves in a tree": {example{"base.yaml": base, "par.yaml": par, "copy.yaml": leaf, "leaf.yaml": leaf},
			`copy.yaml:3:9: the name "leaf" is that of leaf.yaml as well`, true},
		"a copy in a scratch folder": {example{"par.yaml": par, "copy.yaml": leaf, "leaf.yaml": leaf}, "", false},
		"two of another accelerator": {example{"base.yaml": base, "par.yaml": par, "z.yaml": unrelated, "zz.yaml": unrelated, "leaf.yaml": leaf},
			`zz.yaml:3:9: the name "z" is that of z.yaml as well`, false},
		"the second one would match": {example{"base.yaml": base, "par.yaml": par, "w.yaml": strings.Replace(unrelated, "b200", "h100", 1), "y.yaml": strings.Replace(unrelated, "b200", "h100", 1), "leaf.yaml": leaf},
			`y.yaml:3:9: the name "z" is that of w.yaml as well`, true},
		"two roots": {example{"a.yaml": base, "base.yaml": base, "par.yaml": par, "leaf.yaml": leaf},
			`base.yaml:3:9: the name "base" is that of a.yaml as well`, true},
		"two mixins": {example{"par.yaml": par, "leaf.yaml": mixed, "mixins/m.yaml": mixin, "mixins/n.yaml": mixin},
			`mixins/n.yaml:2:18: the name "m" is that of mixins/m.yaml as well`, true},
		"a refused parent": {example{"other.yaml": anchored(par), "leaf.yaml": leaf},
			`other.yaml:1:7: the parent "par" of leaf.yaml is there and refused, so what it demands is unknown: the anchor &k; write the value out`, true},
		"a parent with a tab":      {example{"par.yaml": par + "a: \tb\n", "leaf.yaml": leaf}, `par.yaml:11:4: the parent "par" of leaf.yaml is there and refused, so what it demands is unknown: a tab`, true},
		"a parent that is no YAML": {example{"par.yaml": "a: [\n", "leaf.yaml": leaf}, `par.yaml:1:1: the parent "par" of leaf.yaml is there and refused`, true},
		"a refused mixin": {example{"par.yaml": par, "leaf.yaml": mixed, "mixins/n.yaml": anchored(mixin)},
			`mixins/n.yaml:1:7: the mixin "m" of leaf.yaml is there and refused`, true},
		"a refused wildcard": {example{"par.yaml": par, "leaf.yaml": leaf, "w.yaml": anchored(strings.Replace(par, "name: par", "name: h100-any", 1))},
			`w.yaml:1:7: not read, so whether it takes part is unknown: the anchor &k`, true},
		"a refused stranger": {example{"par.yaml": par, "leaf.yaml": leaf, "w.yaml": "a: [\n"}, "w.yaml:1:1: not read, so whether it takes part is unknown", false},
		"no parent at all":   {example{"leaf.yaml": leaf}, `leaf.yaml:5:9: the parent "par" is in no file here`, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := resolveIn(t, c.files, "leaf.yaml")
			var got []string
			for _, f := range r.Findings {
				switch f.Rule {
				case "duplicate-name", "unread-overlay", "missing-parent", "missing-mixin":
					got = append(got, (&PosError{File: f.File, Line: f.Line, Col: f.Col, Msg: f.Message, Remedy: f.Remedy}).Error())
				}
			}
			if c.finding == "" && len(got) != 0 || c.finding != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.finding)) {
				t.Errorf("%q, want %q", got, c.finding)
			}
			if err := r.Forbids(); (err != nil) != c.forbids || err != nil && !strings.HasPrefix(err.Error(), c.finding) {
				t.Errorf("forbids: %v", err)
			}
		})
	}
}

// The leaf stands for its own file, however its path is written.
func TestResolveStandsForItsFile(t *testing.T) {
	files := example{"base.yaml": phaseOf("base", "  base: base\n", ""), "a.yaml": phaseOf("leaf", "  base: base\n", ""), "leaf.yaml": phaseOf("leaf", "  base: base\n", "")}
	for path, first := range map[string]string{"./leaf.yaml": "a.yaml", "leaf.yaml": "a.yaml", "a.yaml": "leaf.yaml", "/elsewhere/x.yaml": "leaf.yaml"} {
		o, err := Parse(path, []byte(files["leaf.yaml"]))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Resolve(files.fs(), "", o)
		if err != nil {
			t.Fatal(err)
		}
		if f := r.Findings; len(f) != 1 || f[0].Rule != "duplicate-name" || f[0].File != first || !strings.Contains(f[0].Message, path) {
			t.Errorf("%s: %+v", path, f)
		}
	}
}

// A link to nowhere is no file of the tree, and a file that cannot be read may
// be any.
func TestResolveUnreadableFiles(t *testing.T) {
	dir := t.TempDir()
	leaf := phaseOf("leaf", "  base: par\n", "[inference-perf]", NameCeiling, `"<= 1"`)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "leaf.yaml"), []byte(leaf), 0o600), os.Symlink("nowhere", filepath.Join(dir, ".#leaf.yaml"))); err != nil {
		t.Fatal(err)
	}
	o, err := Parse("leaf.yaml", []byte(leaf))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Resolve(os.DirFS(dir), "", o)
	if err != nil || r.found(".#leaf.yaml", "unread-overlay") || !r.found("leaf.yaml", "missing-parent") {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = Resolve(lockedFS{os.DirFS(dir)}, "", o)
	if err != nil || !r.found("leaf.yaml", "unread-overlay") || !r.found("leaf.yaml", "missing-parent") {
		t.Errorf("%+v, %v", r, err)
	}
}

// lockedFS has a folder that can be listed and files that cannot be read.
type lockedFS struct{ fs.FS }

func (l lockedFS) Open(name string) (fs.File, error) {
	if name == "leaf.yaml" {
		return nil, fs.ErrPermission
	}
	return l.FS.Open(name)
}

func TestNameIn(t *testing.T) {
	for src, want := range map[string]string{
		"metadata:\n  name: a-b\n":                       "a-b",
		"x: 1\nmetadata:\n\n  labels: {}\n  name: 'c'\n": "c",
		"metadata: {labels: {}, name: &n d}\n":           "d",
		"metadata:\nname: x\n":                           "file",
		"":                                               "file",
	} {
		if got := nameIn("file.yaml", []byte(src)); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}
