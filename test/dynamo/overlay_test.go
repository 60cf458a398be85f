//go:build dynamo

package dynamo

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/perfsweep/perfsweep/test/internal/live"
)

// overlay is an AICR-shaped overlay whose model is the one that the mockers
// serve and whose floor is per GPU: an absolute one would need --node-gpus.
func overlay(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "recipes", "testdata", "aicr-h100-like.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range []struct{ old, new string }{
		{`(- name: inference-model\n\s+value: ).*\n`, "${1}" + live.DynamoModel + "\n"},
		{`- name: inference-throughput\n(\s+value: ).*\n`, "- name: inference-throughput-per-gpu\n${1}\">= 6200\"\n"},
	} {
		re := regexp.MustCompile(edit.old)
		if n := len(re.FindAll(text, -1)); n != 1 {
			t.Fatalf("%s is in the overlay %d times, want once", re, n)
		}
		text = re.ReplaceAll(text, []byte(edit.new))
	}
	return text
}

// checkDiff applies the printed diff to the overlay and reads the outcome with
// a YAML parser, not with this module's own reader.
func checkDiff(t *testing.T, before string, c calibration) {
	after, err := patch(before, c.Diff)
	if err != nil {
		t.Fatalf("the diff does not apply: %v\n%s", err, c.Diff)
	}
	old, updated := performance(t, before), performance(t, after)
	if !slices.Contains(updated.checks, "inference-perf") {
		t.Errorf("checks %q lack inference-perf", updated.checks)
	}
	if c.FloorForm != "per-gpu" {
		t.Errorf("floor form %q, want the overlay's, per-gpu", c.FloorForm)
	}
	want := map[string]string{
		"inference-model":               live.DynamoModel,
		"inference-concurrency-per-gpu": strconv.Itoa(c.ConcurrencyPerGPU),
		"inference-routing-mode":        old.constraints["inference-routing-mode"],
		"inference-throughput-per-gpu":  ">= " + strconv.FormatFloat(c.Floor, 'f', -1, 64),
		"inference-ttft-p99":            "<= " + strconv.FormatFloat(c.CeilingMS, 'f', -1, 64),
	}
	if !maps.Equal(updated.constraints, want) {
		t.Errorf("constraints after the diff: %q, want %q", updated.constraints, want)
	}
	if !(c.Floor > 0 && c.Floor < c.TokPerSecPerGPU) {
		t.Errorf("floor %g, want one below the %.1f tok/s per GPU that were measured", c.Floor, c.TokPerSecPerGPU)
	}
	if !(c.CeilingMS >= c.TTFTP99MS && c.TTFTP99MS > 0) {
		t.Errorf("ceiling %g ms, want one above the %.1f ms that were measured", c.CeilingMS, c.TTFTP99MS)
	}
	if !reflect.DeepEqual(old.rest, updated.rest) {
		t.Errorf("the diff changes more than the performance phase:\n%s", c.Diff)
	}
	if !strings.Contains(c.Diff, "PROVISIONAL") {
		t.Errorf("the diff does not say that the gate is PROVISIONAL:\n%s", c.Diff)
	}
}

// phase is the performance phase of an overlay, and the rest of the overlay.
type phase struct {
	checks      []string
	constraints map[string]string
	rest        map[string]any
}

func performance(t *testing.T, text string) phase {
	t.Helper()
	var doc struct {
		Spec struct {
			Validation struct {
				Performance struct {
					Checks      []string
					Constraints []struct{ Name, Value string }
				}
			}
		}
	}
	p := phase{constraints: map[string]string{}}
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("overlay: %v\n%s", err, text)
	}
	if err := yaml.Unmarshal([]byte(text), &p.rest); err != nil {
		t.Fatalf("overlay: %v\n%s", err, text)
	}
	p.checks = doc.Spec.Validation.Performance.Checks
	for _, c := range doc.Spec.Validation.Performance.Constraints {
		if _, twice := p.constraints[c.Name]; twice {
			t.Errorf("the constraint %s is there twice:\n%s", c.Name, text)
		}
		p.constraints[c.Name] = c.Value
	}
	spec, _ := p.rest["spec"].(map[string]any)
	validation, _ := spec["validation"].(map[string]any)
	delete(validation, "performance")
	return p
}
