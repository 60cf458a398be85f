package structure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fixedPlurals are texts that may hold a fixed plural after a count, and why.
var fixedPlurals = map[string]string{
	"window %d runs on":        "the number of a window, and a verb",
	"%s %d/%d tokens":          "the two lengths of a workload, whose sum is above one",
	"%d to %d are possible":    "a range",
	"fewer than %d are needed": "fewer than one is not one",
	"deployment %d reads %v":   "a verb",
	"those of run %d were":     "workers of one run",
	"the clocks of %s are":     "a clock has a difference to each of the others",
	"the SMs of %s were":       "a GPU has many",
	"%s are more than":         "more than a bound above one",
	"floor %s × %d of %d GPUs": "a part of a node has fewer GPUs than the node",
	"Unsupported parameter(s)": "the simulated engine says it as the real one does",
}

// neverOne are things whose number, where it is told, is above one: a file or a
// text that is too large for a bound, or an archive.
var neverOne = []string{"bytes", "MiB"}

// noPlurals are the words in s after a number that are no plural of what it counts.
var noPlurals = strings.Fields("is was has does as its this less ms us s across always " +
	"says takes begins comes confirms contradicts proves follows lies looks stands needs numbers measures")

// ends are words with which what is counted ends.
var ends = strings.Fields("of per in on at and or to with for from after than the a an where which while that by is are was were has have do does")

var (
	verbOf   = regexp.MustCompile(`%[-+# 0]*[0-9]*(?:\.([0-9]+))?(?:\[([0-9]+)\])?([a-zA-Z%])`)
	follower = regexp.MustCompile(`^((?: [A-Za-z'-]+){1,3})`)
	manyVerb = regexp.MustCompile(`^ (?:are|were|have|do)\b`)
	amongAll = regexp.MustCompile(`^ of %[ds](?: [A-Za-z-]+| at %d)*? (?:are|were|have|do)\b`)
	either   = regexp.MustCompile(`[a-z]\(s\)`)
)

// checker gathers the complaints of a package, and which exceptions it needed.
type checker struct {
	info *types.Info
	used map[string]bool
	out  []string
	fset *token.FileSet
}

func (c *checker) complain(at ast.Node, what, text string) {
	for piece := range fixedPlurals {
		if strings.Contains(text, piece) {
			c.used[piece] = true
			return
		}
	}
	c.out = append(c.out, fmt.Sprintf("%s: %s: %.90q: write it with internal/plural", c.fset.Position(at.Pos()), what, text))
}

// pluralIn is the word of a text that is the plural of what a number before it
// counts, "" if none is.
func pluralIn(text string) string {
	words := strings.Fields(follower.FindString(text))
	for i, w := range words {
		switch {
		case i == len(words)-1 && strings.HasPrefix(text[strings.Index(text, w)+len(w):], "/"): // a unit
			return ""
		case slices.Contains(ends, w) || slices.Contains(neverOne, w):
			return ""
		case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "'s") && !slices.Contains(noPlurals, w):
			return w
		}
	}
	return ""
}

// look is one node of a file.
func (c *checker) look(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		c.call(n)
	case *ast.BinaryExpr:
		if n.Op == token.ADD && c.counts(last(n.X)) {
			if text, ok := c.text(n.Y); ok && (pluralIn(text) != "" || manyVerb.MatchString(text)) {
				c.complain(n, "a number with a fixed plural", text)
			}
		}
	case *ast.BasicLit:
		if text, ok := c.text(n); ok && either.MatchString(text) && !strings.Contains(text, "http(s)") {
			c.complain(n, "(s)", text)
		}
	}
	return true
}

// last is the right end of a concatenation.
func last(e ast.Expr) ast.Expr {
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.ADD {
		return last(b.Y)
	}
	return e
}

// counts reports whether an expression is a call that spells a number.
func (c *checker) counts(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch types.ExprString(call.Fun) {
	case "strconv.Itoa", "strconv.FormatInt", "strconv.FormatUint":
		return true
	case "fmt.Sprint":
		return len(call.Args) == 1 && c.number(call.Args[0])
	case "plural.Of":
		return false
	}
	return false
}

