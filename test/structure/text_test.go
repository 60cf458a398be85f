package structure

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// outOfPlace are strings that belong to somebody's machine or network and not
// into a repository. They are put together here, so that this file passes too.
var outOfPlace = []string{
	"/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/",
	"proxy." + "golang.org", "sum." + "golang.org", "pypi." + "org", "pythonhosted." + "org",
	"registry." + "npmjs.org", "crates." + "io", "deb." + "debian.org", "repo1." + "maven.org",
	"<<<<<" + "<< ", ">>>>>" + ">> ",
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
