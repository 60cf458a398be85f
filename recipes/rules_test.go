package recipes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// example is a recipe folder; overlays/f.yaml is linted. Files that are not
// given are those of wholeTree.
type example map[string]string

const leafPath = "overlays/f.yaml"

// wholeTree is a folder in which lintClean has no finding.
func wholeTree() example {
	head := func(name string) string { return strings.Replace(sampleHead, "name: x", "name: "+name, 1) }
	return example{
		"overlays/base.yaml":   head("base") + "spec:\n  componentRefs:\n    - name: gpu-operator\n",
		"overlays/parent.yaml": head("parent") + "spec:\n  mixins: [os]\n  componentRefs:\n    - name: dynamo-platform\n",
		"mixins/os.yaml":       strings.Replace(head("os"), "RecipeMetadata", "RecipeMixin", 1) + "spec:\n  constraints:\n    - name: OS.release.ID\n      value: ubuntu\n",
		leafPath:               below("parent", lintClean()),
	}
}

// below gives an overlay a parent.
func below(parent, src string) string {
	return strings.Replace(src, "spec:\n", "spec:\n  base: "+parent+"\n", 1)
}

func one(src string) example { return example{leafPath: src} }

func catalogWith(env string) string {
	return "kind: ValidatorCatalog\nmetadata: {name: x}\nvalidators:\n  - name: inference-perf\n    image: r/p:v0.21.1\n    env:\n" + env
}

func env(name, value string) string {
	return "      - name: AICR_INFERENCE_PERF_" + name + "\n        value: " + value + "\n"
}

const (
	today   = "2026-12-01"
	floorIs = `">= 50000"`
	ttftIs  = `"<= 2000"`
)