func (c *checker) text(e ast.Expr) (string, bool) {
	v := c.info.Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

func (c *checker) number(e ast.Expr) bool {
	b, ok := c.info.Types[e].Type.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

// real is a quantity that may have a fraction.
func (c *checker) real(e ast.Expr) bool {
	b, ok := c.info.Types[e].Type.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsFloat != 0
}

// call looks at a call with a format: the last parameter but the variadic one.
func (c *checker) call(n *ast.CallExpr) {
	sig, ok := c.info.Types[n.Fun].Type.(*types.Signature)
	if !ok || !sig.Variadic() || sig.Params().Len() < 2 || n.Ellipsis.IsValid() {
		return
	}
	at := sig.Params().Len() - 2
	if at >= len(n.Args) {
		return
	}
	format, ok := c.text(n.Args[at])
	if !ok || !strings.Contains(format, "%") {
		return
	}
	args, next := n.Args[at+1:], 0
	for _, m := range verbOf.FindAllStringSubmatchIndex(format, -1) {
		verb := format[m[6]:m[7]]
		if verb == "%" {
			continue
		}
		if m[4] >= 0 {
			at, err := strconv.Atoi(format[m[4]:m[5]])
			if err != nil {
				return // vet says so
			}
			next = at - 1
		}
		if next >= len(args) {
			return
		}
		arg, rest := args[next], format[m[1]:]
		next++
		c.filled(n, format, verb, m[2] >= 0 && format[m[2]:m[3]] != "0", arg, rest)
	}
}

// filled looks at one value of a format and what comes after it.
func (c *checker) filled(n ast.Node, format, verb string, fraction bool, arg ast.Expr, rest string) {
	if call, ok := arg.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "plural.Of" {
		if manyVerb.MatchString(rest) && c.info.Types[call.Args[0]].Value == nil {
			c.complain(n, "a count with the verb of many", format)
		}
		return
	}
	v := c.info.Types[arg].Value
	if constant1 := v != nil && v.ExactString() == "1"; v != nil && !constant1 || fraction || !c.number(arg) || verb == "v" && c.real(arg) || !strings.Contains("dvf", verb) {
		return
	}
	if w := pluralIn(rest); w != "" {
		c.complain(n, "a number with the fixed plural "+w, format)
	} else if manyVerb.MatchString(rest) || amongAll.MatchString(rest) {
		c.complain(n, "a number with the verb of many", format)
	}
}

// exported lists the packages of this module with where the compiled ones lie.
func exported(t *testing.T) (ours map[string][]string, compiled map[string]string) {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles", "./...")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -export: %v", err)
	}
	ours, compiled = map[string][]string{}, map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Export, Dir string
			GoFiles                 []string
		}
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return ours, compiled
		}
		if err != nil {
			t.Fatalf("go list -export: %v", err)
		}
		compiled[p.ImportPath] = p.Export
		name, own := strings.CutPrefix(p.ImportPath, module+"/")
		for _, f := range p.GoFiles {
			if own && !strings.HasPrefix(name, "test/") {
				ours[p.ImportPath] = append(ours[p.ImportPath], filepath.Join(p.Dir, f))
			}
		}
	}
}

// No answer says "1 runs": a number in front of a plural is spelled by
// internal/plural, unless it is a constant.
func TestPlurals(t *testing.T) {
	ours, compiled := exported(t)
	fset, used := token.NewFileSet(), map[string]bool{}
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) })
	for _, pkg := range slices.Sorted(maps.Keys(ours)) {
		var parsed []*ast.File
		for _, path := range ours[pkg] {
			f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, f)
		}
		for _, complaint := range fixed(t, pkg, fset, from, used, parsed...) {
			t.Error(complaint)
		}
	}
	for piece := range fixedPlurals {
		if !used[piece] {
			t.Errorf("nothing says %q any more: take it from the exceptions", piece)
		}
	}
}

// fixed lists the fixed plurals of a package.
func fixed(t *testing.T, pkg string, fset *token.FileSet, from types.Importer, used map[string]bool, parsed ...*ast.File) []string {
	t.Helper()
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if _, err := (&types.Config{Importer: from}).Check(pkg, fset, parsed, info); err != nil {
		t.Fatal(err)
	}
	c := &checker{info: info, used: used, fset: fset}
	for _, f := range parsed {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.IMPORT {
				ast.Inspect(d, c.look)
			}
		}
	}
	return c.out
}

func TestFixedPlurals(t *testing.T) {
	const head = "package x\n" +
		"type counted struct{}\nfunc (counted) Of(n int, one string) string { return one }\nvar plural counted\n" +
		"type converter struct{}\nfunc (converter) Itoa(n int) string { return \"\" }\nvar strconv converter\n" +
		"func say(format string, args ...any) string { return format }\n" +
		"const least = 5\nvar n, m int\nvar x float64\nvar s string\nvar _ = "
	for _, row := range []struct {
		text string
		want bool
	}{
		{`say("%d runs", n)`, true},
		{`say("%v runs", n)`, true},
		{`say("%.0f requests were preempted", x)`, true},
		{`say("%d valid gate runs at %d per GPU", n, m)`, true},
		{`say("after %d of %d attempts", n, m)`, true},
		{`say("%s: %d different images", s, n)`, true},
		{`say("%[2]s: %[1]d levels", n, s)`, true},
		{`say("%d are needed", n)`, true},
		{`say("%d of %s were INVALID", n, plural.Of(m, "run"))`, true},
		{`say("%d of %s at %d per GPU are valid", n, plural.Of(m, "attempt"), m)`, true},
		{`say("%s are fitted", plural.Of(n, "level"))`, true},
		{`say("%d run(s)", n)`, true},
		{`"at most " + strconv.Itoa(n) + " runs"`, true},
		{`say("%s", plural.Of(n, "run"))`, false},
		{`say("%d runs", least)`, false},
		{`say("%d are needed", 2*least)`, false},
		{`say("%d runs", 1)`, true},
		{`say("%d per GPU lies below", n)`, false},
		{`say("window %d begins in %s", n, s)`, false},
		{`say("%.1f requests", x)`, false},
		{`say("%v requests", x)`, false},
		{`say("%.0f chunks/s", x)`, false},
		{`say("%.0f chunks a second", x)`, true},
		{`say("%d ms, %d%% of runs", n, m)`, false},
		{`say("%s belongs to runs", s)`, false},
		{`say("the file has %d bytes", n)`, false},
		{`"at most " + strconv.Itoa(n) + " ms of runs"`, false},
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "x.go", head+row.text+"\n", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := fixed(t, "x", fset, nil, map[string]bool{}, f); len(got) > 0 != row.want {
			t.Errorf("%s: %v", row.text, got)
		}
	}
}
