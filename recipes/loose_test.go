package recipes

import (
	"strings"
	"testing"
)

// What AICR reads and Parse refuses is read for what it says.
func TestReadAsAICR(t *testing.T) {
	gate := must(mustRead(t, lintClean()).Gate())
	for name, src := range map[string]string{
		"as it is":        lintClean(),
		"an anchor":       replaced("kind: RecipeM", "kind: &k RecipeM"),
		"an alias":        replaced("value: dynamo-router", "value: *r") + "x: y\n",
		"a tab":           lintClean() + "a: b\t# c\n",
		"a second":        lintClean() + "---\nkind: Pod\n",
		"a broken second": lintClean() + "---\na: [\n",
	} {
		if name == "an alias" {
			src = strings.Replace(src, "kind:", "r: &r dynamo-router\nkind:", 1)
		}
		o := mustRead(t, src)
		if got := must(o.Gate()); got != gate {
			t.Errorf("%s: %+v, want %+v", name, got, gate)
		}
		if _, err := o.SetGate(sampleGate(), nil); err == nil || !strings.Contains(err.Error(), "not to be edited") {
			t.Errorf("%s: edited: %v", name, err)
		}
	}
	merged := mustRead(t, "a: &a {name: inference-ttft-p99, value: '<= 5'}\nb: &b {unit: ms, value: '<= 9'}\n"+sampleHead+
		"spec: {validation: {performance: {checks: [inference-perf], constraints: [{<<: [*a, *b]}, {name: inference-throughput, value: '>= 3', <<: *a}]}}}\n")
	if g := must(merged.Gate()); g != (Gate{CeilingTTFTP99MS: 5, Floor: 3}) {
		t.Errorf("%+v", g)
	}
}

func mustRead(t *testing.T, src string) *Overlay {
	t.Helper()
	o, err := ReadAsAICR("f.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Aliases of aliases, and of themselves, end.
func TestReadAsAICRIsBounded(t *testing.T) {
	bomb := "a0: &a0 [x, x]\n"
	for i := 1; i < 30; i++ {
		bomb += strings.NewReplacer("N", string(rune('a'+i)), "P", map[bool]string{true: "a0", false: string(rune('a' + i - 1))}[i == 1]).Replace("N: &N [*P, *P]\n")
	}
	for name, src := range map[string]string{
		"bomb": bomb + sampleHead, "itself": "a: &a [*a]\n" + sampleHead, "large": strings.Repeat("#", MaxBytes+1), "nothing": "", "no YAML": "a: [", "another kind": "kind: Pod\n",
		"a key twice": sampleHead + "kind: x\n", "no text": "\xff",
	} {
		if _, err := ReadAsAICR("f.yaml", []byte(src)); err == nil || !strings.HasPrefix(err.Error(), "f.yaml:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadAsAICR(f *testing.F) {
	for _, s := range []string{lintClean(), "a: &a {b: *a}\n" + sampleHead, sampleHead + "x: {<<: [{a: b}, c]}\n", "a: &a {<<: *a}\n" + sampleHead} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		loose, err := ReadAsAICR("f", src)
		strict, refused := Parse("f", src)
		if refused != nil {
			return
		}
		if err != nil {
			t.Fatalf("taken by Parse alone: %v", err)
		}
		a, okA, errA := loose.Gate()
		b, okB, errB := strict.Gate()
		if a != b || okA != okB || (errA == nil) != (errB == nil) {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}
