package recipes

import (
	"fmt"
	"strings"
	"testing"
)

// Each knob of AICR's catalog: what it accepts, what voids a measurement, what
// only moves gates that pin nothing, and what changes no number.
func TestCatalogKnobs(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"CONCURRENCY_PER_GPU", `"256"`, ""}, {"CONCURRENCY_PER_GPU", `"+256"`, ""}, {"CONCURRENCY_PER_GPU", `"64"`, "warning catalog-override"}, {"CONCURRENCY_PER_GPU", `"-1"`, "error catalog-value"},
		{"WARMUP_PER_CONCURRENCY", `"1"`, ""}, {"WARMUP_PER_CONCURRENCY", `"2"`, "error catalog-override"}, {"WARMUP_PER_CONCURRENCY", `"0"`, "error catalog-value"},
		{"MIN_REQUESTS", `"1000"`, ""}, {"MIN_REQUESTS", "10", "error catalog-override"}, {"MIN_REQUESTS", "1e3", "error catalog-value"},
		{"REQUESTS_PER_CONCURRENCY", "8", ""}, {"REQUESTS_PER_CONCURRENCY", "16", "error catalog-override"}, {"REQUESTS_PER_CONCURRENCY", "many", "error catalog-value"},
		{"INPUT_TOKENS_MEAN", "128", ""}, {"INPUT_TOKENS_MEAN", "1024", "error catalog-override"}, {"INPUT_TOKENS_MEAN", "1.5", "error catalog-value"},
		{"OUTPUT_TOKENS_MEAN", "128", ""}, {"OUTPUT_TOKENS_MEAN", "129", "error catalog-override"}, {"OUTPUT_TOKENS_MEAN", "0x80", "error catalog-value"},
		{"MODEL", "Qwen/Qwen3-8B", ""}, {"MODEL", "a/b", "warning catalog-override"}, {"MODEL", "'a b'", "error catalog-value"},
		{"ROUTER_MODE", "least-loaded", ""}, {"ROUTER_MODE", "round-robin", "error catalog-override"}, {"ROUTER_MODE", "direct", "error catalog-value"},
		{"WORKLOAD_READY_TIMEOUT", "20m", ""}, {"WORKLOAD_READY_TIMEOUT", "1h2m3.5s", ""}, {"WORKLOAD_READY_TIMEOUT", "0s", "error catalog-value"},
		{"HEALTH_TIMEOUT", "-5m", "error catalog-value"}, {"HEALTH_TIMEOUT", "5", "error catalog-value"},
		{"MODEL_CACHE_POPULATE_TIMEOUT", "26m", ""}, {"MODEL_CACHE_POPULATE_TIMEOUT", "soon", "error catalog-value"},
		{"MODEL_CACHE_SIZE", "200Gi", ""}, {"MODEL_CACHE_SIZE", "off", ""}, {"MODEL_CACHE_SIZE", `"0"`, ""}, {"MODEL_CACHE_SIZE", "100 GB", "error catalog-value"},
		{"MODEL_CACHE_STORAGE_CLASS", "fast", ""}, {"MODEL_CACHE_STORAGE_CLASS", "Not/One", "error catalog-value"},
		{"NO_CLEANUP", `"1"`, ""}, {"ROUTER", "kv", "warning catalog-unknown"}, {"ROUTER_MODE", "", ""}, {"ROUTER_MODE", `" "`, ""},
	} {
		if got := lintedCatalog(catalogWith(env(c.name, c.value))); got != c.want {
			t.Errorf("%s=%s: %q, want %q", c.name, c.value, got, c.want)
		}
	}
	for name, c := range map[string]struct{ env, want string }{
		"a name twice":   {env("ROUTER_MODE", "least-loaded") + env("ROUTER_MODE", "kv"), "warning catalog-unknown, error catalog-override"},
		"from elsewhere": {"      - name: AICR_INFERENCE_PERF_ROUTER_MODE\n        valueFrom: {configMapKeyRef: {name: a, key: b}}\n", "warning catalog-unknown"},
		"another's":      {"      - name: NCCL_DEBUG\n        value: info\n", ""},
	} {
		if got := lintedCatalog(catalogWith(c.env)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func lintedCatalog(src string) string {
	var got []string
	for _, f := range Lint("validators/catalog.yaml", []byte(src)) {
		got = append(got, fmt.Sprint(f.Severity, " ", f.Rule))
	}
	return strings.Join(got, ", ")
}
