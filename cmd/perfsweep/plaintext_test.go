package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlainText(t *testing.T) {
	for in, want := range map[string]string{
		"knee\t8\n":           "knee\t8\n",
		"≤ 5 µs — “x”":        "≤ 5 µs — “x”",
		"\x1b[31mred\x07\x7f": "?[31mred??",
		"\u009b31m":           "?31m",
		"a\rb\x00":            "a?b?",
		"\u202egnp.exe":       "?gnp.exe",
	} {
		var out bytes.Buffer
		n, err := plainText{&out}.Write([]byte(in))
		if got := out.String(); got != want || n != len(in) || err != nil {
			t.Errorf("%q: wrote %q, %d, %v; want %q", in, got, n, err, want)
		}
	}
}

// TestTooManyGPUs: a product that overflowed would measure few streams and
// divide by many GPUs.
func TestTooManyGPUs(t *testing.T) {
	var out, talk bytes.Buffer
	args := []string{"sweep", "--target", "http://127.0.0.1:1", "--levels", "4", "--gpus", "4611686018427387905"}
	if code := run(context.Background(), args, nil, &out, &talk); code != exitInput || !strings.Contains(talk.String(), "--gpus") {
		t.Errorf("exit %d: %s", code, talk.String())
	}
}

// TestHostileJournalOnTerminal: what a journal claims to have observed is shown
// to a human.
func TestHostileJournalOnTerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	journal := `{"type":"campaign","schema_version":1,"fingerprint":{"target":"http://x","gpus":1},` +
		`"plan":{"effort":"quick","max_concurrency_per_gpu":512,"repeats":2,"e_star":0.2,"slo_max_ttft_ms":2000,"max_runs":40}}` + "\n" +
		`{"type":"run","seq":1,"step":{"concurrency_per_gpu":8,"kind":"steady"},` +
		`"violations":[{"gate":"V6","observed":"\u001b]0;owned\u0007","threshold":"\u009b31m"}]}` + "\n"
	if err := os.WriteFile(path, []byte(journal), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, talk bytes.Buffer
	if code := run(context.Background(), []string{"knee", path}, nil, &out, &talk); code != exitInconclusive {
		t.Fatalf("exit %d: %s", code, talk.String())
	}
	if !strings.Contains(out.String(), "owned") || strings.ContainsAny(out.String(), "\x1b\x07\u009b") {
		t.Errorf("a control sequence reached the terminal, or the violation did not: %q", out.String())
	}
}
