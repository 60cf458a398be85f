package structure

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// outOfPlace are strings that belong to somebody's machine and not into a
// repository. They are put together here, so that this file passes too.
var outOfPlace = []string{
	"/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/",
	"<<<<<" + "<< ", ">>>>>" + ">> ",
}

// registries are the hosts of the package registries in use, by the start of
// their SHA-256: a repository must not name them, this file included.
var registries = map[string]bool{
	"00a7dc5a0cc38858": true, "9da5f32d96412512": true, "a4aa2ac280bb8d1a": true, "8b5bb5eb9d758455": true,
	"0dc11026ac75c015": true, "789e46d79514e280": true, "e680c440a2e92079": true, "43c04ed1dabe979b": true,
}

// dotted is what could be a host name.
var dotted = regexp.MustCompile(`[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+`)

// hostIn finds one of the hosts, or one below it, and returns its place.
func hostIn(text []byte, hosts map[string]bool) (at int, found bool) {
	for _, m := range dotted.FindAllIndex(text, -1) {
		for host := string(text[m[0]:m[1]]); host != ""; {
			if hosts[hashOf(strings.ToLower(host))] {
				return m[0], true
			}
			_, host, _ = strings.Cut(host, ".")
		}
	}
	return 0, false
}

func hashOf(host string) string {
	sum := sha256.Sum256([]byte(host))
	return hex.EncodeToString(sum[:8])
}

// TestTextFiles holds every text file to what any editor and any reader needs:
// no path of a machine, no registry host, no conflict mark, no carriage return,
// and a newline at the end. Files below a testdata folder are exempt from the
// last two: some are there because they break the rule.
func TestTextFiles(t *testing.T) {
	for _, path := range files(t) {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(text, 0) >= 0 { // not text
			continue
		}
		for _, s := range outOfPlace {
			if i := bytes.Index(text, []byte(s)); i >= 0 {
				t.Errorf("%s:%d: %q does not belong into the repository", path, 1+bytes.Count(text[:i], []byte("\n")), s)
			}
		}
		if i, found := hostIn(text, registries); found {
			t.Errorf("%s:%d: a package registry's host does not belong into the repository", path, 1+bytes.Count(text[:i], []byte("\n")))
		}
		if strings.Contains(path, "testdata/") {
			continue
		}
		if bytes.Contains(text, []byte("\r")) {
			t.Errorf("%s has a carriage return", path)
		}
		if len(text) > 0 && text[len(text)-1] != '\n' {
			t.Errorf("%s does not end in a newline", path)
		}
	}
}

// A hash finds its host, alone and below it, in any case.
func TestHostIn(t *testing.T) {
	hosts := map[string]bool{hashOf("packages.example"): true}
	for text, want := range map[string]bool{
		"see https://packages.example/simple.": true, "files.Packages.Example/x": true, "a\npackages.example": true,
		"packages.example2": false, "example": false, "github.com/spf13/cobra v1.10.2": false, "": false,
	} {
		if _, got := hostIn([]byte(text), hosts); got != want {
			t.Errorf("%q: found %v", text, got)
		}
	}
}

// A linter in the main module would become a requirement of everyone who
// imports it.
func TestToolsStayOutOfTheModule(t *testing.T) {
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range []string{"honnef.co/go/tools", "kisielk/errcheck"} {
			if bytes.Contains(text, []byte(tool)) {
				t.Errorf("%s requires %s: keep it in tools/go.mod", name, tool)
			}
		}
	}
}
