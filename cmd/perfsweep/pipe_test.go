//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNotARegularFile: a pipe without a writer must not hold the command.
func TestNotARegularFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	overlay := gatedOverlay(t)
	for _, args := range [][]string{
		{"knee", pipe},
		{"knee", os.DevNull},
		{"lint", pipe},
		{"sweep", "--target", "sim:gb300", "--journal", pipe},
		{"sweep", "--target", "sim:gb300", "--journal", os.DevNull},
		{"sweep", "--target", "sim:gb300", "--workload", pipe},
		{"calibrate", "--overlay", overlay, "--journal", pipe},
		{"check", "--overlay", overlay, "--journal", pipe},
		{"check", "--overlay", overlay, "--target", "sim:gb300", "--baseline", pipe},
	} {
		var out, talk bytes.Buffer
		code := run(context.Background(), args, nil, &out, &talk)
		if code != exitInput || !strings.Contains(talk.String(), "is not a regular file") {
			t.Errorf("%v: exit %d: %s", args, code, talk.String())
		}
	}
}

// gatedOverlay is an overlay with a gate to check.
func gatedOverlay(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "o.yaml")
	yaml := `kind: RecipeMetadata
metadata:
  name: o
spec:
  validation:
    performance:
      checks: [inference-perf]
      constraints:
        - name: inference-concurrency-per-gpu
          value: "128"
        - name: inference-throughput-per-gpu
          value: ">= 1"
`
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
