package campaignfile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/perfsweep/perfsweep/recipes"
)

func testSchema() Schema {
	both := map[string]Kind{"target": Scalar, "gpus": Scalar, "workload": Scalar, "label": Pairs, "metrics": List, "journal": Scalar}
	return Schema{
		Commands: map[string]map[string]Kind{
			"sweep":     both,
			"calibrate": {"target": Scalar, "gpus": Scalar, "workload": Scalar, "label": Pairs, "metrics": List, "journal": Scalar, "overlay": Scalar, "anchor": List, "floor-profile": Scalar},
		},
		Refused: map[string]string{"header": "give it on the command line"},
	}
}

const good = `# eight clusters
schema_version: 1
defaults:
  workload: aicr
  label: {image: 1.10, workers: 8}
  metrics: [http://a:1/metrics, "off"]
  calibrate:
    floor-profile: portable
targets:
  gb300:
    target: k8s:inference/gb300
    gpus: 4
    label: [image=2.0]
    calibrate:
      anchor: []
      journal: gb300.jsonl
  h100: {target: "http://h100:8000", gpus: "8"}
`

func TestEffective(t *testing.T) {
	f, err := Parse("p.yaml", []byte(good), testSchema())
	if err != nil {
		t.Fatal(err)
	}
	show := func(name, command string) string {
		target, err := f.Pick(name)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, v := range f.Effective(target, command) {
			fmt.Fprintf(&b, "%s=%s@%d:%d ", v.Key, strings.Join(v.Items, ","), v.Line, v.Col)
		}
		return strings.TrimSpace(b.String())
	}
	for _, c := range []struct{ name, command, want string }{
		{"gb300", "sweep", "gpus=4@12:5 label=image=2.0@13:5 metrics=http://a:1/metrics,off@6:3 target=k8s:inference/gb300@11:5 workload=aicr@4:3"},
		{"gb300", "calibrate", "anchor=@15:7 floor-profile=portable@8:5 gpus=4@12:5 journal=gb300.jsonl@16:7 label=image=2.0@13:5 metrics=http://a:1/metrics,off@6:3 target=k8s:inference/gb300@11:5 workload=aicr@4:3"},
		{"h100", "sweep", "gpus=8@17:38 label=image=1.10,workers=8@5:3 metrics=http://a:1/metrics,off@6:3 target=http://h100:8000@17:10 workload=aicr@4:3"},
	} {
		if got := show(c.name, c.command); got != c.want {
			t.Errorf("%s of %s:\n got %s\nwant %s", c.command, c.name, got, c.want)
		}
	}
	for name, want := range map[string]string{
		"":      "p.yaml has 2 targets; choose one with --name: gb300, h100",
		"gb200": `p.yaml has no target "gb200", did you mean "gb300"?; it has gb300, h100`,
		"zebra": `p.yaml has no target "zebra"; it has gb300, h100`,
	} {
		if _, err := f.Pick(name); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

// What editors and other systems put into a file is no mistake.
func TestTaken(t *testing.T) {
	for _, src := range []string{
		"\ufefftargets: {a: {gpus: 1}}", "targets:\r\n  a:\r\n    gpus: 1\r\n", "---\ntargets: {a: {gpus: 1}}\n...\n", "%YAML 1.1\n---\ntargets: {a: {gpus: 1}}",
		"targets:\n  a:\n    gpus: 1\t# eight\n", "{\"targets\": {\"a\": {\"gpus\": 1}}}",
	} {
		f, err := Parse("p.yaml", []byte(src), testSchema())
		if err != nil {
			t.Errorf("%q: %v", src, err)
			continue
		}
		if got := said(f); !slices.Equal(got, []string{"targets\x00a\x00gpus\x001"}) {
			t.Errorf("%q: %q", src, got)
		}
	}
}

// What is written as key: value adds up, a list is taken as a whole.
func TestPairsAddUp(t *testing.T) {
	f, err := Parse("p.yaml", []byte(`
defaults: {label: {image: "1", precision: bf16}}
targets:
  east: {label: {cluster: east, image: "2"}, calibrate: {label: {node: a}}}
  none: {label: {}}
  list: {label: [cluster=list]}
`), testSchema())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"east": "precision=bf16 cluster=east image=2 node=a", "none": "", "list": "cluster=list"} {
		target, err := f.Pick(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(f.Effective(target, "calibrate")[0].Items, " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// One target needs no name, and none needs none.
func TestPickOne(t *testing.T) {
	for src, want := range map[string]string{"targets: {a: {gpus: 1}}": "a", "defaults: {gpus: 1}": ""} {
		f, err := Parse("p.yaml", []byte(src), testSchema())
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Pick("")
		if err != nil || (got == nil) != (want == "") || got != nil && got.Name != want {
			t.Errorf("%s: %v, %v", src, got, err)
		}
		if _, err := f.Pick("b"); err == nil {
			t.Errorf("%s: no error for a target that is not there", src)
		}
	}
}

func TestRefused(t *testing.T) {
	for src, want := range map[string]string{
		"":                                      "1:1: the file holds nothing",
		"- a":                                   "1:1: a campaign file must be a mapping",
		"targets: {a: {gpsu: 1}}":               `1:15: unknown key "gpsu", did you mean "gpus"?`,
		"targets: {a: {floor_profile: x}}":      `1:15: unknown key "floor_profile", did you mean "floor-profile"?`,
		"targets: {a: {sweep: {overlay: x}}}":   `1:23: unknown key "overlay"; another command has it`,
		"targets: {a: {swep: {gpus: 1}}}":       `1:15: unknown key "swep", did you mean "sweep"?`,
		"targets: {a: {nonsense: 1}}":           `1:15: unknown key "nonsense"; keys are the names of flags`,
		"target: x":                             `1:1: "target" stands at the top level; put it under defaults`,
		"tragets: {}":                           `1:1: unknown key "tragets", did you mean "targets"?`,
		"schema_version: &a 1":                  "1:17: an anchor",
		"schema_version: 2":                     "1:17: schema_version: this perfsweep reads 1",
		"targets: {a: {gpus: 1, gpus: 2}}":      `1:24: the key "gpus" stands on line 1 already`,
		"targets: {a: {}, a: {}}":               `1:18: the key "a" stands on line 1 already`,
		"targets: {a b: {}}":                    `1:11: "a b" is no name of a target`,
		"targets: {a: {gpus: }}":                "1:21: gpus has no value",
		"targets: {a: {gpus: ''}}":              "1:21: gpus is empty",
		"targets: {a: {gpus: [1]}}":             "1:21: gpus must be a single value",
		"targets: {a: {metrics: off}}":          "1:24: metrics may be given several times: write a list, such as [off]",
		"targets: {a: {metrics: [[a]]}}":        "1:25: metrics must be a single value",
		"targets: {a: {label: {a=b: c}}}":       `1:23: label: the key "a=b" holds a =`,
		"targets: {a: {label: {a: {b: c}}}}":    "1:26: label a must be a single value",
		"targets: {a: {gpus: !!binary aGk=}}":   "1:21: gpus: a value may not have the tag",
		"targets: {a: {gpus: &x 1}}":            "1:21: an anchor",
		"targets: {a: &x {}, b: *x}":            "1:14: an anchor",
		"targets: {a: {gpus: \"a\\nb\"}}":       "1:21: gpus holds a control character",
		"targets: {a: {header: [X: y]}}":        "1:15: header: give it on the command line",
		"targets: {a: {target: http://u:p@h}}":  "1:23: target: the URL holds a user name or a password",
		"targets: {a: {metrics: [http://u@h]}}": "1:25: metrics: the URL holds a user name or a password",
		"targets: {a: {1: 2}}":                  `1:15: unknown key "1"`,
		"targets: {a: {? [x] : 2}}":             "1:17: a key must be a name",
		"targets: {a: 1}":                       "1:14: target a must be a mapping",
		"targets: {a: {sweep: 1}}":              "1:22: sweep must be a mapping",
		"targets: {a: {<<: {gpus: 1}}}":         "1:15: a key must be a name",
		"a: b: c":                               "1:1: yaml: mapping values are not allowed in this context",
		"defaults: {}\n---\ndefaults: {}":       "2:1: a second YAML document begins here",
		"defaults: \xff":                        "1:11: the file is not UTF-8",
		"a: 1\nb: é\x00":                        "2:5: a control character",
		"a: 1\n\ufeffb: 1":                      "2:1: a control character",
		"a:\n  b: *x":                           "2:6: an alias of nothing",
		"defaults:\n\tgpus: 1":                  "2:1: yaml: found character that cannot start any token",
		"targets: !x {a: {}}":                   `1:10: the tag "!x"`,
		"targets: {a: {metrics: !x [a]}}":       `1:24: the tag "!x"`,
		"targets: {a: {!!str gpus: 1}}":         "1:15: a key must be a name",
		"targets: {a: {gpus: !x 1}}":            "1:21: gpus: a value may not have the tag",
		"targets: {a: {gpus: 1}}\n...\nmore: 1": "3:1: yaml: did not find expected <document start>",
		"a: [\n":                                "1:1: yaml: did not find expected node content",
		"targets:\n  a:\n  gpus: 1\n b: 1":      "4:1: yaml: did not find expected key",
		"targets:":                              "1:9: targets must be a mapping",
		"defaults: {gpus: 1}\r\nmore: 1\r\n":    `2:1: unknown key "more"`,
		"# nothing":                             "1:1: the file holds nothing",
		strings.Repeat("[", 100_000):            "1:1: yaml: exceeded max depth",
		strings.Repeat(" ", MaxBytes+1):         "1:1: the file has 262145 bytes",
	} {
		_, err := Parse("p.yaml", []byte(src), testSchema())
		var pos *recipes.PosError
		if !errors.As(err, &pos) {
			t.Errorf("%.60q: no position: %v", src, err)
		} else if !strings.HasPrefix(err.Error(), "p.yaml:"+want) {
			t.Errorf("%.60q:\n got %v\nwant p.yaml:%s", src, err, want)
		}
	}
}

// FuzzParse: no input panics, whatever is taken is there whole, and what is
// written is read as the same.
func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add("targets: {a: {gpus: 0x1F, workload: \"null\", label: {x: 2026-01-01, y: true}, metrics: ['- a', ~x, '#']}}")
	f.Add("targets:\n  a:\n    target: |-\n      x\n    gpus: 0o17\n")
	f.Add("targets: {a: &x {gpus: 1}, b: *x}")
	f.Fuzz(func(t *testing.T, src string) {
		got, err := Parse("p.yaml", []byte(src), testSchema())
		if err != nil {
			if pos := (*recipes.PosError)(nil); !errors.As(err, &pos) || pos.Line < 1 || pos.Col < 1 {
				t.Fatalf("no position: %v", err)
			}
			return
		}
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(src), &doc); err != nil {
			t.Fatal(err)
		}
		if want := leaves(doc.Content[0], nil); !reflect.DeepEqual(said(got), want) {
			t.Fatalf("the file says %q, and %q was read", want, said(got))
		}
		text, err := got.Encode("a remark")
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("p.yaml", text, testSchema())
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, text)
		}
		if !reflect.DeepEqual(said(got), said(again)) {
			t.Fatalf("%q became %q\n%s", said(got), said(again), text)
		}
	})
}

// leaves are the values of a document with their paths, in the order of names.
func leaves(n *yaml.Node, path []string) []string {
	var out []string
	at := strings.Join(path, "\x00")
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if len(path) > 0 && path[len(path)-1] == "label" {
				out = append(out, at+"\x00"+key+"="+n.Content[i+1].Value)
			} else if len(path) > 0 || key != "schema_version" {
				out = append(out, leaves(n.Content[i+1], append(slices.Clone(path), key))...)
			}
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			out = append(out, at+"\x00"+c.Value)
		}
	default:
		out = append(out, at+"\x00"+n.Value)
	}
	slices.Sort(out)
	return out
}

