package recipes

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, c := range goldenCases(f) {
		f.Add([]byte(c.in))
	}
	for _, s := range []string{"", "---\n...\n", "? [a]\n: b\n", "kind: !!binary x\n", "&a a: *a\n", "a: |+9\n", "%YAML 1.1\n---\n", bom} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		o, err := Parse("f", src)
		if err != nil {
			var pos *PosError
			if !errors.As(err, &pos) || pos.Line < 1 || pos.Col < 1 || pos.Rule == "" {
				t.Fatalf("not a position: %v", err)
			}
		} else if !bytes.Equal(o.text.bytes(), src) {
			t.Fatal("parse and no edit is not the identity")
		}
		findings := Lint("f", src)
		if err != nil && len(findings) == 0 {
			t.Fatal("a refused file without a finding")
		}
		for i, x := range findings {
			if i > 0 && (x.Line < findings[i-1].Line || x.Line == findings[i-1].Line && x.Col < findings[i-1].Col) {
				t.Fatalf("not sorted: %+v", findings)
			}
		}
	})
}

func FuzzSetGate(f *testing.F) {
	for _, c := range goldenCases(f) {
		f.Add([]byte(c.in), 128, 18000.0, 1400.0, byte(0), "comment")
		f.Add([]byte(strings.ReplaceAll(strings.TrimSpace(c.in), "\n", "\r\n")), 1, 0.5, 1e6, byte(1), "")
		f.Add([]byte(bom+c.in), 1, 0.5, 1e6, byte(2), "a\nb")
	}
	f.Fuzz(func(t *testing.T, src []byte, conc int, floor, ceiling float64, form byte, comment string) {
		o, err := Parse("f", src)
		if err != nil {
			return
		}
		g := Gate{Model: "Qwen/Qwen3-8B", ConcurrencyPerGPU: conc, RoutingMode: "dynamo-router", CeilingTTFTP99MS: ceiling}
		switch form % 3 {
		case 0:
			g.FloorPerGPU = floor
		case 1:
			g.Floor = floor
		}
		var lines []string
		if comment != "" {
			lines = []string{comment}
		}
		out, err := o.SetGate(g, lines)
		if err != nil {
			return
		}
		again, err := Parse("f", out)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok, err := again.Gate(); got != g || !ok || err != nil {
			t.Fatalf("reads back as %+v, %v, %v", got, ok, err)
		}
		if twice, err := again.SetGate(g, lines); err != nil || !bytes.Equal(twice, out) {
			t.Fatalf("the second edit changes the file: %v\n%s", err, Diff("f", out, twice))
		}
		checkUntouched(t, o, src, out, form%3 == 2)
	})
}

// checkUntouched: the lines that an edit takes away are its old comment block,
// or hold something that an edit may replace, or are blank beside a removed
// constraint or block; the rest stays, byte for byte.
func checkUntouched(t *testing.T, o *Overlay, src, out []byte, removal bool) {
	first, last, found, err := o.managedBlock()
	if err != nil {
		t.Fatal(err)
	}
	mayGo := regexp.MustCompile(`inference|value|name|\[|\{|^ *-`)
	inItem := map[int]bool{}
	for _, it := range o.items {
		for i := it.node.Line - 1; isManaged(it.name.Value) && i <= o.lastLine(it.node, 0); i++ {
			inItem[i] = true
		}
	}
	for _, e := range []entry{o.checks, o.constraints} { // a flow list may grow on any of its lines
		if e.empty() || blockStyle(e.val) {
			continue
		}
		for i := e.val.Line - 1; i <= o.lastLine(e.val, 0); i++ {
			inItem[i] = true
		}
	}
	line := 0
	for _, l := range diffScript(strings.SplitAfter(string(src), "\n"), strings.SplitAfter(string(out), "\n")) {
		blank := (removal || found) && strings.TrimSpace(l.text) == ""
		if l.op == '-' && !blank && (!found || line < first || line > last) && !inItem[line] && !mayGo.MatchString(l.text) && strings.HasSuffix(l.text, "\n") {
			t.Fatalf("line %d went away: %q\n%s", line+1, l.text, Diff("f", src, out))
		}
		if l.op != '+' {
			line++
		}
	}
	if bytes.HasPrefix(src, []byte(bom)) != bytes.HasPrefix(out, []byte(bom)) || bytes.HasSuffix(src, []byte("\n")) != bytes.HasSuffix(out, []byte("\n")) {
		t.Fatal("the byte order mark or the final newline changed")
	}
}

// Whatever a parent and a mixin hold, a leaf resolves or says why not.
func FuzzResolve(f *testing.F) {
	tree := wholeTree()
	f.Add([]byte(tree["overlays/parent.yaml"]), []byte(tree["mixins/os.yaml"]))
	f.Add([]byte(below("x", lintClean())), []byte("kind: RecipeMixin\nmetadata: {name: os}\nspec: {mixins: [os], constraints: [1, {name: inference-x}]}\n"))
	f.Add([]byte(sampleHead+"spec: {base: [x], mixins: {a: b}, criteria: [1], componentRefs: [x, {name: [y]}]}\n"), []byte("a"))
	f.Fuzz(func(t *testing.T, parent, mixin []byte) {
		tree["overlays/parent.yaml"], tree["mixins/os.yaml"] = string(parent), string(mixin)
		leaf, err := Parse(leafPath, []byte(tree[leafPath]))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Resolve(tree.fs(), "", leaf)
		if err != nil {
			t.Fatal(err)
		}
		if floors := r.constraint(NameFloor) != nil && r.constraint(NameFloorPerGPU) != nil; floors && r.Forbids() == nil {
			t.Fatal("both floors are allowed")
		}
		for _, x := range r.Findings {
			if x.Line < 1 || x.Col < 1 || x.File == "" || x.Rule == "" {
				t.Fatalf("no place: %+v", x)
			}
		}
	})
}
