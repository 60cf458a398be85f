package recipes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeOld(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || string(b) != content {
		t.Fatalf("%s holds %q, %v; want %q", path, b, err, content)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
		t.Fatalf("mode %v, %v; want %v", info.Mode(), err, mode)
	}
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "o.yaml")
	writeOld(t, path, 0o640)
	if err := CheckWritable(path); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "old", 0o640)
	if err := WriteFile(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "new", 0o640)
	fresh := filepath.Join(dir, "fresh.yaml")
	if err := WriteFile(fresh, []byte("x")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, fresh, "x", 0o644)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("writing the same bytes replaced the file (%v)", err)
	}
	if n := entries(t, dir); n != 2 {
		t.Errorf("%d entries left", n)
	}
}

func TestWriteFileFollowsLinks(t *testing.T) {
	dir, links := t.TempDir(), t.TempDir()
	target, link, chain := filepath.Join(dir, "o.yaml"), filepath.Join(links, "a"), filepath.Join(links, "b")
	writeOld(t, target, 0o600)
	for from, to := range map[string]string{link: target, chain: link} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	if err := CheckWritable(chain); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(chain, []byte("new")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, target, "new", 0o600)
	if to, err := os.Readlink(chain); err != nil || to != link {
		t.Errorf("the link became %q, %v", to, err)
	}
	if entries(t, dir) != 1 || entries(t, links) != 2 {
		t.Error("something was left behind")
	}
}

func TestWriteFileRefuses(t *testing.T) {
	dir := t.TempDir()
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink(filepath.Join(dir, "gone"), dangling); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		dir:                            "it is a folder; name a file",
		dangling:                       "points nowhere",
		filepath.Join(dir, "no", "o"):  "there is no folder",
		filepath.Join(dangling, "o"):   "there is no folder",
		filepath.Join(dir, "a\x00b"):   "invalid",
		strings.Repeat("a", 300) + "/": "",
	} {
		for _, err := range []error{CheckWritable(path), WriteFile(path, []byte("x"))} {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%q: %v, want %q", path, err, says)
			}
		}
	}
	if n := entries(t, dir); n != 1 {
		t.Errorf("%d entries left", n)
	}
}
