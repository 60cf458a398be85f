package imports

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfsweep/perfsweep/knee"
)

// guidellm is the recorded report, with its one benchmark at each of the given
// concurrencies.
func guidellm(t *testing.T, change func(doc map[string]any), concurrencies ...int) string {
	t.Helper()
	b, err := os.ReadFile("testdata/guidellm.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	one, err := json.Marshal(doc["benchmarks"].([]any)[0])
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for i, n := range concurrencies {
		var b map[string]any
		if err := json.Unmarshal(one, &b); err != nil {
			t.Fatal(err)
		}
		at(b, "config.id_", strings.Repeat("x", i+1))
		at(b, "config.strategy.streams", n)
		at(b, "metrics.request_concurrency.successful.mean", float64(n)-.02)
		at(b, "metrics.request_totals.successful", 2000)
		at(b, "metrics.output_tokens_per_second.successful.mean", 100*float64(n))
		all = append(all, b)
	}
	if all != nil {
		doc["benchmarks"] = all
	}
	if change != nil {
		change(doc)
	}
	if b, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestGuideLLM(t *testing.T) {
	const p50, p99, itl, itl99 = 54.65865135192871, 66.19429588317871, 10.005915258813092, 10.087981937438483
	c, err := GuideLLM("g.json", strings.NewReader(guidellm(t, nil)), 2)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]knee.Run{row5(2, 383.4511213678197/2, p50, 0, itl)}, c.Runs); d != "" || len(c.Notes) != 2 {
		t.Errorf("%s %q", d, c.Notes)
	}
	c, err = GuideLLM("g.json", strings.NewReader(guidellm(t, nil, 8, 16, 32)), 4)
	if err != nil {
		t.Fatal(err)
	}
	want := []knee.Run{row6(2, 200, p50, p99, itl, itl99), row6(4, 400, p50, p99, itl, itl99), row6(8, 800, p50, p99, itl, itl99)}
	if d := cmp.Diff(want, c.Runs); d != "" || len(c.Notes) != 1 {
		t.Errorf("%s %q", d, c.Notes)
	}
}

// TestGuideLLMRefuses names the file and the key.
func TestGuideLLMRefuses(t *testing.T) {
	for _, c := range []struct {
		path string
		v    any
		says string
	}{
		{"metadata.guidellm_version", nil, "g.json: metadata.guidellm_version is missing"},
		{"metadata.version", 3, "g.json: metadata.version is missing or another"},
		{"benchmarks", []any{}, "g.json: benchmarks is missing or empty"},
		{"benchmarks", map[string]any{}, "benchmarks does not begin with ["},
		{"benchmarks.1.config.strategy.type_", "poisson", `g.json: benchmarks[1].config.strategy.type_ is "poisson"`},
		{"benchmarks.1.config.strategy.streams", nil, "benchmarks[1].config.strategy.streams is missing"},
		{"benchmarks.1.config.strategy.streams", "8", "benchmarks[1].config.strategy.streams is a string"},
		{"benchmarks.1.metrics", nil, "benchmarks[1].metrics.request_totals.successful is missing"},
		{"benchmarks.1.metrics.request_totals.errored", nil, "benchmarks[1].metrics.request_totals.errored is missing"},
		{"benchmarks.1.metrics.request_totals.incomplete", -1, "benchmarks[1].metrics.request_totals.incomplete is -1"},
		{"benchmarks.1.metrics.output_tokens_per_second", nil, "benchmarks[1].metrics.output_tokens_per_second.successful is missing"},
		{"benchmarks.1.metrics.output_tokens_per_second.successful.mean", 0, "output_tokens_per_second.successful.mean is 0"},
		// A key of another unit is another key.
		{"benchmarks.1.metrics.time_to_first_token_ms", nil, "benchmarks[1].metrics.time_to_first_token_ms.successful is missing"},
		{"benchmarks.1.metrics.time_to_first_token_ms.successful.percentiles.p99", nil, "time_to_first_token_ms.successful.percentiles.p99 is missing"},
		{"benchmarks.1.config.id_", "x", `the run "x" is in g.json: benchmarks[0] already`},
		{"benchmarks.1.config.backend.model", "n", "config.backend.model is n, but mock in g.json: benchmarks[0]"},
	} {
		text := guidellm(t, func(doc map[string]any) { at(doc, c.path, c.v) }, 4, 8)
		got, err := GuideLLM("g.json", strings.NewReader(text), 1)
		if err == nil || got.Runs != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s = %v: %d runs, %v; want %q", c.path, c.v, len(got.Runs), err, c.says)
		}
	}
}

// TestGuideLLMCutOff: requests that a time limit cut off lose their tokens and
// keep their time, so the run's rate is too low to be used.
func TestGuideLLMCutOff(t *testing.T) {
	text := guidellm(t, func(doc map[string]any) {
		at(doc, "benchmarks.1.metrics.request_totals.incomplete", 8)
		at(doc, "benchmarks.0.metrics.request_totals.incomplete", 2)
	}, 4, 8)
	c, err := GuideLLM("g.json", strings.NewReader(text), 1)
	if err != nil || len(c.Runs) != 1 || c.Runs[0].ConcurrencyPerGPU != 4 || !strings.Contains(c.Notes[1], "8 of 2008 requests failed or were cut off") {
		t.Errorf("%+v %q %v", c.Runs, c.Notes, err)
	}
}

// TestGuideLLMPassesOverRequests: a report holds every answer; none is kept.
func TestGuideLLMPassesOverRequests(t *testing.T) {
	text := guidellm(t, nil)
	requests := `"requests":{"successful":[` + strings.Repeat(`{"output":"`+strings.Repeat("w", 1000)+`"},`, 80_000) + `0]},`
	i := strings.Index(text, `"benchmarks":[{`) + len(`"benchmarks":[{`)
	large := bytes.Join([][]byte{[]byte(text[:i]), []byte(requests), []byte(text[i:])}, nil)
	if len(large) <= maxBytes {
		t.Fatalf("%d bytes are no large report", len(large))
	}
	if c, err := GuideLLM("g.json", bytes.NewReader(large), 1); err != nil || len(c.Runs) != 1 {
		t.Errorf("%v, %v", c, err)
	}
	hoard := `{"metadata":{"guidellm_version":"` + strings.Repeat("w", maxBytes+1<<20) + `"}}`
	if _, err := GuideLLM("g.json", strings.NewReader(hoard), 1); err == nil || !strings.Contains(err.Error(), "MiB") {
		t.Errorf("a value that would be held: %v", err)
	}
}
