package structure

import (
	"fmt"
	"go/ast"
	"slices"
	"testing"
)

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, s := range sources(t) {
		for _, complaint := range undocumented(s) {
			t.Error(complaint)
		}
	}
}

// undocumented lists the exported names of a file that say nothing about
// themselves. A comment on a group of constants or variables covers the group.
func undocumented(s source) []string {
	if s.test() {
		return nil
	}
	var out []string
	complain := func(n *ast.Ident) {
		if n.IsExported() {
			out = append(out, fmt.Sprintf("%s:%d: %s is exported and not documented", s.path, s.line(n.Pos()), n.Name))
		}
	}
	for _, d := range s.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && (d.Recv == nil || exportedReceiver(d)) && !wellKnown(d) {
				complain(d.Name)
			}
		case *ast.GenDecl:
			if d.Doc != nil {
				continue
			}
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Doc == nil {
						complain(spec.Name)
					}
				case *ast.ValueSpec:
					if spec.Doc == nil && spec.Comment == nil {
						for _, n := range spec.Names {
							complain(n)
						}
					}
				}
			}
		}
	}
	return out
}

func exportedReceiver(d *ast.FuncDecl) bool {
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	name, ok := typ.(*ast.Ident)
	return ok && name.IsExported()
}

// wellKnown methods implement an interface of the standard library whose
// documentation says all there is to say.
func wellKnown(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"Error", "Unwrap", "String", "MarshalJSON", "UnmarshalJSON", "Len", "Less", "Swap"}, d.Name.Name)
}

func TestUndocumented(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{"package p\nfunc F() {}\n", 1},
		{"package p\n// F does.\nfunc F() {}\n", 0},
		{"package p\nfunc f() {}\ntype t struct{}\nfunc (t) M() {}\n", 0},
		{"package p\n// T is.\ntype T struct{}\nfunc (*T) M() {}\nfunc (T) Error() string { return \"\" }\n", 1},
		{"package p\ntype T struct{}\n", 1},
		{"package p\nconst (\n\tA = 1\n\t// B is.\n\tB = 2\n\tC = 3 // C is.\n)\n", 1},
		{"package p\n// A and B are.\nconst (\n\tA = 1\n\tB = 2\n)\nvar V, W int\n", 2},
	} {
		if got := undocumented(parse(t, "a.go", tt.text)); len(got) != tt.want {
			t.Errorf("%q: complaints %q, want %d", tt.text, got, tt.want)
		}
	}
}
