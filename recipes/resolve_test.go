package recipes

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// phaseOf is an overlay with a performance phase in flow style.
func phaseOf(name, spec, checks string, constraints ...string) string {
	var list []string
	for i := 0; i < len(constraints); i += 2 {
		list = append(list, fmt.Sprintf("{name: %s, value: %s}", constraints[i], constraints[i+1]))
	}
	phase := ""
	if checks != "" {
		phase = "      checks: " + checks + "\n"
	}
	if list != nil {
		phase += "      constraints:\n        - " + strings.Join(list, "\n        - ") + "\n"
	}
	src := "kind: RecipeMetadata\nmetadata:\n  name: " + name + "\nspec:\n" + spec
	if phase != "" {
		src += "  validation:\n    performance:\n" + phase
	}
	return src
}

func resolveIn(t *testing.T, files example, leaf string) *Resolved {
	t.Helper()
	o, err := Parse(leaf, []byte(files[leaf]))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Resolve(files.fs(), "", o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// summary is what a reader of --resolved sees.
func (r *Resolved) summary() string {
	var b strings.Builder
	for _, s := range r.Sources {
		fmt.Fprintf(&b, "%s:%s ", s.Role, s.Overlay)
	}
	b.WriteString("\n")
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "check %s %s\n", c.Name, c.From.Overlay)
	}
	for _, c := range r.Constraints {
		fmt.Fprintf(&b, "%s=%s %s", c.Name, c.Value, c.From.Overlay)
		for _, o := range c.Overrides {
			fmt.Fprintf(&b, " <%s %s", o.Value, o.Overlay)
		}
		b.WriteString("\n")
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s:%d %s %s\n", f.File, f.Line, f.Severity, f.Rule)
	}
	return b.String()
}

