package imports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The recording is of AIPerf 0.13.0: 20 requests at 4 in flight after 4 to warm up,
// 128 tokens each.
func TestReadAIPerfRun(t *testing.T) {
	r, err := ReadAIPerfRun(recorded)
	if err != nil {
		t.Fatal(err)
	}
	if r.Version != "0.13.0" || r.Concurrency != 4 || r.Requests != 20 || r.Errors != 0 || r.OutputTokens != 2560 || r.WarmUpTokens != 512 {
		t.Errorf("%+v", r)
	}
	// Its own rate is over another time than the duration that it tells.
	if got := r.OutputTokens / r.Seconds; got/r.TokPerSec < 0.998 || got/r.TokPerSec > 1.002 || r.TTFTP99MS <= 0 {
		t.Errorf("%+v: %v tok/s by its tokens and its time", r, got)
	}
}

func TestReadAIPerfRunRefuses(t *testing.T) {
	whole := func() map[string]any {
		s := summaryOf("a", 8, 5000, 90)
		s["benchmark_duration"] = map[string]any{"unit": "sec", "avg": 10.}
		return s
	}
	for _, c := range []struct {
		name   string
		change func(s map[string]any)
		want   string // "" = read
	}{
		{"whole", func(map[string]any) {}, ""},
		{"tokens told", func(s map[string]any) { s["total_osl"] = map[string]any{"unit": "tokens", "avg": 50000.} }, ""},
		{"failed requests are told", func(s map[string]any) { s["error_request_count"] = map[string]any{"unit": "requests", "avg": 3.} }, ""},
		{"no duration", func(s map[string]any) { delete(s, "benchmark_duration") }, "benchmark_duration is missing"},
		{"milliseconds", func(s map[string]any) { s["benchmark_duration"].(map[string]any)["unit"] = "ms" }, `benchmark_duration.unit is "ms"`},
		{"no TTFT", func(s map[string]any) { delete(s, "time_to_first_token") }, "time_to_first_token is missing"},
		{"no p99", func(s map[string]any) { delete(s["time_to_first_token"].(map[string]any), "p99") }, "time_to_first_token.p99 is missing"},
		{"nothing", func(s map[string]any) { s["output_token_throughput"].(map[string]any)["avg"] = 0 }, "output_token_throughput.avg is 0"},
		{"too much", func(s map[string]any) { s["output_token_throughput"].(map[string]any)["avg"] = 1e300 }, "which nothing measures"},
		{"a part", func(s map[string]any) { s["was_cancelled"] = true }, "was_cancelled is true"},
		{"another tool's", func(s map[string]any) { delete(s, "aiperf_version") }, "not a summary of AIPerf"},
	} {
		s := whole()
		c.change(s)
		_, err := ReadAIPerfRun(put(t, t.TempDir(), "", s))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestReadAIPerfRunHostile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"empty": "", "cut": `{"schema_version":"1.4",`, "nan": `{"schema_version":"1.4","aiperf_version":"0.13.0","time_to_first_token":{"unit":"ms","p99":NaN}}`} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadAIPerfRun(path); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(recorded, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, dir, filepath.Join(dir, "none")} {
		if _, err := ReadAIPerfRun(path); err == nil {
			t.Errorf("%s is read", path)
		}
	}
}
