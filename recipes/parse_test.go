package recipes

import (
	"errors"
	"strings"
	"testing"
)

const sampleHead = "kind: RecipeMetadata\nmetadata:\n  name: x\n"

func TestParseRefuses(t *testing.T) {
	perf := sampleHead + "spec:\n  validation:\n    performance:\n"
	for name, c := range map[string]struct{ src, want string }{
		"empty":                 {"", "1:1: the file holds no YAML document"},
		"only a comment":        {"# nothing\n", "1:1: the file holds no YAML document"},
		"a list":                {"- a\n", "1:1: the document is not a mapping"},
		"no kind":               {"metadata: {name: x}\n", "1:1: no kind; an overlay is of kind RecipeMetadata"},
		"another kind":          {"kind: RecipeMixin\n", `1:7: kind is "RecipeMixin"; an overlay is of kind RecipeMetadata`},
		"no name":               {"kind: RecipeMetadata\n", "1:1: no metadata.name; name the overlay as its file"},
		"tab as indentation":    {sampleHead + "spec:\n\tbase: y\n", `5:1: a tab; use spaces; inside a quoted string write \t`},
		"tab after characters":  {sampleHead + "größe: \tx\n", `4:8: a tab; use spaces; inside a quoted string write \t`},
		"anchor":                {sampleHead + "a: &x 1\n", "4:4: the anchor &x; write the value out where it is used, so that an edit cannot reach another place"},
		"alias":                 {"kind: RecipeMetadata\nmetadata: {name: x}\na: &x 1\nb: *x\n", "3:4: the anchor &x; write the value out where it is used, so that an edit cannot reach another place"},
		"alias to nothing":      {sampleHead + "a: *x\n", "4:1: this line breaks what begins on line 1 (yaml: unknown anchor 'x' referenced)"},
		"merge key":             {sampleHead + "a:\n  <<: {b: 1}\n", "5:3: the merge key <<; write the keys out"},
		"second document":       {sampleHead + "---\nb: 1\n", "4:1: a second YAML document begins here; keep one overlay a file"},
		"second, empty":         {sampleHead + "---\n---\n", "4:1: a second YAML document begins here; keep one overlay a file"},
		"duplicate key":         {sampleHead + "kind: RecipeMetadata\n", `4:1: the key "kind" stands on line 1 and on line 4; keep one`},
		"duplicate key deep":    {sampleHead + "spec:\n  a: {b: 1, b: 2}\n", `5:13: the key "b" stands on line 5 and on line 5; keep one`},
		"unquoted comparator":   {perf + "      constraints:\n        - name: inference-throughput\n          value: >= 5000\n", `9:18: an unquoted > begins a folded block in YAML, so the file does not parse; quote the value: ">= N"`},
		"unquoted, no space":    {perf + "      constraints:\n        - value: >=5000\n", `8:18: an unquoted > begins a folded block in YAML, so the file does not parse; quote the value: ">= N"`},
		"unquoted, strict":      {perf + "      constraints:\n        - value: > 5000\n", `8:18: an unquoted > begins a folded block in YAML, so the file does not parse; quote the value: ">= N"`},
		"not YAML":              {sampleHead + "a: [\n", "4:1: yaml: line 4: did not find expected node content"},
		"not UTF-8":             {"kind: RecipeMetadata\n\xff\n", "2:1: the file is not UTF-8; save it as UTF-8"},
		"carriage return alone": {"kind: RecipeMetadata\na: b\rc: d\n", `2:5: a carriage return without a line feed; use \n or \r\n`},
		"control character":     {"kind: R\x00\n", "1:8: the control character U+0000; remove it"},
		"line separator":        {"kind: R\u2028\n", "1:8: the control character U+2028; remove it"},
		"second mark":           {bom + bom + sampleHead, "1:1: the control character U+FEFF; remove it"},
		"spec a list":           {sampleHead + "spec: [a]\n", "4:7: spec is not a mapping"},
		"performance a text":    {sampleHead + "spec:\n  validation:\n    performance: x\n", "6:18: performance is not a mapping"},
		"checks a text":         {perf + "      checks: inference-perf\n", "7:15: checks is not a list"},
		"a check a mapping":     {perf + "      checks: [{a: b}]\n", "7:16: a check is a name"},
		"constraints a mapping": {perf + "      constraints: {a: b}\n", "7:20: constraints is not a list"},
		"constraint a text":     {perf + "      constraints: [a]\n", "7:21: a constraint without a name; write name: and value:"},
		"constraint no name":    {perf + "      constraints:\n        - value: a\n", "8:11: a constraint without a name; write name: and value:"},
		"value a list":          {perf + "      constraints:\n        - name: a\n          value: [1]\n", "9:18: the value of a is not a string"},
		"too deep":              {sampleHead + "a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "4:67: nested deeper than 64 levels"},
		"too large":             {"#" + strings.Repeat("a", MaxBytes), "1:1: the file has 1048577 bytes, more than 1048576; is this an overlay?"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(c.src))
			var pos *PosError
			if !errors.As(err, &pos) || pos.Rule == "" {
				t.Fatalf("not a PosError with a rule: %v", err)
			}
			if err.Error() != "f.yaml:"+c.want {
				t.Fatalf("\n got %s\nwant f.yaml:%s", err, c.want)
			}
		})
	}
}

