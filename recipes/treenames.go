package recipes

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// refusal is a file of a recipe folder that Parse refuses, with the name that
// it most likely has.
type refusal struct {
	*PosError
	kind, name string
}

// nameIn reads metadata.name out of a text that may not be YAML; a file without
// one is called as AICR's are, by the name of its file.
func nameIn(file string, src []byte) string {
	says := regexp.MustCompile(`(?m)^metadata:[^\n]*(?:\n(?: .*)?)*?(?:\n +|\{ *|, *)name: *(?:&[^ \n]+ +)?["']?([A-Za-z0-9._-]+)`)
	if m := says.FindSubmatch(src); m != nil {
		return string(m[1])
	}
	return strings.TrimSuffix(file, path.Ext(file))
}

// refused finds the file that would be the overlay or mixin of that name, could
// it be read.
func (t *tree) refused(kind, name string) *refusal {
	for i, r := range t.unread {
		if r.kind == kind && r.name == name {
			return &t.unread[i]
		}
	}
	return nil
}

// as says at its place that a file which others need is refused, not missing.
func (r *refusal) as(what string, of *Overlay) *PosError {
	return r.at("unread-overlay", fmt.Sprintf("%s %q of %s is there and refused, so what it demands is unknown: %s", what, clip(r.name), of.file, r.Msg), r.Remedy)
}

// doubts tells what of the tree's files bears on what was resolved: names that
// two files have, and files that were refused. AICR keeps one of two files of a
// name, and says nothing.
func (t *tree) doubts(r *Resolved, leaf *Overlay) {
	for _, o := range t.twice {
		first := t.overlays[o.Name()]
		if o.kind == "RecipeMixin" {
			first = t.mixins[o.Name()]
		} else if path.Base(o.file) == rootName+".yaml" || first == nil {
			first = t.overlays[rootName]
		}
		severity := SeverityWarning
		if r.uses(first) || matches(o.criteria(), leaf.criteria()) && o.Name() != leaf.Name() {
			severity = SeverityError
		}
		copied := o.Name() == leaf.Name() || severity == SeverityWarning
		if copied && !t.base { // a copy beside the file in anyone's scratch folder takes no part
			continue
		}
		at := lookup(lookup(o.root, "metadata").val, "name").val
		r.find(severity, o.errNode(at, "duplicate-name", fmt.Sprintf("the name %q is that of %s as well, and AICR takes one of the two without a word", clip(o.Name()), first.file),
			"rename or remove one of the two files"))
	}
	for _, u := range t.unread {
		// Where there is no base.yaml only AICR's name for wildcards makes a file a part of others.
		severity := SeverityWarning
		if strings.HasSuffix(u.name, "-any") && u.kind == "RecipeMetadata" {
			severity = SeverityError
		}
		r.open = true
		if !r.found(u.File, "unread-overlay") {
			r.find(severity, u.at("unread-overlay", "not read, so whether it takes part is unknown: "+u.Msg, u.Remedy))
		}
	}
}

// uses reports whether a file took part.
func (r *Resolved) uses(o *Overlay) bool {
	for _, s := range r.Sources {
		if s.File == o.file {
			return true
		}
	}
	return false
}

func (r *Resolved) found(file, rule string) bool {
	for _, f := range r.Findings {
		if f.File == file && f.Rule == rule {
			return true
		}
	}
	return false
}
