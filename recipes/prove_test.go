package recipes

import (
	"strings"
	"testing"
)

// The proof must refuse each way in which a splice could go wrong. It gets
// results that SetGate would not make.
func TestProve(t *testing.T) {
	src := strings.Replace(strings.Replace(lintClean("site-local", "x", "nccl-all-reduce-bw", `">= 300"`), "[inference-perf]", "[a, inference-perf]", 1), platformRef, "", 1) +
		"          unit: GB/s\n      timeout: 5m\n    conformance:\n      checks: [b]\nextra: {k: [1, 2]}\n"
	src = strings.Replace(src, `"<= 2000"`, "\"<= 2000\"\n          severity: error", 1)
	o, err := Parse("f", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := must(o.Gate())
	if err := o.prove([]byte(src), want); err != nil {
		t.Fatalf("no change is refused: %v", err)
	}
	if err := o.prove([]byte("# a comment\n"+src), want); err != nil {
		t.Fatalf("a comment is refused: %v", err)
	}
	for name, c := range map[string]struct{ old, new string }{
		"does not parse":           {"extra: {", "extra: ["},
		"another gate":             {">= 50000", ">= 50001"},
		"a bad gate":               {">= 50000", "> 50000"},
		"check lost":               {"[a, inference-perf]", "[a]"},
		"other check lost":         {"[a, inference-perf]", "[inference-perf]"},
		"check added":              {"[a, inference-perf]", "[a, inference-perf, c]"},
		"checks swapped":           {"[a, inference-perf]", "[inference-perf, a]"},
		"other constraint's value": {"value: x", "value: y"},
		"other constraint's name":  {"site-local", "site-locale"},
		"other constraint's kind":  {"value: x", "value: !!binary eA=="},
		"key of ours":              {"severity: error", "severity: warning"},
		"key of ours lost":         {"\n          severity: error", ""},
		"key of another":           {"unit: GB/s", "unit: MB/s"},
		"timeout":                  {"timeout: 5m", "timeout: 6m"},
		"another phase":            {"checks: [b]", "checks: []"},
		"number becomes text":      {"[1, 2]", "['1', 2]"},
		"list becomes mapping":     {"[1, 2]", "{1: 2}"},
		"list shorter":             {"[1, 2]", "[1]"},
		"name":                     {"name: x\n", "name: y\n"},
		"key added":                {"extra:", "more: 1\nextra:"},
		"nested":                   {"extra: {k: [1, 2]}", "extra: {k: [[1, 2]]}"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(src, c.old, c.new, 1)
			if bad == src {
				t.Fatal("nothing changed")
			}
			if err := o.prove([]byte(bad), want); err == nil || !strings.Contains(err.Error(), "could not be proved") {
				t.Fatalf("taken: %v", err)
			}
		})
	}
}
