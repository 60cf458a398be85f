package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// anchors are the names that GitHub gives to the headings of a page.
func anchors(page string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		out = append(out, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return out
}

// Every link to this repository's own files leads somewhere, and every page can
// be reached from an index.
func TestLinks(t *testing.T) {
	files, err := Files(root)
	if err != nil {
		t.Fatal(err)
	}
	reached := []string{"README.md"}
	for _, file := range append(files, "CONTRIBUTING.md", "CHANGELOG.md") {
		page := readPage(t, file)
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			path, anchor, hasAnchor := strings.Cut(m[1], "#")
			to := file
			if path != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(file), path))
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", file, m[1], err)
				continue
			}
			if hasAnchor && !slices.Contains(anchors(readPage(t, to)), anchor) {
				t.Errorf("%s: %s has no heading #%s", file, to, anchor)
			}
			if filepath.Base(file) == "README.md" {
				reached = append(reached, to)
			}
		}
	}
	for _, file := range files {
		if !slices.Contains(reached, file) {
			t.Errorf("no README.md links to %s", file)
		}
	}
}

func readPage(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAnchors holds the names of headings against those that GitHub gives.
func TestAnchors(t *testing.T) {
	got := anchors("# Anchors (C7)\n## The evaluator's own deployment (C11)\n```\n# no\n```\n### a `b` c\n")
	if want := []string{"anchors-c7", "the-evaluators-own-deployment-c11", "a-b-c"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
