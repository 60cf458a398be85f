package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/bundle"
	"github.com/perfsweep/perfsweep/sweep"
)

// maxHead bounds what is read of a file to tell what it is: the first line of a
// journal may be as long.
const maxHead = 4 << 20

// recipeKind is a line that says that a file belongs to a recipe tree.
var recipeKind = regexp.MustCompile(`\bkind["']?\s*:\s*["']?(RecipeMetadata|RecipeMixin|ValidatorCatalog|ComponentRegistry)\b`)

// headOf reads how a file begins, nothing where there is none that could be lost.
func headOf(path string) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // only read
	head, err := io.ReadAll(io.LimitReader(f, maxHead))
	if err != nil {
		return nil
	}
	return bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
}

// kept says what of ours a file holds that begins so, "" where nothing.
func kept(head []byte) string {
	has := func(key string) bool { return bytes.Contains(head, []byte(key)) }
	switch {
	case len(head) == 0:
		return ""
	case sweep.IsJournal(head):
		return "a journal"
	case bundle.LooksLike(head):
		return "a bundle"
	case calibrate.LooksLikeProvenance(head):
		return "the provenance of an overlay"
	case has(`"approvals"`) && has(`"journal_sha256"`):
		return "a file of approvals"
	case has(`"schema_version"`) && has(`"series_sha256"`):
		return "a history of checks"
	case recipeKind.Match(head):
		return "a recipe"
	}
	return ""
}

// form is what the file of a flag is written as, and whether a file that begins so
// is one.
func form(flag, path string) (name string, is func(head []byte) bool) {
	begins := func(with ...string) func([]byte) bool {
		return func(head []byte) bool {
			for _, w := range with {
				if bytes.HasPrefix(head, []byte(w)) {
					return true
				}
			}
			return false
		}
	}
	all := func(first func([]byte) bool, words ...string) func([]byte) bool {
		return func(head []byte) bool {
			for _, w := range words {
				if !bytes.Contains(head, []byte(w)) {
					return false
				}
			}
			return first(head)
		}
	}
	switch flag {
	case "ctrf":
		return "a report in the Common Test Report Format", all(begins("{"), `"reportFormat"`, `"CTRF"`)
	case "junit":
		return "JUnit XML", all(begins("<?xml", "<testsuite"), "<testsuite")
	}
	switch reportForms[strings.ToLower(filepath.Ext(path))] {
	case "html":
		return "a page of perfsweep", begins("<!DOCTYPE html>\n" + `<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"`)
	case "svg":
		return "a chart of perfsweep", all(begins("<svg "), `class="chart"`, `aria-label="`)
	case "md":
		return "a report of perfsweep", begins("## ✅ ", "## ⚠️ ", "## ❌ ")
	case "csv":
		return "a CSV of perfsweep", begins("concurrency_per_gpu,")
	case "json":
		return "a report of perfsweep", all(begins("{\n  \"schema_version\": "), "\n}")
	}
	return "a report of perfsweep", func(head []byte) bool {
		first, _, _ := bytes.Cut(head, []byte("\n"))
		return bytes.Contains(first, []byte("per GPU")) || bytes.HasPrefix(first, []byte("TTFT p99"))
	}
}

// replaceable refuses to write a file anew over one of another kind: whatever it
// is, nobody asked that it be lost.
func replaceable(command string, w fileUse) error {
	head := headOf(w.path)
	if what := kept(head); what != "" {
		return badInputf("--%s %s: there is %s in that file, which would be lost; name another, or move it", w.flag, w.path, what)
	}
	if command == "profile" || len(head) == 0 { // AIPerf's own files are made anew, as AIPerf does
		return nil
	}
	if name, is := form(w.flag, w.path); !is(head) {
		return badInputf("--%s %s: the file is there and is not %s, and would be lost; name another, or move it", w.flag, w.path, name)
	}
	return nil
}

// placeable refuses a name under which no file can be made: an hour of measuring must
// not end there.
func placeable(w fileUse) error {
	if info, err := os.Stat(w.path); err == nil && info.IsDir() {
		return badInputf("--%s %s is a folder; name a file", w.flag, w.path)
	}
	folder := filepath.Dir(w.path)
	switch info, err := os.Stat(folder); {
	case os.IsNotExist(err):
		return fmt.Errorf("--%s %s: there is no folder %s; make it, or name a file in another", w.flag, w.path, folder)
	case err == nil && !info.IsDir():
		return fmt.Errorf("--%s %s: %s is a file, not a folder; name another", w.flag, w.path, folder)
	}
	return nil // what else there may be is found where the file is tried
}

// makesFolders reports whether the folder of a file is made where it is missing, or
// follows from a file that was not named by its flag.
func makesFolders(c *cobra.Command, flag string) bool {
	return c.Name() == "profile" || flag == "ab" || flag == "data" || !c.Flags().Changed(flag) || c.Flags().Changed("data")
}

// existing refuses a name that is written and cannot be: a link to nothing.
func existing(w fileUse) error {
	if _, err := os.Lstat(w.path); err != nil {
		return nil
	}
	if _, err := os.Stat(w.path); os.IsNotExist(err) {
		return badInputf("--%s %s: the link points nowhere; name a file, or remove the link", w.flag, w.path)
	}
	return nil
}
