package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the module's root, seen from the folder of this package.
const root = "../.."

// source is a parsed Go file.
type source struct {
	path  string // below root, with slashes
	lines int
	fset  *token.FileSet
	ast   *ast.File
}

func (s source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

// main reports whether the file is part of a command.
func (s source) main() bool { return s.ast.Name.Name == "main" && !s.test() }

// line is the line of a position in the file.
func (s source) line(p token.Pos) int { return s.fset.Position(p).Line }

// imports reports whether the file imports path.
func (s source) imports(path string) bool {
	return slices.ContainsFunc(s.ast.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"`+path+`"` })
}

// files lists the files of the repository below root, leaving out what git
// does not keep: its own folder and those that .gitignore names.
func files(t *testing.T) []string {
	t.Helper()
	ignore, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	skip := []string{".git"}
	patterns := []string{".git"} // a file in a linked worktree
	for _, l := range strings.Fields(string(ignore)) {
		if dir, ok := strings.CutSuffix(l, "/"); ok {
			skip = append(skip, strings.TrimPrefix(dir, "/"))
		} else {
			patterns = append(patterns, l)
		}
	}
	var out []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains(skip, filepath.ToSlash(rel)) {
				return filepath.SkipDir
			}
			return nil
		}
		for _, p := range patterns {
			if ok, err := filepath.Match(p, d.Name()); err != nil || ok {
				return err
			}
		}
		if d.Type().IsRegular() && rel != ".git" { // of a linked worktree: where the repository is
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sources parses every Go file of the repository, whatever its build tags.
func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	for _, path := range files(t) {
		if !strings.HasSuffix(path, ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, parse(t, path, string(text)))
	}
	if len(out) < 20 {
		t.Fatalf("found %d Go files below %s: not the repository's root", len(out), root)
	}
	return out
}

func parse(t *testing.T, path, text string) source {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{path: path, lines: strings.Count(text, "\n"), fset: fset, ast: f}
}
