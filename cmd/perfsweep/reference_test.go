package main

import (
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/reference"
)

// update writes the reference instead of comparing with it: make reference.
var update = flag.Bool("update", false, "TestReference writes docs/reference")

const referenceDir = "../../docs/reference"

// madeByHand are the files of docs/reference that nothing generates.
var madeByHand = map[string]bool{"journal.md": true}

const referenceIntro = `# Reference

What perfsweep takes and gives, from the program itself: a test compares these
pages with it, and ` + "`make reference`" + ` writes them anew. Everything here is also
in the program: ` + "`perfsweep COMMAND --help`, `perfsweep help TOPIC`" + `.

## Commands

`

const referenceRest = `
The same as man pages: [man](man), ` + "`man -l docs/reference/man/perfsweep-check.1`" + `.

## Files and answers

[The journal](journal.md), record by record. JSON Schemas (2020-12) of all that is
kept or printed as JSON; numbers carry their unit in the key, and a metric that could
not be measured is absent. A schema is of this version exactly: a later one may add
keys under the same ` + "`schema_version`" + `, so read what you know and pass over the rest.

`

// referenceFiles is the whole generated reference.
func referenceFiles(t *testing.T) []reference.File {
	t.Helper()
	root := (&app{out: io.Discard, err: io.Discard}).root()
	root.InitDefaultCompletionCmd("completion")
	files := reference.Pages(root)
	for _, f := range reference.Man(root, exitCodesTopic().Long) {
		files = append(files, reference.File{Path: "man/" + f.Path, Text: f.Text})
	}
	ofDocuments, index := schemaFiles(t)
	files = append(files, ofDocuments...)
	return append(files, reference.File{Path: "README.md", Text: referenceIntro + reference.Index(root) + referenceRest + index})
}

// The committed reference is what the program says of itself.
func TestReference(t *testing.T) {
	want := map[string]string{}
	for _, f := range referenceFiles(t) {
		want[f.Path] = f.Text
	}
	if *update {
		writeReference(t, want)
	}
	const again = "write it anew with make reference, and read the difference"
	for path, text := range want {
		got, err := os.ReadFile(filepath.Join(referenceDir, path))
		if err != nil {
			t.Errorf("%v: %s", err, again)
		} else if string(got) != text {
			t.Errorf("docs/reference/%s is not what the program says: %s\n%s", path, again, firstDifference(string(got), text))
		}
	}
	for _, path := range committedReference(t) {
		if _, known := want[path]; !known && !madeByHand[path] {
			t.Errorf("docs/reference/%s is of nothing that there is: %s", path, again)
		}
	}
}

// committedReference lists the files of docs/reference.
func committedReference(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(referenceDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(referenceDir, path)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func writeReference(t *testing.T, want map[string]string) {
	t.Helper()
	if err := os.MkdirAll(referenceDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range committedReference(t) {
		if _, known := want[path]; !known && !madeByHand[path] {
			if err := os.Remove(filepath.Join(referenceDir, path)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for path, text := range want {
		path = filepath.Join(referenceDir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "-" + a[i] + "\n+" + b[i]
		}
	}
	return "one is longer than the other"
}
