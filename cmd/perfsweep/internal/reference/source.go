package reference

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// Source reads what Go's types do not keep: comments, and the constants that a
// named string may be.
type Source struct {
	root, module string
	packages     map[string]*documented
}

// documented is what is read of a package, by type and field.
type documented struct {
	types  map[string]string
	fields map[string]string // "Type.Field"
	enums  map[string][]string
}

// NewSource reads packages of module, whose files lie at root.
func NewSource(root, module string) *Source {
	return &Source{root: root, module: module, packages: map[string]*documented{}}
}

// of returns what is known of the package that declares t; nothing is known of
// packages of others.
func (s *Source) of(t reflect.Type) (*documented, error) {
	path := t.PkgPath()
	if d, known := s.packages[path]; known {
		return d, nil
	}
	d := &documented{map[string]string{}, map[string]string{}, map[string][]string{}}
	if below, ours := strings.CutPrefix(path, s.module); ours {
		if err := d.read(filepath.Join(s.root, filepath.FromSlash(below))); err != nil {
			return nil, fmt.Errorf("read the comments of %s: %w", path, err)
		}
	}
	s.packages[path] = d
	return d, nil
}

func (d *documented) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !goFile(e) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			if g, ok := decl.(*ast.GenDecl); ok {
				d.declaration(g)
			}
		}
	}
	return nil
}

func goFile(e fs.DirEntry) bool {
	return strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go")
}

func (d *documented) declaration(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := spec.Doc
			if doc == nil && !g.Lparen.IsValid() {
				doc = g.Doc
			}
			d.types[spec.Name.Name] = sentence(doc)
			if st, ok := spec.Type.(*ast.StructType); ok {
				d.structure(spec.Name.Name, st)
			}
		case *ast.ValueSpec:
			name, ok := spec.Type.(*ast.Ident)
			if g.Tok != token.CONST || !ok {
				continue
			}
			for _, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, _ := strconv.Unquote(lit.Value) // the parser has read it
					d.enums[name.Name] = append(d.enums[name.Name], text)
				}
			}
		}
	}
}

func (d *documented) structure(name string, st *ast.StructType) {
	for _, f := range st.Fields.List {
		text := sentence(f.Doc)
		if text == "" {
			text = sentence(f.Comment)
		}
		for _, n := range f.Names {
			d.fields[name+"."+n.Name] = text
		}
	}
}

// sentence is a comment on one line.
func sentence(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
