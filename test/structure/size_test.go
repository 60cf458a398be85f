package structure

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// The size budget. A long file has more than one idea in it, and a long
// function more than one job. Tests may be longer: cases are data.
const (
	maxFile       = 300
	maxTestFile   = 400
	maxFunction   = 80
	medianFile    = 130 // of files that are not tests
	functionTail  = 40  // the 90th percentile of functions that are not tests'
	tailShare     = 0.9
	smallestStats = 20 // files from which a median means something
)

func TestSizeBudget(t *testing.T) {
	var fileLines, functionLines []int
	for _, s := range sources(t) {
		for _, complaint := range tooLong(s) {
			t.Error(complaint)
		}
		if s.test() {
			continue
		}
		fileLines = append(fileLines, s.lines)
		for _, f := range functions(s) {
			functionLines = append(functionLines, f.lines)
		}
	}
	if len(fileLines) < smallestStats {
		return
	}
	if got := quantile(fileLines, 0.5); got > medianFile {
		t.Errorf("the median file has %d lines, the budget is %d", got, medianFile)
	}
	if got := quantile(functionLines, tailShare); got > functionTail {
		t.Errorf("the 90th percentile of functions is %d lines, the budget is %d", got, functionTail)
	}
}

// tooLong lists what is over the hard limits in a file.
func tooLong(s source) []string {
	var out []string
	limit := maxFile
	if s.test() {
		limit = maxTestFile
	}
	if s.lines > limit {
		out = append(out, fmt.Sprintf("%s has %d lines, the limit is %d: split it by idea", s.path, s.lines, limit))
	}
	for _, f := range functions(s) {
		if f.lines > maxFunction {
			out = append(out, fmt.Sprintf("%s:%d: %s has %d lines, the limit is %d: split it by job", s.path, f.line, f.name, f.lines, maxFunction))
		}
	}
	return out
}

type function struct {
	name        string
	line, lines int
}

// functions measures the functions of a file. In a test the lines of slice and
// map literals do not count: a table is data.
func functions(s source) []function {
	var out []function
	for _, d := range s.ast.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		first, last := s.line(f.Pos()), s.line(f.End())
		n := last - first + 1
		if s.test() && f.Body != nil {
			n -= tableLines(s, f.Body)
		}
		out = append(out, function{f.Name.Name, first, n})
	}
	return out
}

// tableLines counts the lines inside the outermost slice, array and map
// literals of a function.
func tableLines(s source, body ast.Node) int {
	n := 0
	ast.Inspect(body, func(node ast.Node) bool {
		lit, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		switch lit.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			n += s.line(lit.Rbrace) - s.line(lit.Lbrace)
			return false
		}
		return true
	})
	return n
}

// quantile is the smallest value with a share q of the values at or below it.
func quantile(v []int, q float64) int {
	v = slices.Sorted(slices.Values(v))
	return v[min(len(v)-1, int(q*float64(len(v))))]
}

func TestTooLong(t *testing.T) {
	long := func(n int) string { return "package p\nfunc f() {\n" + strings.Repeat("_ = 1\n", n) + "}\n" }
	table := func(n int) string {
		return "package p\nfunc f() {\n_ = []int{\n" + strings.Repeat("1,\n", n) + "}\n}\n"
	}
	for _, tt := range []struct {
		path, text string
		want       int
	}{
		{"a.go", long(maxFunction - 2), 0},
		{"a.go", long(maxFunction - 1), 1},
		{"a.go", table(maxFunction), 1},
		{"a_test.go", table(maxFunction), 0},
		{"a_test.go", long(maxFunction), 1},
		{"a.go", "package p\n" + strings.Repeat("\n", maxFile-1), 0},
		{"a.go", "package p\n" + strings.Repeat("\n", maxFile), 1},
		{"a_test.go", "package p\n" + strings.Repeat("\n", maxTestFile-1), 0},
		{"a_test.go", "package p\n" + strings.Repeat("\n", maxTestFile), 1},
	} {
		if got := tooLong(parse(t, tt.path, tt.text)); len(got) != tt.want {
			t.Errorf("%s with %d bytes: %d complaints %q, want %d", tt.path, len(tt.text), len(got), got, tt.want)
		}
	}
}
