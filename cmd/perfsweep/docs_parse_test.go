package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/test/docs"
)

// TestDocsParse holds each command that is not run here against the flags, the
// files and the Makefile that it names.
func TestDocsParse(t *testing.T) {
	pages, err := docs.Pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	// What the pages call besides perfsweep need not be here.
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "aiperf"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, p := range pages {
		t.Chdir(t.TempDir())
		layOut(t, repo, p)
		for _, b := range p.Blocks {
			for _, c := range b.Commands {
				words, err := docs.Words(c.Text)
				if err == nil && (b.Class == docs.Cluster || words[0] == "perfsweep") {
					err = parses(repo, words, true)
				}
				if err != nil {
					t.Errorf("%s:%d: %s: %v", p.File, c.Line, c.Text, err)
				}
			}
		}
		for _, span := range p.Spans {
			words := strings.Fields(strings.ReplaceAll(span.Text, "'", ""))
			if len(words) > 1 && words[0] == "perfsweep" && words[1] != "COMMAND" {
				if err := parses(repo, words, false); err != nil {
					t.Errorf("%s:%d: %s: %v", p.File, span.Line, span.Text, err)
				}
			}
		}
	}
}

// parses says what is wrong with a command; whole asks for its arguments too.
func parses(repo string, words []string, whole bool) error {
	switch words[0] {
	case "perfsweep":
		return parsesPerfsweep(words[1:], whole)
	case "make":
		makefile, err := os.ReadFile(filepath.Join(repo, "Makefile"))
		if err == nil && !bytes.Contains(makefile, []byte("\n"+words[1]+":")) {
			err = fmt.Errorf("the Makefile has no target %s", words[1])
		}
		return err
	case "kubectl", "podman":
		for i, w := range words {
			if w != "-f" || words[i-1] == "logs" {
				continue
			}
			if _, err := os.Stat(filepath.Join(repo, words[i+1])); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("nobody knows what %s would do", words[0])
}

func parsesPerfsweep(args []string, whole bool) error {
	a := &app{args: args}
	root := a.root()
	root.InitDefaultCompletionCmd()
	c, rest, err := root.Find(spreadProfile(root, args))
	if err != nil {
		return err
	}
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if !whole {
		return nil
	}
	if slices.Contains([]string{"sweep", "calibrate", "check"}, c.Name()) && c.Parent() == root && !c.Flags().Changed("approve") { // they judge how their flags go together
		var said bytes.Buffer
		a := &app{out: &said, err: &said, args: args, flagsOnly: true}
		if code := a.execute(context.Background()); code != exitDone {
			return fmt.Errorf("exit code %d: %s", code, &said)
		}
	}
	return c.ValidateArgs(c.Flags().Args())
}

// foreign are flags of other programs that the pages speak of.
var foreign = []string{"max-num-seqs", "num-gpu-blocks-override"} // Dynamo's

// TestDocsFlags: a flag that a page names is one of some command.
func TestDocsFlags(t *testing.T) {
	pages, err := docs.Pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	known := slices.Clone(foreign)
	root := (&app{}).root()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		known = append(known, flagNames(c)...)
		for _, sub := range c.Commands() {
			known = append(known, flagNames(sub)...)
		}
	}
	for _, p := range pages {
		for _, span := range p.Spans {
			name, ok := strings.CutPrefix(span.Text, "--")
			if !ok {
				continue
			}
			name = name[:max(0, len(name)-len(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz0123456789-")))]
			if !slices.Contains(known, name) {
				t.Errorf("%s:%d: no command has a flag --%s", p.File, span.Line, name)
			}
		}
	}
}

func flagNames(c *cobra.Command) []string {
	names := []string{"help", "version"}
	add := func(f *pflag.Flag) { names = append(names, f.Name) }
	c.Flags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	return names
}
