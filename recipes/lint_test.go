package recipes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	fullNode    = "NOTE: a full node, NVIDIA/aicr#1254."
	platformRef = "  componentRefs: [{name: dynamo-platform}]\n"
)

// lintClean is a gate that no rule speaks against.
func lintClean(constraints ...string) string {
	all := []string{NameModel, "Qwen/Qwen3-8B", NameConcurrency, `"128"`, NameRouting, "dynamo-router", NameFloor, `">= 50000"`, NameCeiling, `"<= 2000"`}
	src := perfOverlay("[inference-perf]", append(all, constraints...)...)
	src = strings.Replace(src, "performance:\n", "performance: # Measured 2026-11-20 on 8 GPUs: 60,000 tok/s. "+fullNode+"\n", 1)
	return src + platformRef
}

func replaced(old, new string) string {
	src := lintClean()
	if !strings.Contains(src, old) {
		panic(old)
	}
	return strings.Replace(src, old, new, 1)
}

func TestLint(t *testing.T) {
	const floor, ceiling = `">= 50000"`, `"<= 2000"`
	for name, c := range map[string]struct{ src, want string }{
		"clean":                               {lintClean(), ""},
		"tab":                                 {"a:\tb\n", "1:3 error tab"},
		"not YAML":                            {"a: [\n", "1:1 error yaml-syntax"},
		"unquoted comparator":                 {replaced(floor, ">= 50000"), "16:18 error unquoted-comparator"},
		"unquoted ceiling":                    {replaced(ceiling, "<= 2000"), "18:18 warning unquoted-value"},
		"quoted number":                       {replaced(`"128"`, "'128'"), ""},
		"unquoted number":                     {replaced(`"128"`, "128"), "12:18 warning unquoted-value"},
		"anchor":                              {replaced("Qwen/", "&a Qwen/"), "10:18 error anchor-alias"},
		"second document":                     {lintClean() + "---\n", "20:1 error multi-document"},
		"duplicate key":                       {lintClean() + "kind: x\n", "20:1 error duplicate-key"},
		"another kind":                        {"kind: Pod\n", "1:7 error not-an-overlay"},
		"encoding":                            {"kind: \xff\n", "1:1 error encoding"},
		"wrong operator":                      {replaced(floor, `"> 50000"`), "16:18 error wrong-operator"},
		"wrong direction":                     {replaced(ceiling, `">= 2000"`), "18:18 error wrong-operator"},
		"NaN":                                 {replaced(floor, `">= NaN"`), "16:18 error not-finite"},
		"infinity":                            {replaced(ceiling, `"<= Inf"`), "18:18 error not-finite"},
		"negative":                            {replaced(floor, `">= -1"`), "16:18 error not-positive"},
		"zero":                                {replaced(floor, `">= 0"`), "16:18 error not-positive"},
		"thousands separator":                 {replaced(floor, `">= 50,000"`), "16:18 error thousands-separator"},
		"unit glued":                          {replaced(ceiling, `"<= 2000ms"`), "18:18 error unit-glued"},
		"unit apart":                          {replaced(ceiling, `"<= 2000 ms"`), ""},
		"wrong unit":                          {replaced(ceiling, `"<= 2 s"`), "18:18 error wrong-unit"},
		"hexadecimal":                         {replaced(floor, `">= 0xFF"`), "16:18 error number-form"},
		"empty":                               {replaced(floor, `""`), "16:18 error empty-value"},
		"bad concurrency":                     {replaced(`"128"`, `"0"`), "12:18 error bad-integer"},
		"bad model":                           {replaced("Qwen/Qwen3-8B", `"a b"`), "10:18 error bad-model"},
		"bad routing":                         {replaced("dynamo-router", "kv"), "14:18 error bad-routing-mode"},
		"per-GPU name":                        {replaced("throughput\n", "throughput-per-gpu\n"), "15:17 warning per-gpu-name, 16:18 warning floor-above-measured"},
		"both floors":                         {lintClean(NameFloorPerGPU, `">= 1"`), "19:17 error both-floors, 19:17 warning per-gpu-name, 20:18 warning floor-slack"},
		"duplicate constraint":                {lintClean(NameCeiling, `"<= 1000"`), "19:17 error duplicate-constraint"},
		"near name":                           {lintClean("inference-thoughput", "x"), "19:17 error unknown-constraint"},
		"case":                                {lintClean("inference-TTFT-p99", "x"), "19:17 error unknown-constraint"},
		"far name":                            {lintClean("site-local", "x"), "19:17 warning unknown-constraint"},
		"other known name":                    {lintClean("nccl-all-reduce-bw", `">= 300"`), ""},
		"no model":                            {replaced("Qwen/Qwen3-8B", `""`), "15:17 warning no-model"},
		"no concurrency":                      {replaced(`"128"`, `""`), "15:17 warning no-concurrency"},
		"check without gate":                  {perfOverlay("[a, inference-perf]"), "7:19 warning check-without-gate, 8:7 warning yamllint-empty-values"},
		"gate without check":                  {replaced("[inference-perf]", "[]"), "15:17 warning gate-without-check"},
		"neither":                             {perfOverlay("[]"), "8:7 warning yamllint-empty-values"},
		"placeholder above":                   {replaced("      constraints:", "      # A placeholder, tighten later.\n      constraints:"), "8:8 warning provisional"},
		"placeholder beside":                  {replaced(floor, floor+" # TBD"), "16:30 warning provisional"},
		"placeholder, no gate":                {perfOverlay("[] # placeholder"), "8:7 warning yamllint-empty-values"},
		"placeholder outside":                 {"# placeholder\n" + lintClean(), ""},
		"generated":                           {"# Code generated. DO NOT EDIT.\n" + lintClean(), "1:1 warning generated-file"},
		"lone marker":                         {replaced("      constraints:", "      # perfsweep: begin\n      constraints:"), "8:7 error managed-comment"},
		"in another phase":                    {replaced("performance:", "deployment:"), "7:16 error misplaced-gate, 9:17 error misplaced-gate, 11:17 error misplaced-gate, 13:17 error misplaced-gate, 15:17 error misplaced-gate, 17:17 error misplaced-gate"},
		"a phase misspelled":                  {replaced("constraints:", "constraint:"), "7:16 warning check-without-gate, 9:17 error misplaced-gate, 11:17 error misplaced-gate, 13:17 error misplaced-gate, 15:17 error misplaced-gate, 17:17 error misplaced-gate"},
		"a broken mapping":                    {lintClean() + "  }\n", "20:1 error yaml-syntax"},
		"a broken mapping after an open list": {lintClean() + "a: [\n  b,\n  c]\n  d: e\n", "23:1 error yaml-syntax"},
		"a constraint of no name":             {replaced("name: "+NameCeiling, "name:"), "17:11 error bad-structure"},
		"a tag":                               {replaced("[inference-perf]", "!!seq [inference-perf]"), ""},
		"mixins as text":                      {strings.Replace(lintClean(), "spec:\n", "spec:\n  mixins: os\n", 1), "5:11 error bad-structure"},
		"a mixin as mapping":                  {strings.Replace(lintClean(), "spec:\n", "spec:\n  mixins: [os, {name: x}]\n", 1), "5:16 error bad-structure"},
		"base as list":                        {strings.Replace(lintClean(), "spec:\n", "spec:\n  base: [x]\n", 1), "5:9 error bad-structure"},
		"criteria as list":                    {strings.Replace(lintClean(), "spec:\n", "spec:\n  criteria: []\n", 1), "5:13 error bad-structure"},
		"base of nothing":                     {strings.Replace(lintClean(), "spec:\n", "spec:\n  base: null\n", 1), ""},
		"a check twice":                       {replaced("[inference-perf]", "[a, inference-perf, a]"), "7:35 warning duplicate-check"},
		"a check misspelled":                  {replaced("[inference-perf]", "[inference-prf]"), "7:16 error unknown-check, 15:17 warning gate-without-check"},
		"floor only":                          {replaced(NameCeiling, nameStorageClass+"x"), "15:17 warning one-threshold, 17:17 error unknown-constraint"},
		"platform unknown":                    {withoutPlatform(), "15:17 warning no-platform"},
		"sorted": {perfOverlay("[x]", NameCeiling, `"2000"`, "site", "x", NameFloor, `">= 1ms"`),
			"9:17 warning gate-without-check, 9:17 warning no-model, 9:17 warning no-concurrency, 9:17 warning no-provenance, 10:18 error wrong-operator, 11:17 warning unknown-constraint, 13:17 warning full-node-note, 14:18 error unit-glued"},
	} {
		t.Run(name, func(t *testing.T) {
			got := []string{}
			for _, f := range Lint("f.yaml", []byte(c.src)) {
				got = append(got, fmt.Sprintf("%d:%d %s %s", f.Line, f.Col, f.Severity, f.Rule))
				if f.File != "f.yaml" || f.Message == "" || f.Remedy == "" {
					t.Errorf("incomplete: %+v", f)
				}
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Fatalf("\n got %s\nwant %s", s, c.want)
			}
		})
	}
}

