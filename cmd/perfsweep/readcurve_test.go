package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLongHeader: what a file is must not depend on how long its first line is;
// labels can make that of a journal longer than any buffer.
func TestLongHeader(t *testing.T) {
	for _, length := range []int{0, 400, 4000, 70_000} {
		path := filepath.Join(t.TempDir(), "j.jsonl")
		journal := `{"type":"campaign","schema_version":1,"fingerprint":{"target":"http://x","gpus":1,"labels":{"image":"` + strings.Repeat("x", length) + `"}},` +
			`"plan":{"effort":"quick","max_concurrency_per_gpu":512,"repeats":2,"e_star":0.2,"slo_max_ttft_ms":2000,"max_runs":40}}` + "\n" +
			`{"type":"run","seq":1,"step":{"concurrency_per_gpu":8,"kind":"steady"},"result":{"concurrency":8,"window":{"output_tok_per_s":100}}}` + "\n"
		if err := os.WriteFile(path, []byte(journal), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"knee", path}, {"compare", path, path}} {
			var out, talk bytes.Buffer
			if code := run(context.Background(), args, nil, &out, &talk); code != exitInconclusive {
				t.Errorf("%s with a header of %d bytes and more: exit %d: %.200s", args[0], length, code, talk.String())
			}
		}
	}
}

// TestSidesThatTellGPUs: --gpus is for the side that does not tell.
func TestSidesThatTellGPUs(t *testing.T) {
	dir := t.TempDir()
	csv, folder := filepath.Join(dir, "c.csv"), filepath.Join(dir, "artifacts")
	summary, err := os.ReadFile("../../loadgen/aiperf/testdata/profile_export_aiperf.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string][]byte{
		csv: []byte("concurrency_per_gpu,output_tok_per_s_per_gpu,ttft_p50_ms,ttft_p99_ms\n2,190,50,60\n"), filepath.Join(folder, "profile_export_aiperf.json"): summary,
	} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		says string // "" = compared
	}{
		{[]string{folder, csv, "--gpus", "2"}, ""},
		{[]string{csv, folder, "--gpus", "2"}, ""},
		{[]string{csv, folder, "--gpus-b", "2"}, ""},
		{[]string{folder, folder, "--gpus", "2", "--gpus-b", "1"}, ""},
		{[]string{csv, csv, "--gpus", "2"}, "drop the flag"},
		{[]string{folder, csv, "--gpus", "2", "--gpus-b", "2"}, "--gpus-b: "},
		{[]string{csv, folder, "--gpus", "2", "--gpus-b", "2"}, "--gpus: "},
		{[]string{csv, folder}, "needs --gpus N"},
	} {
		var out, talk bytes.Buffer
		code := run(context.Background(), append([]string{"compare"}, c.args...), nil, &out, &talk)
		if want := map[bool]int{true: exitInconclusive, false: exitInput}[c.says == ""]; code != want || !strings.Contains(talk.String(), c.says) {
			t.Errorf("%v: exit %d, want %d: %s", c.args, code, want, talk.String())
		}
	}
}
