package recipes

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// unprivileged runs f as a user to whom permissions apply. The thread is not
// unlocked, so it ends with the goroutine and no other test gets it.
func unprivileged(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := syscall.Setfsuid(65534)
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "o.yaml")
	writeOld(t, path, 0o644)
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	unprivileged(t, func() {
		for _, err := range []error{CheckWritable(path), WriteFile(path, []byte("new"))} {
			if err == nil || !strings.Contains(err.Error(), "make the folder writable, or use one that is") || !strings.Contains(err.Error(), path) {
				t.Errorf("%v", err)
			}
		}
	})
	wantFile(t, path, "old", 0o644)
	if n := entries(t, dir); n != 1 {
		t.Errorf("%d entries left", n)
	}
}