// ruleExamples has a failing and a passing file for each rule. The passing one
// is near: what is right about it is what is wrong with the other.
func ruleExamples() map[string]struct{ fail, pass example } {
	floor := func(v string) example { return one(replaced(floorIs, v)) }
	tree := func(path, src string) example { return example{path: src} }
	head := strings.Replace(sampleHead, "name: x", "name: parent", 1)
	nested := func(n int) string { return "a: " + strings.Repeat("[", n) + strings.Repeat("]", n) + "\n" }
	comment := func(s string) example {
		return one(replaced("Measured 2026-11-20 on 8 GPUs: 60,000 tok/s. "+fullNode, s))
	}
	append2 := func(fail, pass string) struct{ fail, pass example } {
		return struct{ fail, pass example }{one(lintClean() + fail), one(lintClean() + pass)}
	}
	chain := func(n int) example {
		x := example{leafPath: below("a0", lintClean())}
		for i := range n {
			x[fmt.Sprintf("overlays/a%d.yaml", i)] = strings.Replace(sampleHead, "name: x", fmt.Sprintf("name: a%d", i), 1) + fmt.Sprintf("spec:\n  base: a%d\n", i+1)
		}
		x[fmt.Sprintf("overlays/a%d.yaml", n)] = strings.Replace(wholeTree()["overlays/parent.yaml"], "name: parent", fmt.Sprintf("name: a%d", n), 1)
		return x
	}
	clean := one(lintClean())
	return map[string]struct{ fail, pass example }{
		"too-large":           {one(lintClean() + strings.Repeat("#\n", MaxBytes/2)), one(lintClean() + "#\n")},
		"encoding":            {one(lintClean() + "# \xff\n"), one(lintClean() + "# ÿ\n")},
		"tab":                 {one(lintClean() + "a:\tb\n"), one(lintClean() + "# a:\tb\n")},
		"yaml-syntax":         {one(lintClean() + "a: [\n"), one(lintClean() + "a: []\n")},
		"unquoted-comparator": {floor(">= 50000"), floor(`'>= 50000'`)},
		"multi-document":      {one(lintClean() + "---\na: b\n"), one("---\n" + lintClean())},
		"too-deep":            {one(lintClean() + nested(MaxDepth)), one(lintClean() + nested(9))},
		"anchor-alias":        {one(lintClean() + "a: &b c\n"), one(lintClean() + "a: \"&b c\"\n")},
		"duplicate-key":       {one(lintClean() + "kind: RecipeMetadata\n"), one(lintClean() + "kinds: x\n")},
		"not-an-overlay":      {one(replaced("RecipeMetadata", "Recipe")), clean},
		"bad-structure":       {one(replaced("[inference-perf]", "inference-perf")), clean},
		"generated-file":      {one("# Code generated, do not edit.\n" + lintClean()), one("# Written by people.\n" + lintClean())},
		"misplaced-gate":      {one(lintClean() + "  constraints: [{name: inference-ttft-p99, value: '<= 1'}]\n"), one(lintClean() + "  constraints: [{name: K8s.server.version, value: '>= 1.34'}]\n")},
		"managed-comment":     {one(replaced("      constraints:", "      # perfsweep: begin\n      constraints:")), one(replaced("      constraints:", "      # perfsweep: begin\n      # perfsweep: end\n      constraints:"))},

		"duplicate-constraint": {one(lintClean(NameCeiling, ttftIs)), one(lintClean("nccl-all-reduce-bw", `">= 300"`))},
		"both-floors":          {example{"overlays/parent.yaml": wholeTree()["overlays/parent.yaml"] + "  validation: {performance: {constraints: [{name: inference-throughput-per-gpu, value: '>= 1'}]}}\n"}, example{"overlays/parent.yaml": wholeTree()["overlays/parent.yaml"] + "  validation: {performance: {constraints: [{name: inference-throughput, value: '>= 1'}]}}\n"}},
		"unknown-constraint":   {one(lintClean("inference-thoughput", `">= 1"`)), one(lintClean("inference-model-cache-storage-class", "fast"))},
		"per-gpu-name":         {one(replaced("throughput\n", "throughput-per-gpu\n")), clean},
		"unquoted-value":       {one(replaced(ttftIs, "<= 2000")), one(replaced(ttftIs, "'<= 2000'"))},
		"empty-value":          {floor(`""`), clean},
		"wrong-operator":       {floor(`"> 50000"`), floor(`">=50000"`)},
		"not-finite":           {floor(`">= NaN"`), clean},
		"not-positive":         {floor(`">= -5"`), clean},
		"thousands-separator":  {floor(`">= 50,000"`), clean},
		"number-form":          {floor(`">= 5e4"`), floor(`">= 50000.0"`)},
		"unit-glued":           {floor(`">= 50000tok/s"`), floor(`">= 50000 tok/s"`)},
		"wrong-unit":           {one(replaced(ttftIs, `"<= 2000 s"`)), one(replaced(ttftIs, `"<= 2000 ms"`))},
		"bad-integer":          {one(replaced(`"128"`, `"128.5"`)), clean},
		"bad-model":            {one(replaced("Qwen/Qwen3-8B", "'Qwen 8B'")), clean},
		"bad-routing-mode":     {one(replaced("dynamo-router", "kv")), one(replaced("dynamo-router", "gateway-epp"))},
		"bad-storage-class":    {one(lintClean(nameStorageClass, `">= fast"`)), one(lintClean(nameStorageClass, "a4x-compatible"))},
		"implausible-ceiling":  {one(replaced(ttftIs, `"<= 2"`)), one(replaced(ttftIs, `"<= 200"`))},

		"check-without-gate": {one(below("parent", perfOverlay("[inference-perf]"))), one(below("parent", perfOverlay("[]")))},
		"gate-without-check": {one(below("parent", strings.Replace(lintClean(), "[inference-perf]", "[]", 1))), clean},
		"unknown-check":      {one(replaced("[inference-perf]", "[inference-perf, inference-throughput]")), one(replaced("[inference-perf]", "[inference-perf, nccl-all-reduce-bw]"))},
		"duplicate-check":    {one(replaced("[inference-perf]", "[inference-perf, inference-perf]")), clean},
		"one-threshold":      {one(replaced(NameCeiling, nameStorageClass)), one(strings.Replace(replaced(NameFloor, nameStorageClass), "8 GPUs", "8 GPUs, throughput is not gated", 1))},
		"full-node-note":     {comment("Measured 2026-11-20 on 8 GPUs: 60,000 tok/s."), clean},
		"no-model":           {one(below("parent", replaced("Qwen/Qwen3-8B", `""`))), clean},
		"no-concurrency":     {one(below("parent", replaced(`"128"`, `""`))), clean},
		"old-validator":      {example{"validator": "v0.11.1"}, example{"validator": "v0.21.1"}},

		"provisional":          {comment("Mirrored from GB200; 2026-11-20, 8 GPUs."), clean},
		"no-provenance":        {comment("The gate."), comment("About 60k tok/s.")},
		"stale-provenance":     {comment("Measured 2026-01-20 on 8 GPUs: 60,000 tok/s."), clean},
		"floor-slack":          {comment("8-GPU node: about 108,790 tok/s and 688 ms."), comment("8-GPU node: about 99,000 tok/s.")},
		"floor-above-measured": {comment("Median 49,999 tok/s."), comment("Median 50,001 tok/s.")},

		"catalog-override": {one(catalogWith(env("ROUTER_MODE", "kv"))), one(catalogWith(env("ROUTER_MODE", "least-loaded") + env("HEALTH_TIMEOUT", "9m30s")))},
		"catalog-value":    {one(catalogWith(env("MIN_REQUESTS", `"0"`))), one(catalogWith(env("MIN_REQUESTS", `"1000"`)))},
		"catalog-unknown":  {one(catalogWith(env("ROUTER", "kv"))), one(catalogWith(env("MODEL_CACHE_SIZE", "off") + "      - name: OTHER\n        value: x\n"))},

		"missing-parent":    {one(below("nobody", lintClean())), clean},
		"missing-mixin":     {tree("overlays/parent.yaml", head+"spec:\n  mixins: [nothing]\n  componentRefs: [{name: dynamo-platform}]\n"), clean},
		"inheritance-cycle": {tree("overlays/parent.yaml", head+"spec:\n  base: x\n"), clean},
		"chain-too-deep":    {chain(MaxChain), chain(MaxChain - 3)},
		"unread-overlay":    {tree("overlays/other.yaml", "a: ["), tree("overlays/other.yaml", "kind: Pod\n")},
		"duplicate-name":    {tree("overlays/q.yaml", wholeTree()["overlays/parent.yaml"]), tree("overlays/q.yaml", strings.Replace(wholeTree()["overlays/parent.yaml"], "name: parent", "name: q", 1))},
		"mixin-phase":       {tree("mixins/os.yaml", wholeTree()["mixins/os.yaml"]+"  validation: {}\n"), clean},
		"no-platform":       {example{"overlays/parent.yaml": head + "spec: {}\n", leafPath: below("parent", withoutPlatform())}, one(withoutPlatform())},
		"merge-dependent":   {example{leafPath: below("parent", perfOverlay("[inference-perf]", NameConcurrency, `"64"`)), "overlays/parent.yaml": parentWithGate()}, example{"overlays/parent.yaml": parentWithGate()}},

		"yamllint-indentation":          append2("a:\n    b: c\n", "a:\n  b:\n  - c\n"),
		"yamllint-line-length":          append2("# x "+strings.Repeat("x", 197)+"\n", "# "+strings.Repeat("x", 300)+"\n"),
		"yamllint-new-lines":            append2("a: b\r\n", "a: b\n"),
		"yamllint-trailing-spaces":      append2("a: b \n", "a: b\n"),
		"yamllint-empty-lines":          append2("\n\n\na: b\n", "\n\na: b\n"),
		"yamllint-comments":             append2("#x\n", "#\na: 'x #y' ## z\nb: |\n  #c\n"),
		"yamllint-comments-indentation": append2("a:\n  b: c\n # d\ne: f\n", "a:\n  b: c\n  # d\n  # e\n# f\ne: f\n"),
		"yamllint-empty-values":         append2("a:\n", "a: null\n"),
		"yamllint-braces":               append2("a: {  b: c}\n", "a: { b: c }\n"),
		"yamllint-brackets":             append2("a: [ b]\n", "a: [b,\n  c  # ]\n  ]\n"),
	}
}

