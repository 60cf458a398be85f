package recipes

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// layouts are the structures that occur in overlays, each with a file that has
// it. CRLF, a missing final newline and a byte order mark are variants of every
// file (TestSetGateLayouts), and so are the API groups below.
func layouts() map[string][]string {
	return map[string][]string{
		"block style":                       {"checks-block-several", "absolute-kept"},
		"flow style, the phase":             {"flow-performance-complete", "flow-performance-lines", "flow-performance-timeout"},
		"flow style, the lists":             {"flow-list-complete", "flow-list-one-a-line", "flow-checks-over-lines"},
		"flow style, the items":             {"flow-items"},
		"checks: []":                        {"checks-empty-with-comment", "generated-with-mixins"},
		"checks and constraints: []":        {"checks-empty-constraints-empty", "flow-performance-disabled"},
		"null":                              {"checks-null", "performance-null", "validation-null"},
		"comments between items":            {"comments-and-blanks-between-items"},
		"comments on lines of values":       {"flow-items", "flow-checks-quoted-comment"},
		"blank lines":                       {"comments-and-blanks-between-items", "validation-missing-spaced"},
		"quoted and plain scalars":          {"quoting-kept", "eidos-group-aicr-order"},
		"several checks":                    {"checks-block-several", "checks-flow-several"},
		"a phase without constraints":       {"older-api-group", "performance-empty-flow"},
		"no phase":                          {"performance-missing-first", "performance-missing-middle", "performance-missing-last", "validation-missing"},
		"lists at the column of their keys": {"indentless", "validation-missing-indentless"},
		"four spaces":                       {"four-spaces"},
		"value before name, a dash alone":   {"value-before-name", "dash-alone"},
		"other constraints around":          {"other-constraints-around"},
		"severity, unit and remediation":    {"extra-keys-kept", "extended-constraints"},
		"document markers":                  {"document-markers"},
		"characters outside of ASCII":       {"characters-outside-ascii"},
		"generated":                         {"generated-with-mixins"},
		"mixins, componentRefs, criteria":   {"generated-with-mixins"},
		"a block that perfsweep wrote":      {"managed-block-replaced", "managed-block-only", "managed-block-moved-down", "flow-performance-managed"},
		"both names of a floor":             {"absolute-to-per-gpu", "per-gpu-to-absolute", "absolute-kept"},
		"a floor to remove":                 {"ttft-only-removes-floor", "ttft-only-floor-last", "flow-list-removal"},
		"values that AICR refuses":          {"bad-values-replaced"},
	}
}

func TestLayoutsHaveFiles(t *testing.T) {
	edited := 0
	var names []string
	for _, c := range goldenCases(t) {
		names = append(names, c.name)
		if c.want != "" {
			edited++
		}
	}
	for what, files := range layouts() {
		for _, f := range files {
			if !slices.Contains(names, f) {
				t.Errorf("%s: no file %s", what, f)
			}
		}
	}
	if edited < 60 {
		t.Errorf("%d layouts are edited", edited)
	}
}

// Every layout under every API group there was: the same edit, byte for byte.
func TestSetGateKeepsTheAPIGroup(t *testing.T) {
	version := regexp.MustCompile(`(?m)^apiVersion: .*$`)
	for _, c := range goldenCases(t) {
		for _, v := range []string{"aicr.run/v1beta1", "aicr.run/v1alpha2", "aicr.nvidia.com/v1alpha1", "eidos.nvidia.com/v1alpha1", "example.com/v9 # ours"} {
			in := version.ReplaceAllString(c.in, "apiVersion: "+v)
			if c.want == "" || in == c.in {
				continue
			}
			got, err := setGate(t, in, c.gate, c.comment)
			if err != nil {
				t.Fatalf("%s, %s: %v", c.name, v, err)
			}
			if diff := cmp.Diff(version.ReplaceAllString(c.want, "apiVersion: "+v), got); diff != "" {
				t.Errorf("%s, %s: %s", c.name, v, diff)
			}
		}
	}
}

// Every layout with every kind of edit, one after the other. A change of values
// changes digits and nothing else; back again gives the same bytes.
func TestSetGateKinds(t *testing.T) {
	perGPU, absolute, ttftOnly := sampleGate(), sampleGate(), sampleGate()
	absolute.FloorPerGPU, absolute.Floor = 0, 144000
	ttftOnly.FloorPerGPU = 0
	changed := func(g Gate) Gate {
		g.ConcurrencyPerGPU, g.CeilingTTFTP99MS = 64, 900.5
		if g.Floor > 0 {
			g.Floor = 99999
		} else if g.FloorPerGPU > 0 {
			g.FloorPerGPU = 7
		}
		return g
	}
	digits := regexp.MustCompile(`[0-9.]+`)
	for _, c := range goldenCases(t) {
		if c.want == "" {
			continue
		}
		for kind, g := range map[string]Gate{"per GPU": perGPU, "absolute": absolute, "TTFT only": ttftOnly} {
			set, err := setGate(t, c.in, g, sampleComment())
			if err != nil {
				if kind != "TTFT only" || !strings.Contains(err.Error(), "to remove") && !strings.Contains(err.Error(), "to be removed") {
					t.Errorf("%s, %s: %v", c.name, kind, err)
				}
				continue
			}
			other, err := setGate(t, set, changed(g), sampleComment())
			if err != nil {
				t.Fatalf("%s, %s, changed: %v", c.name, kind, err)
			}
			if strings.Count(set, "\n") != strings.Count(other, "\n") || set == other {
				t.Errorf("%s, %s: a change of values changes lines:\n%s", c.name, kind, Diff("in.yaml", []byte(set), []byte(other)))
			}
			back, err := setGate(t, other, g, sampleComment()) // by now every value has our spelling
			if err != nil {
				t.Fatalf("%s, %s, back: %v", c.name, kind, err)
			}
			if a, b := digits.ReplaceAllString(back, "0"), digits.ReplaceAllString(other, "0"); a != b {
				t.Errorf("%s, %s: a change of values changes more than digits:\n%s", c.name, kind, Diff("in.yaml", []byte(other), []byte(back)))
			}
			if again, err := setGate(t, back, changed(g), sampleComment()); err != nil || again != other {
				t.Errorf("%s, %s: there and back again (%v) gives\n%s", c.name, kind, err, Diff("in.yaml", []byte(other), []byte(again)))
			}
			bare, err := setGate(t, set, g, nil)
			if err != nil || strings.Contains(bare, markBegin) {
				t.Errorf("%s, %s: without a comment: %v\n%s", c.name, kind, err, bare)
			}
		}
	}
}
