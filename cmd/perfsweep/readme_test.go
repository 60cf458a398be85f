package main

import (
	"bytes"
	"os"
	"testing"
)

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
