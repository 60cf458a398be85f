package main

import (
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// edit replaces the first occurrence of a text in a file, which must be there:
// edit FILE OLD NEW.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	old := ts.ReadFile(args[0])
	if !strings.Contains(old, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(old, args[1], args[2], 1)), 0o644))
}
