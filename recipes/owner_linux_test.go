package recipes

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestWriteKeepsOwner: root that writes a file of somebody's does not take it
// away; others can only keep what is theirs.
func TestWriteKeepsOwner(t *testing.T) {
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 65534, 4242
	}
	path := filepath.Join(t.TempDir(), "o.yaml")
	writeOld(t, path, 0o640)
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "new", 0o640)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if is := info.Sys().(*syscall.Stat_t); int(is.Uid) != uid || int(is.Gid) != gid {
		t.Errorf("owner %d:%d, want %d:%d", is.Uid, is.Gid, uid, gid)
	}
}

// TestForeignFileIsWritable: a user who may replace somebody's file, but not give
// a file away, replaces it.
func TestForeignFileIsWritable(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "o.yaml")
	writeOld(t, path, 0o644)
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	unprivileged(t, func() {
		if err := WriteFile(path, []byte("new")); err != nil {
			t.Error(err)
		}
	})
	wantFile(t, path, "new", 0o644)
}

// TestLeftovers: temp files of killed writers go with the next write; those of a
// living one, young ones and files of another name stay.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "o.yaml")
	writeOld(t, path, 0o644)
	long := time.Now().Add(-2 * leftoverAge)
	for _, name := range []string{".o.yaml.17.tmp", ".o.yaml.18.tmp", ".o.yaml.1x.tmp", ".o.yaml..tmp", ".oo.yaml.17.tmp", ".o.yaml.17.tmp.bak"} {
		writeOld(t, filepath.Join(dir, name), 0o600)
		if err := os.Chtimes(filepath.Join(dir, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	writeOld(t, filepath.Join(dir, ".o.yaml.19.tmp"), 0o600)
	if err := os.Symlink(path, filepath.Join(dir, ".o.yaml.20.tmp")); err != nil {
		t.Fatal(err)
	}
	living, err := os.OpenFile(filepath.Join(dir, ".o.yaml.18.tmp"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	claim(living)
	if err := WriteFile(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	want := []string{".o.yaml..tmp", ".o.yaml.17.tmp.bak", ".o.yaml.18.tmp", ".o.yaml.19.tmp", ".o.yaml.1x.tmp", ".o.yaml.20.tmp", ".oo.yaml.17.tmp", "o.yaml"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := living.Close(); err != nil {
		t.Fatal(err)
	}
	if err := CheckWritable(path); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); slices.Contains(got, ".o.yaml.18.tmp") || len(got) != len(want)-1 {
		t.Errorf("after its end: %q", got)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range all {
		out = append(out, e.Name())
	}
	return out
}
