package imports

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfsweep/perfsweep/knee"
)

// The same recording that our own export is compared with.
const recorded = "../../loadgen/aiperf/testdata/profile_export_aiperf.json"

// summaryOf is a small summary of a run of 2000 requests.
func summaryOf(id string, concurrency int, tokPerSec, p99 float64) map[string]any {
	metric := func(unit string, stats ...any) map[string]any {
		m := map[string]any{"unit": unit}
		for i := 0; i < len(stats); i += 2 {
			m[stats[i].(string)] = stats[i+1]
		}
		return m
	}
	return map[string]any{
		"schema_version": "1.4", "aiperf_version": "0.13.0", "benchmark_id": id, "was_cancelled": false, "is_complete": true,
		"output_token_throughput": metric("tokens/sec", "avg", tokPerSec),
		"time_to_first_token":     metric("ms", "avg", p99/3, "p50", p99/3, "p99", p99),
		"inter_token_latency":     metric("ms", "avg", 10., "p50", 10., "p99", 12.),
		"request_count":           metric("requests", "avg", 2000.),
		"input_config": map[string]any{
			"models":   map[string]any{"items": []any{map[string]any{"name": "m"}}},
			"endpoint": map[string]any{"type": "chat", "extra": map[string]any{"temperature": 0}},
			"datasets": []any{map[string]any{"type": "synthetic", "entries": 100, "random_seed": concurrency, "prompts": map[string]any{"isl": map[string]any{"mean": 128}}}},
			"phases": []any{
				map[string]any{"kind": "warmup", "type": "concurrency", "concurrency": 1, "exclude_from_results": true},
				map[string]any{"kind": "profiling", "type": "concurrency", "concurrency": concurrency},
			},
		},
	}
}