func TestDidYouMean(t *testing.T) {
	for name, want := range map[string]string{
		"inference-ttft-p90":         NameCeiling,
		"inference-througput-pergpu": NameFloorPerGPU,
		"inference_model":            NameModel,
		"inference-perf":             "",
		"":                           "",
	} {
		if got := nearest(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	f := Lint("f", []byte(lintClean("inference-concurrency-per-gpus", `"1"`)))
	if len(f) != 1 || f[0].Remedy != "did you mean "+NameConcurrency+"?" {
		t.Errorf("%+v", f)
	}
}

// A status is what a comment says of the values, not a part of a name in it: people
// may call a model or a host what they like.
func TestProvisionalIsNoName(t *testing.T) {
	for comment, want := range map[string]string{
		"simulated":                                "simulated",
		"(Placeholder), tighten  later":            "Placeholder",
		"values are TODO/FIXME.":                   "TODO",
		"measured with acme/simulated-8b":          "",
		"measured with \"simulated-8b\", twice":    "",
		"image nvcr.io/acme/placeholder:1.2":       "",
		"at http://untested:8000/v1 on 2026-11-20": "",
		"acme/simulated-8b, mirrored from GB200":   "mirrored",
	} {
		for _, model := range []string{"simulated-8b", "acme/simulated-8b"} {
			if strings.Contains(comment, "\"simulated-8b\"") && model != "simulated-8b" {
				continue // not the gate's
			}
			src := strings.Replace(replaced("Qwen/Qwen3-8B", model), "      constraints:", "      # "+comment+"\n      constraints:", 1)
			if got := provisionalIn(src); got != want {
				t.Errorf("%q with model %s: %q, want %q", comment, model, got, want)
			}
		}
	}
	for heading, want := range map[string]string{
		"Calibrated by perfsweep on 2026-09-02: gates C1 to C11 are met.":             "",
		"SIMULATED: calibrated by perfsweep on 2026-09-02 against a simulated target": "SIMULATED",
		"provisional: public record, no sweep":                                        "provisional",
	} {
		o, err := Parse("f.yaml", []byte(replaced("Qwen/Qwen3-8B", "simulated")))
		if err != nil {
			t.Fatal(err)
		}
		g, _, err := o.Gate()
		if err != nil {
			t.Fatal(err)
		}
		src, err := o.SetGate(g, []string{heading, "Target http://placeholder:8000; 8 GPU(s); model simulated; workload aicr.", "Stated: image todo, instance untested."})
		if err != nil {
			t.Fatal(err)
		}
		if got := provisionalIn(string(src)); got != want {
			t.Errorf("%s: %q, want %q", heading, got, want)
		}
	}
}

// provisionalIn is the word that the rule found.
func provisionalIn(src string) string {
	for _, f := range Lint("f.yaml", []byte(src)) {
		if f.Rule == "provisional" {
			_, word, _ := strings.Cut(f.Message, `"`)
			word, _, _ = strings.Cut(word, `"`)
			return word
		}
	}
	return ""
}

// The comments of every version say what was measured: "8 GPU(s)" of the first ones,
// "1 GPU" and "8 GPUs" of those that came later.
func TestCommentOfAnyVersion(t *testing.T) {
	for _, gpus := range []string{"1 GPU(s)", "8 GPU(s)", "1 GPU", "8 GPUs"} {
		for model, want := range map[string]bool{"Qwen/Qwen3-8B": false, "Qwen/Qwen3-32B": true} {
			comment := "# Target http://engine:8000; " + gpus + "; model " + model + "; workload aicr (ISL 128).\n      constraints:"
			src := strings.Replace(replaced("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"), "constraints:", comment, 1)
			got := slices.ContainsFunc(Lint("f", []byte(src)), func(f Finding) bool {
				return f.Rule == "stale-provenance" && strings.Contains(f.Message, "records the model")
			})
			if got != want {
				t.Errorf("%s of model %s: told as another model: %v", gpus, model, got)
			}
		}
	}
}
