package structure

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// seeded are the names in cmd/perfsweep that have other values with the tag accept.
var seeded = map[string]bool{"seeds": true, "newSeeds": true, "everySystem": true}

// seededTests are the tests that use one of the seeded names, themselves or through
// a function that they name.
func seededTests(list []source) map[string]bool {
	uses := map[string]map[string]bool{}
	for _, s := range list {
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || f.Body == nil {
				continue
			}
			names := map[string]bool{}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					names[id.Name] = true
				}
				return true
			})
			uses[f.Name.Name] = names
		}
	}
	found := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for f, names := range uses {
			for name := range names {
				if !found[f] && !seeded[f] && (seeded[name] || found[name]) {
					found[f], grown = true, true
				}
			}
		}
	}
	for f := range found {
		if !strings.HasPrefix(f, "Test") {
			delete(found, f)
		}
	}
	return found
}

// stepNames are what go test -run of a step names: what stands before the first
// slash of each alternative.
func stepNames(step string) []string {
	var out []string
	for _, alternative := range regexp.MustCompile(`\([^)]*\)|[^|(]+`).FindAllString(step, -1) {
		if name, _, _ := strings.Cut(alternative, "/"); strings.HasPrefix(name, "Test") {
			out = append(out, name)
		}
	}
	return out
}

// TestSeedsAreRun: a test that has more seeds with the tag accept has them in
// .ci/run too, whose step names its tests, and that step names none that is gone.
func TestSeedsAreRun(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?s)step_seeds\(\) \{.*?-run '([^']+)'`).FindSubmatch(script)
	if m == nil {
		t.Fatal(".ci/run has no step seeds with -run")
	}
	var list []source
	tests := ""
	for _, s := range sources(t) {
		if filepath.ToSlash(filepath.Dir(s.path)) == "cmd/perfsweep" && s.test() {
			list = append(list, s)
			for _, d := range s.ast.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					tests += f.Name.Name + "\n"
				}
			}
		}
	}
	names := stepNames(string(m[1]))
	wanted := seededTests(list)
	if len(wanted) < 3 {
		t.Errorf("only %v use more seeds: does this test still read them?", wanted)
	}
	for f := range wanted {
		found := false
		for _, name := range names {
			found = found || strings.HasPrefix(f, name)
		}
		if !found {
			t.Errorf("%s has more seeds with the tag accept, and step seeds of .ci/run does not name it", f)
		}
	}
	for _, name := range names {
		if !strings.Contains(tests, name) {
			t.Errorf("step seeds of .ci/run names %s, which is no test", name)
		}
	}
}

func TestSeededTests(t *testing.T) {
	s := parse(t, "cmd/perfsweep/x_test.go", "package main\nfunc TestA(t *T) { helper(t) }\nfunc helper(t *T) { deeper(t) }\nfunc deeper(t *T) { _ = newSeeds(t) }\nfunc TestB(t *T) {}\n"+
		"func newSeeds(t *T) int { return seeds }\nfunc TestC(t *T) { if everySystem { return } }\n")
	if got := seededTests([]source{s}); len(got) != 2 || !got["TestA"] || !got["TestC"] {
		t.Errorf("%v", got)
	}
	if got := strings.Join(stepNames("TestA|TestB/^(x|Testy)$|TestC"), " "); got != "TestA TestB TestC" {
		t.Errorf("%q", got)
	}
}
