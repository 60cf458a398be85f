package recipes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// lockWait bounds how long a write waits for another one, which takes
// milliseconds: only a writer that was stopped keeps its lock for longer.
const lockWait = 20 * time.Second

// lockFolders keeps other writers of this program out of the folders that files
// are renamed in: a rename takes away a lock on a file itself, and a lock file
// would stay behind. The kernel drops the locks with the process, however it ends.
func lockFolders(files []File) (unlock func(), err error) {
	var dirs []string
	for _, f := range files {
		// Before the lock another writer may make and take back any of them, so
		// what is wrong with a file is judged by the staging, under the lock.
		target, err := filepath.EvalSymlinks(f.Path)
		if err != nil {
			target = f.Path
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(target))
		if err == nil {
			dir, err = filepath.Abs(dir)
		}
		if err != nil {
			continue // no file can be made there, which staging says
		}
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs) // in one order, so that no two wait for each other
	var held []*os.File
	unlock = func() {
		for _, d := range held {
			_ = d.Close() // only locked
		}
	}
	for _, dir := range slices.Compact(dirs) {
		d, err := os.Open(dir)
		if err != nil {
			continue
		}
		held = append(held, d)
		if err := lockWithin(d, lockWait); err != nil {
			unlock()
			return nil, fmt.Errorf("replacing files in %s: %w", dir, err)
		}
	}
	return unlock, nil
}

// lockWithin takes a lock, or says that another process would not give it back.
func lockWithin(d *os.File, wait time.Duration) error {
	for end := time.Now().Add(wait); ; time.Sleep(2 * time.Millisecond) {
		if tryLock(d) {
			return nil
		}
		if !time.Now().Before(end) {
			return errors.New("another process has been writing there for too long; end it, or try again")
		}
	}
}
