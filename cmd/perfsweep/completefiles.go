package main

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/bundle"
	"github.com/perfsweep/perfsweep/sweep"
)

// maxOffered bounds how many files of a folder are looked at while someone waits
// for a shell.
const maxOffered = 1000

// fileOffer offers the files that a command can read, and folders on the way.
func fileOffer(keep func(path string) bool) offer {
	return func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return filesLike(word, keep)
	}
}

// either offers words, and files.
func either(words []string, keep func(path string) bool) offer {
	return func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		files, how := filesLike(word, keep)
		return append(words[:len(words):len(words)], files...), how &^ cobra.ShellCompDirectiveNoSpace
	}
}

func folders(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// filesLike lists what begins like a word. Where folders are all that there is,
// the shell adds no blank: the name goes on.
func filesLike(word string, keep func(path string) bool) ([]string, cobra.ShellCompDirective) {
	how := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	dir, base := filepath.Split(word)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil, how // nothing to offer
	}
	var out []string
	for _, e := range entries[:min(len(entries), maxOffered)] {
		name := e.Name()
		if !strings.HasPrefix(name, base) || base == "" && strings.HasPrefix(name, ".") || strings.ContainsAny(name, "\t\n") {
			continue
		}
		info, err := os.Stat(dir + name)
		switch {
		case err != nil:
		case info.IsDir():
			out = append(out, dir+name+"/")
		case info.Mode().IsRegular() && keep(dir+name):
			out = append(out, dir+name)
			how = cobra.ShellCompDirectiveNoFileComp
		}
	}
	return out, how
}

func ending(path string) string { return strings.ToLower(filepath.Ext(path)) }

func hasEnding(want ...string) func(string) bool {
	return func(path string) bool {
		for _, w := range want {
			if ending(path) == w {
				return true
			}
		}
		return false
	}
}

func isYAML(path string) bool { return hasEnding(".yaml", ".yml")(path) }

// isJournal looks at how a file begins, whatever it is called.
func isJournal(path string) bool { return sweep.IsJournal(beginning(path)) }

// isBundle looks at how a file begins, likewise.
func isBundle(path string) bool { return bundle.LooksLike(beginning(path)) }

// beginning is how a file begins, nothing where it cannot be read.
func beginning(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // only read
	start := make([]byte, 64<<10)
	n, _ := io.ReadFull(f, start) // there may be less
	return start[:n]
}

// isCurve is what knee reads.
func isCurve(path string) bool { return hasEnding(".csv", ".json")(path) || isJournal(path) }

// isPrompts is a file of requests: JSON Lines that are no journal.
func isPrompts(path string) bool { return hasEnding(".jsonl")(path) && !isJournal(path) }
