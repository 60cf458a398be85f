package recipes

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goldenCase is a layout with the result of one edit. The directives above the
// files choose the gate.
type goldenCase struct {
	name    string
	in      string
	want    string // the new file
	refused string // or the error
	gate    Gate
	comment []string
}

func goldenCases(t testing.TB) []goldenCase {
	t.Helper()
	paths, err := filepath.Glob("testdata/setgate/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	for _, p := range paths {
		src, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		directives, files, ok := strings.Cut(string(src), "-- in.yaml --\n")
		if !ok {
			t.Fatalf("%s: no in.yaml", p)
		}
		c := goldenCase{name: strings.TrimSuffix(filepath.Base(p), ".txtar"), gate: sampleGate(), comment: sampleComment()}
		c.in, c.want, _ = strings.Cut(files, "-- want.yaml --\n")
		c.in, c.refused, _ = strings.Cut(c.in, "-- error --\n")
		for _, line := range strings.Fields(strings.ReplaceAll(directives, ": ", "=")) {
			switch line {
			case "form=absolute":
				c.gate.Floor, c.gate.FloorPerGPU = 144000, 0
			case "form=ttft-only":
				c.gate.FloorPerGPU = 0
			case "routing=keep":
				c.gate.RoutingMode = ""
			case "comment=none":
				c.comment = nil
			default:
				t.Fatalf("%s: directive %q", p, line)
			}
		}
		cases = append(cases, c)
	}
	if edited := slices.DeleteFunc(slices.Clone(cases), func(c goldenCase) bool { return c.want == "" }); len(edited) < 40 {
		t.Fatalf("%d layouts that can be edited", len(edited))
	}
	return cases
}

func sampleGate() Gate {
	return Gate{Model: "Qwen/Qwen3-8B", ConcurrencyPerGPU: 128, RoutingMode: "dynamo-router", FloorPerGPU: 18000, CeilingTTFTP99MS: 1400}
}

func sampleComment() []string {
	return []string{"calibrated 2026-12-01", "", "  median 21,197 tok/s per GPU"}
}

// setGate edits src and checks what holds for every edit: the gate reads back,
// a second edit changes nothing, and no lint rule of AICR's breaks anew.
func setGate(t *testing.T, src string, g Gate, comment []string) (string, error) {
	t.Helper()
	o, err := Parse("in.yaml", []byte(src))
	if err != nil {
		return "", err
	}
	out, err := o.SetGate(g, comment)
	if err != nil {
		return "", err
	}
	again, err := Parse("in.yaml", out)
	if err != nil {
		t.Fatalf("the result does not parse: %v\n%s", err, out)
	}
	if g.RoutingMode == "" {
		g.RoutingMode = must(again.Gate()).RoutingMode
	}
	if got, ok, err := again.Gate(); got != g || !ok || err != nil {
		t.Fatalf("reads back as %+v, %v, %v", got, ok, err)
	}
	twice, err := again.SetGate(g, comment)
	if err != nil || !bytes.Equal(out, twice) {
		t.Fatalf("the second edit changes the file (%v):\n%s", err, Diff("in.yaml", out, twice))
	}
	if !bytes.Equal([]byte(src), o.text.bytes()) {
		t.Fatal("the overlay's own bytes changed")
	}
	before := yamllint(src)
	for rule, n := range yamllint(string(out)) {
		if n > before[rule] {
			t.Errorf("the edit breaks yamllint's %s\n%s", rule, Diff("in.yaml", []byte(src), out))
		}
	}
	return string(out), nil
}

func must(g Gate, _ bool, err error) Gate {
	if err != nil {
		panic(err)
	}
	return g
}

func TestSetGateLayouts(t *testing.T) {
	for _, c := range goldenCases(t) {
		t.Run(c.name, func(t *testing.T) {
			got, err := setGate(t, c.in, c.gate, c.comment)
			if os.Getenv("PERFSWEEP_UPDATE") != "" { // look at the diff before committing it
				rewrite(t, c, got, err)
				return
			}
			if err != nil {
				var pos *PosError
				if !errors.As(err, &pos) || pos.Line < 1 || pos.Col < 1 {
					t.Fatalf("no position: %v", err)
				}
				if diff := cmp.Diff(c.refused, err.Error()+"\n"); diff != "" {
					t.Fatal(diff)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Fatal(diff)
			}
			variants(t, c)
		})
	}
}

// variants repeats a layout with other line endings: the same edit must come
// out, in the file's own endings.
func variants(t *testing.T, c goldenCase) {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	cut := func(s string) string { return strings.TrimRight(s, "\n") }
	mark := func(s string) string { return bom + s }
	for name, f := range map[string]func(string) string{
		"crlf": crlf, "no final newline": cut, "bom": mark,
		"all": func(s string) string { return mark(crlf(cut(s))) },
	} {
		got, err := setGate(t, f(c.in), c.gate, c.comment)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(f(c.want), got); diff != "" {
			t.Fatalf("%s: %s", name, diff)
		}
	}
}

func rewrite(t *testing.T, c goldenCase, got string, err error) {
	path := filepath.Join("testdata", "setgate", c.name+".txtar")
	src, rerr := os.ReadFile(path)
	if rerr != nil {
		t.Fatal(rerr)
	}
	head := string(src)[:strings.Index(string(src), c.in)+len(c.in)]
	result := "-- want.yaml --\n" + got
	if err != nil {
		result = "-- error --\n" + err.Error() + "\n"
	}
	if err := os.WriteFile(path, []byte(head+result), 0o644); err != nil {
		t.Fatal(err)
	}
}
