package structure

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// bannedImports and why. A reason that holds in libraries only is in
// bannedInLibraries.
var bannedImports = map[string]string{
	"text/template": "it keeps every exported method in the binary, 12 MB with a Kubernetes client",
	"html/template": "it keeps every exported method in the binary, 12 MB with a Kubernetes client",
	"math/rand":     "use math/rand/v2 with a seed derived from identity",
	"io/ioutil":     "use os and io",
}

var bannedInLibraries = map[string]string{
	"log":  "return an error or a warning; what is printed is decided in cmd",
	"flag": "a command's flags belong to its main package",
}

// bannedInLibraryCode are selectors that touch the process, which belongs to cmd.
var bannedInLibraryCode = []string{"os.Exit", "os.Stdin", "os.Stdout", "os.Stderr", "os.Args", "http.DefaultClient", "net.DefaultResolver", "signal.Notify", "signal.NotifyContext"}

// skips are the methods of testing.TB that end a test without a verdict.
var skips = []string{"Skip", "Skipf", "SkipNow"}

func TestBanned(t *testing.T) {
	for _, s := range sources(t) {
		for _, complaint := range banned(s) {
			t.Error(complaint)
		}
	}
}

// banned lists the uses of what the house rules exclude.
func banned(s source) []string {
	var out []string
	complain := func(n ast.Node, what, why string) {
		out = append(out, fmt.Sprintf("%s:%d: %s: %s", s.path, s.line(n.Pos()), what, why))
	}
	library := !s.main() && !s.test()
	for _, imp := range s.ast.Imports {
		path := strings.Trim(imp.Path.Value, `"`)
		if why, bad := bannedImports[path]; bad {
			complain(imp, path, why)
		}
		if why, bad := bannedInLibraries[path]; bad && library {
			complain(imp, path, why)
		}
	}
	for _, group := range s.ast.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//nolint") || strings.HasPrefix(c.Text, "//lint:ignore") {
				complain(c, "a suppressed linter", "repair the code or drop the linter")
			}
		}
	}
	bubble := s.imports("testing/synctest")
	ast.Inspect(s.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		name := x.Name + "." + sel.Sel.Name
		switch {
		case library && slices.Contains(bannedInLibraryCode, name):
			complain(n, name, "process state belongs to the main package")
		case s.test() && name == "time.Sleep" && !bubble:
			complain(n, name, "wait for the event itself, or sleep in a testing/synctest bubble")
		case s.test() && slices.Contains(skips, sel.Sel.Name) && slices.Contains([]string{"t", "b", "f", "tb"}, x.Name):
			complain(n, name, "a skipped test proves nothing: put what needs more than Go behind a build tag")
		}
		return true
	})
	return out
}

func TestBannedIsFound(t *testing.T) {
	for _, tt := range []struct {
		path, text string
		want       int
	}{
		{"a.go", "package p\nimport _ \"html/template\"\nimport _ \"math/rand\"\n", 2},
		{"a.go", "package p\nimport _ \"math/rand/v2\"\nimport _ \"os\"\n", 0},
		{"a.go", "package p\nimport _ \"log\"\nimport _ \"flag\"\n", 2},
		{"a.go", "package main\nimport _ \"flag\"\nfunc f() { os.Exit(1) }\n", 0},
		{"a.go", "package p\nfunc f() { os.Exit(1); print(os.Stderr) }\n", 2},
		{"a_test.go", "package p\nfunc f() { time.Sleep(1); t.Skip(); s.Skip() }\n", 2},
		{"a_test.go", "package p\nimport _ \"testing/synctest\"\nfunc f() { time.Sleep(1) }\n", 0},
		{"a.go", "package p\nfunc f() { time.Sleep(1) }\n", 0},
		{"a.go", "package p\nvar x = 1 //nolint:unused\n", 1},
		{"a.go", "package p\n//lint:ignore U1000 because\nvar x = 1\n", 1},
	} {
		if got := banned(parse(t, tt.path, tt.text)); len(got) != tt.want {
			t.Errorf("%q: complaints %q, want %d", tt.text, got, tt.want)
		}
	}
}