// put writes a summary into a folder below root.
func put(t *testing.T, root, folder string, s map[string]any) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, folder, AIPerfFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAIPerfRecorded(t *testing.T) {
	f, err := os.Open(recorded)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	c, err := AIPerfSummary("r.json", f, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []knee.Run{row5(2, 382.2160259815297/2, 56.857654999999994, 0, 10.00046855511811)}
	if d := cmp.Diff(want, c.Runs); d != "" {
		t.Error(d)
	}
	if len(c.Notes) != 2 || !strings.Contains(c.Notes[0], "whole run") || !strings.Contains(c.Notes[1], "as few as 20") {
		t.Errorf("%q", c.Notes)
	}
}

// TestAIPerfOurs: what `perfsweep profile` writes reads back.
func TestAIPerfOurs(t *testing.T) {
	f, err := os.Open("../../loadgen/aiperf/testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	p, err := aiperfPoint("golden.json", f)
	if err != nil || p.concurrency != 4 || !(p.tokPerSec > 0) || !(p.p50 > 0) || p.p99 < p.p50 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestAIPerfSweepFolder: one run a folder at any depth, but for phases of a run
// and averages over runs.
func TestAIPerfSweepFolder(t *testing.T) {
	root := t.TempDir()
	for i, n := range []int{16, 32, 64} {
		for trial := range 2 {
			s := summaryOf(fmt.Sprint(n, "-", trial), n, 100*float64(n+trial), float64(30*(i+1)))
			put(t, root, fmt.Sprintf("profile_runs/concurrency_%d/run_%d", n, trial), s)
		}
	}
	put(t, root, "profile_runs/concurrency_16/run_0/phases/warmup", summaryOf("w", 16, 1, 1))
	put(t, root, "aggregate/concurrency_16", summaryOf("a", 16, 1, 1))
	put(t, root, "sweep_aggregate", summaryOf("s", 16, 1, 1))
	c, err := AIPerf(root, 8)
	if err != nil {
		t.Fatal(err)
	}
	want := []knee.Run{
		row6(2, 200, 10, 30, 10, 12), row6(2, 212.5, 10, 30, 10, 12), row6(4, 400, 20, 60, 10, 12),
		row6(4, 412.5, 20, 60, 10, 12), row6(8, 800, 30, 90, 10, 12), row6(8, 812.5, 30, 90, 10, 12),
	}
	if d := cmp.Diff(want, c.Runs); d != "" {
		t.Error(d)
	}
	if len(c.Notes) != 1 {
		t.Errorf("%q", c.Notes)
	}
}

// at sets a value in nested maps and lists, or deletes it with nil.
func at(s map[string]any, path string, v any) {
	keys := strings.Split(path, ".")
	var here any = s
	for _, k := range keys[:len(keys)-1] {
		if l, ok := here.([]any); ok {
			here = l[k[0]-'0']
		} else {
			here = here.(map[string]any)[k]
		}
	}
	m := here.(map[string]any)
	if last := keys[len(keys)-1]; v == nil {
		delete(m, last)
	} else {
		m[last] = v
	}
}

// TestAIPerfRefuses names the file and the key.
func TestAIPerfRefuses(t *testing.T) {
	for _, c := range []struct {
		path string
		v    any
		says string
	}{
		{"aiperf_version", nil, "aiperf_version is missing"},
		{"schema_version", "2.0", `schema_version is "2.0"`},
		{"was_cancelled", true, "was_cancelled is true"},
		{"is_complete", false, "is_complete is false"},
		{"output_token_throughput", nil, "output_token_throughput is missing"},
		{"output_token_throughput.unit", nil, `output_token_throughput.unit is ""`},
		{"output_token_throughput.unit", "tokens/min", `output_token_throughput.unit is "tokens/min"`},
		{"output_token_throughput.avg", nil, "output_token_throughput.avg is missing"},
		{"output_token_throughput.avg", 0., "output_token_throughput.avg is 0"},
		{"output_token_throughput.avg", -5., "output_token_throughput.avg is -5"},
		{"output_token_throughput.avg", "fast", "output_token_throughput.avg is a string"},
		{"time_to_first_token", nil, "time_to_first_token is missing"},
		{"time_to_first_token.unit", "s", `time_to_first_token.unit is "s"`},
		{"time_to_first_token.p99", nil, "time_to_first_token.p99 is missing"},
		{"inter_token_latency.unit", "us", `inter_token_latency.unit is "us"`},
		{"inter_token_latency.p50", -1., "inter_token_latency.p50 is -1"},
		{"request_count", nil, "request_count is missing"},
		{"request_count.unit", "", `request_count.unit is ""`},
		{"input_config", nil, "input_config.phases has no measured phase"},
		{"input_config.phases.1.concurrency", nil, "input_config.phases[1].concurrency is missing"},
		{"input_config.phases.1.concurrency", 0, "input_config.phases[1].concurrency is 0"},
		{"input_config.phases.1.concurrency", 1.5, "concurrency is a number 1.5"},
		{"input_config.phases.1.type", "request_rate", `input_config.phases[1].type is "request_rate"`},
		{"input_config.phases.0", map[string]any{"kind": "profiling"}, ""},
	} {
		s := summaryOf("x", 16, 1000, 30)
		if c.says == "" {
			s["input_config"].(map[string]any)["phases"].([]any)[0] = c.v
			c.says = "more than one measured phase"
		} else {
			at(s, c.path, c.v)
		}
		root := t.TempDir()
		path := put(t, root, "a", s)
		got, err := AIPerf(root, 8)
		if err == nil || got.Runs != nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s = %v: %d runs, %v; want %q", c.path, c.v, len(got.Runs), err, c.says)
		}
	}
}

// TestAIPerfTogether: runs that are no curve together.
func TestAIPerfTogether(t *testing.T) {
	for name, c := range map[string]struct {
		second func(map[string]any)
		gpus   int
		says   string
	}{
		"a copy":           {func(s map[string]any) { s["benchmark_id"] = "a" }, 1, `the run "a" is in`},
		"another model":    {func(s map[string]any) { at(s, "input_config.models.items.0.name", "n") }, 1, "input_config.models.items[0].name is n, but m"},
		"another length":   {func(s map[string]any) { at(s, "input_config.datasets.0.prompts.isl.mean", 9) }, 1, "input_config.datasets[0].prompts"},
		"another option":   {func(s map[string]any) { at(s, "input_config.endpoint.extra.ignore_eos", true) }, 1, "input_config.endpoint.extra"},
		"no option":        {func(s map[string]any) { at(s, "input_config.endpoint.extra", nil) }, 1, "is not told, but"},
		"no whole number":  {func(map[string]any) {}, 3, "a concurrency of 16 is no whole number per GPU on 3 GPUs"},
		"GPUs not given":   {func(map[string]any) {}, 0, "0 GPUs"},
		"absurd GPUs":      {func(map[string]any) {}, 1 << 30, "1073741824 GPUs"},
		"another endpoint": {func(s map[string]any) { at(s, "input_config.endpoint.type", "completions") }, 1, "input_config.endpoint.type"},
	} {
		root := t.TempDir()
		put(t, root, "a", summaryOf("a", 16, 1000, 30))
		s := summaryOf("b", 32, 1900, 35)
		c.second(s)
		put(t, root, "b", s)
		if got, err := AIPerf(root, c.gpus); err == nil || got.Runs != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %d runs, %v; want %q", name, len(got.Runs), err, c.says)
		}
	}
}

// TestAIPerfLeavesOut: a run that fails V2 is told and not used; a run without
// enough requests keeps its TTFT p99 to itself.
func TestAIPerfLeavesOut(t *testing.T) {
	requests := func(n float64) map[string]any { return map[string]any{"unit": "requests", "avg": n} }
	root := t.TempDir()
	put(t, root, "a", summaryOf("a", 16, 1000, 30))
	failing := summaryOf("b", 32, 1900, 35)
	failing["error_request_count"] = requests(3)
	put(t, root, "b", failing)
	inside := summaryOf("c", 64, 3500, 45)
	inside["error_request_count"] = requests(2)
	inside["effective_concurrency"] = requests(40)
	put(t, root, "c", inside)
	short := summaryOf("d", 128, 6000, 90)
	short["request_count"] = requests(999)
	put(t, root, "d", short)
	c, err := AIPerf(root, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]knee.Run{row6(16, 1000, 10, 30, 10, 12), row6(64, 3500, 15, 45, 10, 12), row5(128, 6000, 30, 0, 10)}, c.Runs); d != "" {
		t.Error(d)
	}
	for i, want := range []string{"whole run", "3 of 2003 requests failed", "40.0 of 64 streams", "TTFT p99 of 1 run is not used"} {
		if len(c.Notes) != 4 || !strings.Contains(c.Notes[i], want) {
			t.Fatalf("%q, want %q", c.Notes, want)
		}
	}
	alone := t.TempDir()
	put(t, alone, "b", failing)
	if c, err := AIPerf(alone, 1); err == nil || c.Runs != nil || !strings.Contains(err.Error(), "no run is left") {
		t.Errorf("%v, %v", c, err)
	}
}
