package imports

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAIPerfHostileFolders(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, root string)
		says string
	}{
		"empty":              {func(*testing.T, string) {}, "no " + AIPerfFile},
		"only a warm-up":     {func(t *testing.T, root string) { put(t, root, "phases/warmup", summaryOf("w", 16, 1, 1)) }, "no " + AIPerfFile},
		"a folder of a name": {func(t *testing.T, root string) { mkdir(t, root, AIPerfFile) }, "no " + AIPerfFile},
		"a link to a file": {func(t *testing.T, root string) {
			link(t, put(t, t.TempDir(), "a", summaryOf("a", 16, 1, 1)), filepath.Join(root, AIPerfFile))
		}, "links are not followed"},
		"a link to a folder": {func(t *testing.T, root string) {
			other := t.TempDir()
			put(t, other, "a", summaryOf("a", 16, 1, 1))
			link(t, other, filepath.Join(root, "b"))
		}, "no " + AIPerfFile},
		"a loop":   {func(t *testing.T, root string) { link(t, root, filepath.Join(root, "again")) }, "no " + AIPerfFile},
		"too deep": {func(t *testing.T, root string) { mkdir(t, root, strings.Repeat("d/", maxDepth+2)) }, "lies deeper than 8 folders"},
		"NaN":      {write(`{"aiperf_version":"0.13.0","schema_version":"1.4","output_token_throughput":{"unit":"tokens/sec","avg":NaN}}`), "not JSON: invalid character 'N'"},
		"infinite": {write(`{"aiperf_version":"0.13.0","schema_version":"1.4","output_token_throughput":{"unit":"tokens/sec","avg":1e999}}`), "1e999"},
		"a list":   {write(`[]`), "is a array"},
		"two":      {write(`{} {}`), "something follows"},
		"nothing":  {write(``), "not JSON: EOF"},
		"UTF-16":   {write("\xff\xfe{\x00}\x00"), AIPerfFile + ": the text is not UTF-8 but seems to be UTF-16"},
		"torn":     {write(`{"aiperf_version":`), "not JSON: unexpected EOF"},
		"huge":     {write(`{"x":"` + strings.Repeat("x", maxBytes) + `"}`), "more than 64 MiB"},
	} {
		root := t.TempDir()
		c.make(t, root)
		got, err := AIPerf(root, 1)
		if err == nil || got.Runs != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %d runs, %v; want %q", name, len(got.Runs), err, c.says)
		}
	}
}

// TestAIPerfFolderByLink: a sweep's folder is often named by a link to the
// latest one.
func TestAIPerfFolderByLink(t *testing.T) {
	at := t.TempDir()
	put(t, filepath.Join(at, "sweep"), "a", summaryOf("a", 16, 1000, 30))
	link(t, "sweep", filepath.Join(at, "latest"))
	if c, err := AIPerf(filepath.Join(at, "latest"), 8); err != nil || len(c.Runs) != 1 {
		t.Errorf("%d runs, %v", len(c.Runs), err)
	}
}

// TestMarkedText: some editors put a mark before a text.
func TestMarkedText(t *testing.T) {
	b, err := os.ReadFile("testdata/guidellm.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []string{"", "\ufeff", " \r\n", "\ufeff\n"} {
		text := before + string(b)
		if k := KindOf(strings.NewReader(text)); k != KindGuideLLM {
			t.Errorf("%q: a file of kind %q", before, k)
		}
		if c, err := GuideLLM("g.json", strings.NewReader(text), 1); err != nil || len(c.Runs) == 0 {
			t.Errorf("%q: %d runs, %v", before, len(c.Runs), err)
		}
	}
	if _, err := GuideLLM("g.json", strings.NewReader("\xfe\xff\x00{"), 1); err == nil || !strings.Contains(err.Error(), "g.json: the text is not UTF-8") {
		t.Error(err)
	}
}

func mkdir(t *testing.T, root, below string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(root, below), 0o755); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, from string) {
	t.Helper()
	if err := os.Symlink(to, from); err != nil {
		t.Fatal(err)
	}
}

func write(text string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, AIPerfFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKindOf(t *testing.T) {
	for text, want := range map[string]Kind{
		`{"schema_version":"1.4","aiperf_version":"0.13.0"`: KindAIPerf,
		`{"metadata":{"aiperf_version":1},"benchmarks":[`:   KindGuideLLM,
		`{"type":"campaign","schema_version":1}`:            KindUnknown,
		`{"type":"campaign"`:                                KindUnknown,
		`{`:                                                 KindUnknown,
		`[{"benchmarks":[]}]`:                               KindUnknown,
		``:                                                  KindUnknown,
	} {
		if got := KindOf(strings.NewReader(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzImports: whatever a file holds, either it is refused with its name or its
// runs are numbers that the estimator takes.
func FuzzImports(f *testing.F) {
	// Small ones: a mutation of a whole recording mostly hits what is skipped.
	f.Add(`{"aiperf_version":"0","schema_version":"1.4","output_token_throughput":{"unit":"tokens/sec","avg":1e3},`+
		`"time_to_first_token":{"unit":"ms","p50":5,"p99":9},"inter_token_latency":{"unit":"ms","p50":1},"request_count":{"unit":"requests","avg":2000},`+
		`"input_config":{"models":{"items":[{"name":"m"}]},"phases":[{"kind":"warmup"},{"type":"concurrency","concurrency":4}]}}`, 2)
	f.Add(`{"metadata":{"version":2,"guidellm_version":"0"},"benchmarks":[{"x":[{}],"config":{"id_":"a","strategy":{"type_":"synchronous"}},"metrics":`+
		`{"request_totals":{"successful":9,"errored":0,"incomplete":0},"output_tokens_per_second":{"successful":{"mean":5}},`+
		`"time_to_first_token_ms":{"successful":{"percentiles":{"p50":1,"p99":2}}}}}]}`, 1)
	f.Add(`{"aiperf_version":"0","schema_version":"1.","input_config":{"phases":[{"type":"concurrency","concurrency":4}]}}`, 2)
	f.Fuzz(func(t *testing.T, text string, gpus int) {
		for kind, read := range map[string]func(string, io.Reader, int) (Curve, error){"AIPerf": AIPerfSummary, "GuideLLM": GuideLLM} {
			c, err := read("in.json", strings.NewReader(text), gpus)
			if err != nil {
				if c.Runs != nil {
					t.Errorf("%s: runs and %v", kind, err)
				}
				continue
			}
			if len(c.Runs) == 0 {
				t.Errorf("%s: neither runs nor an error", kind)
			}
			for _, r := range c.Runs {
				if s := fmt.Sprint(r); r.ConcurrencyPerGPU < 1 || !(r.TokPerSecPerGPU > 0) || !(r.TTFTP50MS > 0) || r.TTFTP99MS < 0 || r.ITLMS < 0 || strings.Contains(s, "Inf") {
					t.Errorf("%s: %+v", kind, r)
				}
			}
		}
	})
}
