package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// TestREADME runs each command of README.md's console blocks in the root of
// the repository and compares what it prints.
func TestREADME(t *testing.T) {
	t.Chdir("../..")
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(b), "```console\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("README.md has no console block")
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		for _, session := range strings.Split(block, "$ perfsweep ")[1:] {
			line, want, _ := strings.Cut(session, "\n")
			var out, errs bytes.Buffer
			code := run(context.Background(), strings.Fields(line), nil, &out, &errs)
			if got := strings.TrimRight(out.String(), "\n"); got != strings.TrimRight(want, "\n") || code != exitDone {
				t.Errorf("perfsweep %s: exit code %d, printed\n%s\n%s\nREADME.md says\n%s", line, code, got, errs.String(), want)
			}
		}
	}
}

// The README promises at most 200 lines.
func TestREADMELength(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(b, []byte("\n")); n > 200 {
		t.Errorf("README.md has %d lines; 200 is the limit", n)
	}
}
