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
		{"discover", "--kubeconfig", pipe},
		{"check", "--overlay", overlay, "--target", "sim:gb300", "--baseline", pipe},
	} {
		var out, talk bytes.Buffer
		code := run(context.Background(), args, nil, &out, &talk)
		if code != exitInput || !strings.Contains(talk.String(), "is not a regular file") {
			t.Errorf("%v: exit %d: %s", args, code, talk.String())
		}
	}
}

// TestKubeconfigPipe: nor does one that the environment names.
func TestKubeconfigPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "kubeconfig")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", pipe)
	var talk bytes.Buffer
	if code := run(t.Context(), []string{"discover"}, nil, &talk, &talk); code != exitInput || !strings.Contains(talk.String(), "is not a regular file") {
		t.Errorf("exit %d: %s", code, &talk)
	}
}

// TestStatusOfPipes: what cannot be read is a line of the listing, not its end.
func TestStatusOfPipes(t *testing.T) {
	dir := t.TempDir()
	overlay, err := os.ReadFile(gatedOverlay(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.yaml", "c.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), overlay, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.provenance.json", "b.yaml"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, talk bytes.Buffer
	code := run(t.Context(), []string{"recipes", "status", dir, "-o", "json"}, nil, &out, &talk)
	if n := strings.Count(out.String(), "is not a regular file"); code != exitInput || n != 2 || strings.Count(out.String(), `"invalid"`) < 2 || !strings.Contains(out.String(), "c.yaml") {
		t.Errorf("exit %d, %d lines of pipes: %s%s", code, n, &out, &talk)
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
