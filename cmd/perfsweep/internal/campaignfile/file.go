// Package campaignfile reads and writes campaign files: the flags of a
// campaign's commands, kept by target. It knows no flag itself; what a file may
// hold is a Schema, made from the flags, so that there is one set of rules.
package campaignfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/recipes"
)

// Kind is the form that a key's value has.
type Kind int

// The kinds. Pairs are key=value, and may also be written as a mapping.
const (
	Scalar Kind = iota
	List
	Pairs
)

// Schema is what a file may hold.
type Schema struct {
	// Commands are the keys that each command knows, which are the names of its
	// flags.
	Commands map[string]map[string]Kind
	// Refused are keys that no file may hold, and what to do instead.
	Refused map[string]string
}

// Value is one key as it stands in a file, its items as they were written there.
type Value struct {
	Key       string
	Items     []string // exactly one unless Listed
	Listed    bool
	Pairs     bool // the items are key=value, and add up
	Line, Col int
}

// Section holds the keys of all commands that know them, and of one alone.
type Section struct {
	Values   []Value
	Commands map[string][]Value
}

// Target is the section of one target.
type Target struct {
	Name      string
	Line, Col int
	Section
}

// File is a campaign file.
type File struct {
	Name     string // for positions
	Defaults Section
	Targets  []Target
}

// Pick returns the target of a name, which may be left out where the file has
// one; nil where it has none. What it cannot decide is an error.
func (f *File) Pick(name string) (*Target, error) {
	names := make([]string, len(f.Targets))
	for i := range f.Targets {
		if names[i] = f.Targets[i].Name; names[i] == name {
			return &f.Targets[i], nil
		}
	}
	switch {
	case name == "" && len(names) == 1:
		return &f.Targets[0], nil
	case name == "" && len(names) == 0:
		return nil, nil
	case name == "":
		return nil, fmt.Errorf("%s has %s; choose one with --name: %s", f.Name, plural.Of(len(names), "target"), listed(names))
	case len(names) == 0:
		return nil, fmt.Errorf("%s names no targets, so there is no %.80q; drop --name, or add it under targets", f.Name, name)
	}
	return nil, fmt.Errorf("%s has no target %.80q%s; it has %s", f.Name, name, meant(name, names), listed(names))
}

// Effective is what holds for a command on a target, which may be nil: of a key
// that stands in several places the most special one, whole. Pairs add up, unless
// the most special one is empty.
func (f *File) Effective(t *Target, command string) []Value {
	by := map[string]Value{}
	sections := []Section{f.Defaults}
	if t != nil {
		sections = append(sections, t.Section)
	}
	for _, s := range sections {
		for _, v := range slices.Concat(s.Values, s.Commands[command]) {
			if v.Pairs && len(v.Items) > 0 {
				v.Items = addedUp(by[v.Key].Items, v.Items)
			}
			by[v.Key] = v
		}
	}
	out := make([]Value, 0, len(by))
	for _, k := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[k])
	}
	return out
}

// addedUp are pairs with more special ones over them.
func addedUp(pairs, over []string) []string {
	keyOf := func(pair string) string { key, _, _ := strings.Cut(pair, "="); return key }
	kept := slices.DeleteFunc(slices.Clone(pairs), func(p string) bool {
		return slices.ContainsFunc(over, func(o string) bool { return keyOf(o) == keyOf(p) })
	})
	return append(kept, over...)
}

const shownNames = 20

func listed(names []string) string {
	if len(names) > shownNames {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shownNames], ", "), len(names)-shownNames)
	}
	return strings.Join(names, ", ")
}

func meant(name string, known []string) string {
	if near := recipes.Nearest(name, known); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}
