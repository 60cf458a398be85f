package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLongMessages: a file of one long word does not fill the terminal.
func TestLongMessages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.jsonl")
	if err := os.WriteFile(path, []byte(`{"`+strings.Repeat("ü", 1<<20)+`": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, talk bytes.Buffer
	code := run(t.Context(), []string{"sweep", "--target", "sim:gb300", "--workload", path}, nil, &out, &talk)
	if text := talk.String(); code != exitInput || len(text) > maxMessage+100 || !strings.HasSuffix(text, "ü…\n") {
		t.Errorf("exit %d, %d bytes: …%.60q", code, len(text), text[max(0, len(text)-60):])
	}
}
