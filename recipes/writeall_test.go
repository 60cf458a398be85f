package recipes

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

func pair(dir string) (a, b string, files []File) {
	a, b = filepath.Join(dir, "a.json"), filepath.Join(dir, "b.yaml")
	return a, b, []File{{Path: a, Content: []byte("new a")}, {Path: b, Content: []byte("new b")}}
}

func TestWriteFiles(t *testing.T) {
	dir := t.TempDir()
	a, b, files := pair(dir)
	writeOld(t, b, 0o640)
	if err := WriteFiles(files...); err != nil {
		t.Fatal(err)
	}
	wantFile(t, a, "new a", 0o644)
	wantFile(t, b, "new b", 0o640)
	before, err := os.Stat(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteFiles(files...); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(b); err != nil || !os.SameFile(before, after) || entries(t, dir) != 2 {
		t.Errorf("writing the same again must change nothing (%v, %d files)", err, entries(t, dir))
	}
}

// What cannot be written stops everything before the first file changes.
func TestWriteFilesStagesAll(t *testing.T) {
	dir := t.TempDir()
	a, b, files := pair(dir)
	writeOld(t, a, 0o600)
	if err := os.Mkdir(b, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFiles(files...); err == nil {
		t.Fatal("a folder was replaced")
	}
	wantFile(t, a, "old", 0o600)
	if n := entries(t, dir); n != 2 {
		t.Errorf("%d entries, want the 2 that were there", n)
	}
}

// A second rename that fails takes the first one back.
func TestStagedTakeBack(t *testing.T) {
	dir := t.TempDir()
	a, b, files := pair(dir)
	writeOld(t, b, 0o640)
	s, err := stageFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s {
		if err := s[i].commit(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range s {
		if err := s[i].takeBack(); err != nil {
			t.Fatal(err)
		}
	}
	wantFile(t, b, "old", 0o640)
	if _, err := os.Stat(a); err == nil || entries(t, dir) != 1 {
		t.Error("a file that was not there before is still there")
	}
}

// Between the two renames a kill leaves the first file new and the second old,
// whole in either case.
func TestWriteFilesKilledBetween(t *testing.T) {
	dir := t.TempDir()
	a, b, files := pair(dir)
	writeOld(t, a, 0o600)
	writeOld(t, b, 0o600)
	s, err := stageFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, a, "old", 0o600)
	if err := s[0].commit(); err != nil {
		t.Fatal(err)
	}
	wantFile(t, a, "new a", 0o600)
	wantFile(t, b, "old", 0o600)
	if err := discard(s[1:]); err != nil {
		t.Fatal(err)
	}
}

// A save by somebody else, before the first rename or between the two, is kept,
// and the sidecar that was renamed is taken back.
func TestWriteFilesChangedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	a, b, files := pair(dir)
	writeOld(t, a, 0o600)
	writeOld(t, b, 0o600)
	files[1].Was = []byte("what was read")
	var changed *ChangedError
	if err := WriteFiles(files...); !errors.As(err, &changed) || changed.Path != b {
		t.Fatalf("changed before: %v", err)
	}
	files[1].Was = []byte("old")
	s, err := stageFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := commitAll(s); !errors.As(err, &changed) {
		t.Fatalf("changed between: %v", err)
	}
	wantFile(t, a, "old", 0o600)
	wantFile(t, b, "theirs", 0o600)
	if n := entries(t, dir); n != 2 {
		t.Errorf("%d entries, want 2", n)
	}
}

// What somebody else put where a file was renamed is not taken back.
func TestTakeBackOnlyOwn(t *testing.T) {
	for _, there := range []bool{true, false} {
		dir := t.TempDir()
		a, _, files := pair(dir)
		if there {
			writeOld(t, a, 0o600)
		}
		s, err := stageFiles(files)
		if err != nil {
			t.Fatal(err)
		}
		if err := s[0].commit(); err != nil {
			t.Fatal(err)
		}
		if err := WriteFile(a, []byte("theirs")); err != nil {
			t.Fatal(err)
		}
		var changed *ChangedError
		if err := s[0].takeBack(); !errors.As(err, &changed) || changed.Path != a {
			t.Errorf("taken back: %v", err)
		}
		if got, err := os.ReadFile(a); err != nil || string(got) != "theirs" {
			t.Errorf("%q, %v", got, err)
		}
		if err := discard(s[1:]); err != nil {
			t.Fatal(err)
		}
	}
}

// Of writers that started from one text one wins, with both of its files.
func TestWriteFilesAtOnce(t *testing.T) {
	const rounds, writers = 20, 6
	for round := range rounds {
		dir := t.TempDir()
		a, b, _ := pair(dir)
		fresh := round%2 == 1
		if !fresh {
			writeOld(t, b, 0o600)
		}
		errs := make([]error, writers)
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				text := []byte(strconv.Itoa(i))
				f := File{Path: b, Content: text, Was: []byte("old")}
				if fresh {
					f.Was, f.Fresh = nil, true
				}
				errs[i] = WriteFiles(File{Path: a, Content: text}, f)
			})
		}
		all.Wait()
		won := -1
		for i, err := range errs {
			var changed *ChangedError
			switch {
			case err == nil && won < 0:
				won = i
			case !errors.As(err, &changed):
				t.Fatalf("writer %d, after %d won: %v", i, won, err)
			}
		}
		for _, path := range []string{a, b} {
			if got, err := os.ReadFile(path); err != nil || string(got) != strconv.Itoa(won) {
				t.Fatalf("%s is of %q, %d won (%v)", path, got, won, err)
			}
		}
		if n := entries(t, dir); n != 2 {
			t.Fatalf("%d entries, want 2", n)
		}
	}
}

// A writer that keeps its lock is waited for, and not for ever.
func TestFolderLock(t *testing.T) {
	dir := t.TempDir()
	_, _, files := pair(dir)
	unlock, err := lockFolders(files)
	if err != nil {
		t.Fatal(err)
	}
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if err := lockWithin(d, 0); err == nil {
		t.Error("two have one lock")
	}
	unlock()
	if err := lockWithin(d, 0); err != nil {
		t.Errorf("given back: %v", err)
	}
}