// AICR's merge since NVIDIA/aicr#1000: union by name, later wins, [] clears,
// absent and null inherit; base first, then candidates by specificity.
func TestResolveMerges(t *testing.T) {
	leafCriteria := "  base: mid\n  criteria: {service: eks, accelerator: h100, intent: inference}\n"
	files := example{
		"overlays/base.yaml":     phaseOf("base", "  base: base\n", "[a]", "site", "s"),
		"overlays/mid.yaml":      phaseOf("mid", "  mixins: [m]\n  criteria: {service: eks, intent: inference}\n", "[b]", NameFloor, `">= 1"`, NameModel, "m1"),
		"overlays/h100-any.yaml": phaseOf("h100-any", "  criteria: {service: any, accelerator: h100}\n", "[c]", NameCeiling, `"<= 900"`, NameModel, "any"),
		"overlays/other.yaml":    phaseOf("other", "  criteria: {service: gke, accelerator: h100}\n", "[z]", NameFloorPerGPU, `">= 1"`),
		"overlays/nodes.yaml":    phaseOf("nodes", "  criteria: {service: eks, nodes: 4}\n", "[z]", NameFloorPerGPU, `">= 1"`),
		"overlays/never.yaml":    phaseOf("never", "  base: mid\n", "[z]", NameFloorPerGPU, `">= 1"`),
		"mixins/m.yaml":          "kind: RecipeMixin\nmetadata: {name: m}\nspec:\n  componentRefs: [{name: dynamo-platform}]\n",
		"overlays/leaf.yaml":     phaseOf("leaf", leafCriteria, "[inference-perf, b]", NameFloor, `">= 5"`, NameConcurrency, `"64"`),
	}
	want := "base:base independent:h100-any parent:mid leaf:leaf mixin:m \n" +
		"check a base\ncheck c h100-any\ncheck b mid\ncheck inference-perf leaf\n" +
		"site=s base\ninference-ttft-p99=<= 900 h100-any\ninference-model=m1 mid <any h100-any\n" +
		"inference-throughput=>= 5 leaf <>= 1 mid\ninference-concurrency-per-gpu=64 leaf\n" +
		"overlays/leaf.yaml:8 warning merge-dependent\n"
	r := resolveIn(t, files, "overlays/leaf.yaml")
	if diff := cmp.Diff(want, r.summary()); diff != "" {
		t.Error(diff)
	}
	if wantGate := (Gate{Model: "m1", ConcurrencyPerGPU: 64, Floor: 5, CeilingTTFTP99MS: 900}); r.Gate != wantGate || !r.Enabled || r.Forbids() != nil {
		t.Errorf("%+v %v %v", r.Gate, r.Enabled, r.Forbids())
	}
	if r.Constraints[3].From.Line != 11 || r.Constraints[3].Overrides[0].Line != 11 {
		t.Errorf("%+v", r.Constraints[3])
	}
	for name, c := range map[string]struct{ checks, constraints, want string }{
		"explicit empty clears": {"checks: []", "constraints: []", "\n"},
		"null inherits":         {"checks:", "constraints: null", "\ncheck a base\nsite=s base\n"},
		"absent inherits":       {"timeout: 5m", "nodeSelection: {}", "\ncheck a base\nsite=s base\n"},
	} {
		src := "kind: RecipeMetadata\nmetadata: {name: x}\nspec:\n  validation:\n    performance:\n      " + c.checks + "\n      " + c.constraints + "\n"
		got := resolveIn(t, example{"base.yaml": files["overlays/base.yaml"], "x.yaml": src}, "x.yaml").summary()
		if got != "base:base leaf:x "+c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Both names meet wherever in the chain they stand, and the later place is named.
func TestResolveBothFloors(t *testing.T) {
	abs := func(name, spec string) string {
		return phaseOf(name, spec, "[inference-perf]", NameFloor, `">= 1"`)
	}
	leaf := phaseOf("leaf", "  base: mid\n  criteria: {accelerator: h100}\n", "[inference-perf]", NameFloorPerGPU, `">= 1"`)
	plain := phaseOf("mid", "  mixins: []\n", "")
	for name, c := range map[string]struct {
		files example
		want  string
	}{
		"base":        {example{"base.yaml": abs("base", "  base: base\n"), "mid.yaml": plain}, "leaf.yaml:11:1: for leaf, inference-throughput-per-gpu here and inference-throughput on line 10 of base.yaml"},
		"parent":      {example{"base.yaml": phaseOf("base", "  base: base\n", ""), "mid.yaml": abs("mid", "  mixins: []\n")}, "leaf.yaml:11:1: for leaf, inference-throughput-per-gpu here and inference-throughput on line 10 of mid.yaml"},
		"independent": {example{"base.yaml": phaseOf("base", "  base: base\n", ""), "mid.yaml": plain, "w.yaml": abs("h100-any", "  criteria: {accelerator: h100}\n")}, "leaf.yaml:11:1: for leaf, inference-throughput-per-gpu here and inference-throughput on line 10 of w.yaml"},
		"no tree":     {example{"mid.yaml": plain, "w.yaml": abs("h100-any", "  criteria: {accelerator: h100}\n")}, "leaf.yaml:11:1: for leaf, inference-throughput-per-gpu here"},
		"mixin": {example{"base.yaml": phaseOf("base", "  base: base\n", ""), "mid.yaml": phaseOf("mid", "  mixins: [m]\n", ""), "mixins/m.yaml": strings.Replace(abs("m", ""), "RecipeMetadata", "RecipeMixin", 1)},
			"mixins/m.yaml:5:3: a mixin holds constraints and componentRefs only"},
		"dependent": {example{"base.yaml": phaseOf("base", "  base: base\n", ""), "mid.yaml": plain, "child.yaml": abs("child", "  base: leaf\n")}, "child.yaml:10:1: for child, inference-throughput here and inference-throughput-per-gpu on line 11 of leaf.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			c.files["leaf.yaml"] = leaf
			err := resolveIn(t, c.files, "leaf.yaml").Forbids()
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestProves(t *testing.T) {
	g := Gate{Model: "m", ConcurrencyPerGPU: 1, FloorPerGPU: 1, CeilingTTFTP99MS: 1}
	files := example{
		"base.yaml": phaseOf("base", "  base: base\n", ""),
		"leaf.yaml": phaseOf("leaf", "  criteria: {accelerator: h100}\n", "[inference-perf]", NameModel, "m", NameConcurrency, `"1"`, NameFloorPerGPU, `">= 1"`, NameCeiling, `"<= 1"`),
	}
	if err := resolveIn(t, files, "leaf.yaml").Proves(g); err != nil {
		t.Error(err)
	}
	// A gate without a floor does not take an inherited one away.
	ttftOnly := g
	ttftOnly.FloorPerGPU = 0
	files["base.yaml"] = phaseOf("base", "  base: base\n", "", NameFloorPerGPU, `">= 7"`)
	files["leaf.yaml"] = strings.Replace(files["leaf.yaml"], "        - {name: inference-throughput-per-gpu, value: \">= 1\"}\n", "", 1)
	err := resolveIn(t, files, "leaf.yaml").Proves(ttftOnly)
	if err == nil || !strings.HasPrefix(err.Error(), `base.yaml:9:1: inference-throughput-per-gpu ">= 7" applies to leaf after all`) {
		t.Error(err)
	}
	// Another leaf that AICR applies later wins.
	files["zz.yaml"] = phaseOf("zz", "  criteria: {accelerator: h100}\n", "", NameConcurrency, `"2"`, NameFloorPerGPU, `">= 1"`)
	if err := resolveIn(t, files, "leaf.yaml").Proves(g); err == nil || !strings.HasPrefix(err.Error(), "zz.yaml:9:1: ") {
		t.Error(err)
	}
}

// Nothing is written beside a gate that stands where nobody reads it.
func TestForbidsAMisplacedGate(t *testing.T) {
	leaf := phaseOf("leaf", "  constraints: [{name: inference-throughput, value: '>= 1'}]\n", "[inference-perf]", NameCeiling, `"<= 1"`)
	err := resolveIn(t, example{"leaf.yaml": leaf}, "leaf.yaml").Forbids()
	if err == nil || !strings.HasPrefix(err.Error(), "leaf.yaml:5:24: inference-throughput stands in spec.constraints, where AICR does not look for it") {
		t.Error(err)
	}
}

func TestForbidsOutsideOfATree(t *testing.T) {
	alone := example{"leaf.yaml": phaseOf("leaf", "  base: far\n  mixins: [m]\n", ""), "broken.yaml": "a: ["}
	r := resolveIn(t, alone, "leaf.yaml")
	if r.WholeTree || r.Forbids() != nil || len(r.Open()) != 3 {
		t.Errorf("%v %v", r.Forbids(), r.Open())
	}
	alone["base.yaml"] = phaseOf("base", "  base: base\n", "")
	if r = resolveIn(t, alone, "leaf.yaml"); !r.WholeTree || r.Forbids() == nil {
		t.Errorf("%+v", r.Findings)
	}
}

func TestResolveIsBounded(t *testing.T) {
	files := example{"leaf.yaml": phaseOf("leaf", "  base: base\n", "")}
	for i := range MaxTreeFiles {
		files[fmt.Sprintf("%d.yaml", i)] = ""
	}
	o, err := Parse("leaf.yaml", []byte(files["leaf.yaml"]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Resolve(files.fs(), "", o); err == nil || !strings.Contains(err.Error(), "more than 4096") {
		t.Error(err)
	}
	big := example{"leaf.yaml": files["leaf.yaml"], "big.yaml": "kind: RecipeMetadata\n#" + strings.Repeat("x", MaxBytes)}
	if r := resolveIn(t, big, "leaf.yaml"); !strings.Contains(r.summary(), "unread-overlay") {
		t.Error(r.summary())
	}
	if _, err := Resolve(noFS{}, "", o); err == nil || !strings.Contains(err.Error(), "reading the recipe folder") {
		t.Error(err)
	}
}

type noFS struct{}

func (noFS) Open(string) (fs.File, error) { return nil, fs.ErrPermission }