// said are the same of what was read.
func said(f *File) []string {
	var out []string
	values := func(path string, all []Value) {
		for _, v := range all {
			for _, item := range v.Items {
				out = append(out, path+"\x00"+v.Key+"\x00"+item)
			}
		}
	}
	section := func(path string, s Section) {
		values(path, s.Values)
		for c, all := range s.Commands {
			values(path+"\x00"+c, all)
		}
	}
	section("defaults", f.Defaults)
	for _, t := range f.Targets {
		section("targets\x00"+t.Name, t.Section)
	}
	slices.Sort(out)
	return out
}

// What is meant as a campaign file is told from an overlay, with its mistakes too.
func TestLooksLike(t *testing.T) {
	for text, want := range map[string]bool{
		"targets: {a: {gpus: 8}}":                              true,
		"schema_version: 1\ndefaults: {effort: quick}":         true,
		"target: x\ntargets:\n  a:\n    no-such-flag: 1\n":     true,
		"targets: {a: {}}\n---\nmore: 1\n":                     true,
		"kind: RecipeMetadata\ntargets: {a: {}}":               false,
		"apiVersion: aicr.run/v1beta1\nspec: {}\ndefaults: {}": false,
		"targets: [a, b]":                                      false,
		"schema_version: 1":                                    false,
		"targets: {a: [":                                       false,
		"- targets: {a: {}}":                                   false,
		"":                                                     false,
		"targets: {a: {}}\x00":                                 false,
		"targets: {a: {}} #" + strings.Repeat("x", MaxBytes):   false,
	} {
		if got := LooksLike([]byte(text)); got != want {
			t.Errorf("%.60q: %v, want %v", text, got, want)
		}
	}
}