// Inputs that cost a naive reader much time or stack.
func TestParseHostile(t *testing.T) {
	for name, src := range map[string]string{
		"open brackets": strings.Repeat("[", MaxBytes),
		"open braces":   strings.Repeat("{a: ", MaxBytes/4),
		"dashes":        strings.Repeat("- ", MaxBytes/2),
		"comments":      strings.Repeat("#\n", MaxBytes/2),
		"keys":          strings.Repeat("? ", MaxBytes/2),
		"one long key":  strings.Repeat("a", MaxBytes-1) + ":",
		"quotes":        strings.Repeat(`"`, MaxBytes),
		"items":         sampleHead + "a:\n" + strings.Repeat("- #\n", MaxBytes/5),
	} {
		t.Run(name, func(t *testing.T) {
			if o, err := Parse("f", []byte(src)); err == nil && name != "items" {
				t.Fatalf("accepted as %q", o.Name())
			}
		})
	}
}

func TestReadsWhatTheFileSays(t *testing.T) {
	src := bom + strings.ReplaceAll("# Code generated by a tool.\n\nkind: RecipeMetadata\napiVersion: eidos.nvidia.com/v1alpha1\nmetadata:\n  name: x\n"+
		"spec:\n  criteria:\n    service: eks\n    nodes: 4\n    os: null\n  validation:\n    performance:\n      checks: [a, inference-perf]\n", "\n", "\r\n")
	o, err := Parse("f", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if o.Name() != "x" || o.APIVersion() != "eidos.nvidia.com/v1alpha1" || o.Criterion("service") != "eks" || o.Criterion("nodes") != "4" ||
		o.Criterion("os") != "" || o.Criterion("accelerator") != "" {
		t.Errorf("%q %q %q %q %q", o.Name(), o.APIVersion(), o.Criterion("service"), o.Criterion("nodes"), o.Criterion("os"))
	}
	if !o.HasPerformance() || !o.Generated() || strings.Join(o.Checks(), " ") != "a inference-perf" {
		t.Errorf("%v %v %v", o.HasPerformance(), o.Generated(), o.Checks())
	}
	if string(o.text.bytes()) != src {
		t.Error("parse and no edit is not the identity")
	}
	plain, err := Parse("f", []byte("kind: RecipeMetadata\n# generated\nmetadata: {name: y}\n"))
	if err != nil || plain.HasPerformance() || plain.Generated() || len(plain.Checks()) != 0 {
		t.Errorf("%v %+v", err, plain)
	}
}

// A version that the parser does not take is refused with what to do.
func TestParseDirective(t *testing.T) {
	_, err := Parse("o.yaml", []byte("%YAML 1.2\n---\nkind: RecipeMetadata\n"))
	if err == nil || !strings.Contains(err.Error(), "drop the directive %YAML") {
		t.Errorf("%v", err)
	}
}