// withoutPlatform is lintClean with its component left to the chain.
func withoutPlatform() string {
	return strings.Replace(lintClean(), platformRef, "", 1)
}

// parentWithGate is lintClean as the parent of x.
func parentWithGate() string {
	return strings.Replace(lintClean(), "name: x", "name: parent", 1)
}

// lintExample lints the leaf of an example as perfsweep lint --resolved does.
func lintExample(t *testing.T, e example) []Finding {
	t.Helper()
	files := wholeTree()
	for path, src := range e {
		files[path] = src
	}
	if !strings.Contains(files[leafPath], "  base: ") && strings.Contains(files[leafPath], "spec:\n") {
		files[leafPath] = below("parent", files[leafPath])
	}
	now, err := time.Parse(time.DateOnly, today)
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Today: now, MaxAge: 180 * 24 * time.Hour, Validator: e["validator"]}
	src := []byte(files[leafPath])
	leaf, err := Parse(leafPath, src)
	if err != nil {
		return LintWith(leafPath, src, opt)
	}
	r, err := Resolve(files.fs(), "", leaf)
	if err != nil {
		t.Fatal(err)
	}
	return LintResolved(leafPath, src, r, opt)
}

func (e example) fs() fstest.MapFS {
	m := fstest.MapFS{}
	for path, src := range e {
		m[path] = &fstest.MapFile{Data: []byte(src)}
	}
	return m
}

// Every rule has a file that breaks it and one, as near as can be, that does
// not; and a rule that is not in the table is never reported.
func TestEveryRuleHasExamples(t *testing.T) {
	examples := ruleExamples()
	var names []string
	for _, r := range Rules() {
		names = append(names, r.Name)
		if r.Summary == "" || r.Remedy == "" || r.Severity != SeverityError && r.Severity != SeverityWarning {
			t.Errorf("incomplete: %+v", r)
		}
		ex, ok := examples[r.Name]
		if !ok {
			t.Errorf("%s has no examples", r.Name)
			continue
		}
		breaks := func(e example) (string, bool) {
			list := lintExample(t, e)
			return fmt.Sprintf("%+v", list), slices.ContainsFunc(list, func(f Finding) bool { return f.Rule == r.Name && f.Line > 0 && f.Col > 0 && f.Message != "" })
		}
		if got, broken := breaks(ex.fail); !broken {
			t.Errorf("%s: the failing example passes: %s", r.Name, got)
		}
		if got, broken := breaks(ex.pass); broken {
			t.Errorf("%s: the passing example fails: %s", r.Name, got)
		}
	}
	for name, ex := range examples {
		for _, f := range append(lintExample(t, ex.fail), lintExample(t, ex.pass)...) {
			if !slices.Contains(names, f.Rule) {
				t.Errorf("%s: %s is not in the table of rules", name, f.Rule)
			}
		}
	}
	if f := lintExample(t, example{}); len(f) != 0 {
		t.Errorf("the clean tree has findings: %+v", f)
	}
}
