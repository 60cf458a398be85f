package recipes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// WriteFile replaces path atomically (temp file, fsync, rename; same owner,
// group and mode). A symbolic link stays a link: what it points to is replaced.
// Temp files beside it that a killed writer left are removed.
func WriteFile(path string, b []byte) error { return WriteFiles(File{Path: path, Content: b}) }

// CheckWritable reports whether WriteFile could replace path now, so that a
// calibration need not fail after hours of load. It leaves nothing behind.
func CheckWritable(path string) error {
	target, _, err := replaceable(path)
	if err != nil {
		return err
	}
	tmp, err := tempBeside(path, target)
	if err != nil {
		return err
	}
	return drop(tmp)
}

// drop removes a temp file that is not renamed.
func drop(tmp *os.File) error {
	err := os.Remove(tmp.Name())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, tmp.Close())
}

// replaceable follows links and finds the file whose owner, group and mode the
// new one gets, nil where there is none.
func replaceable(path string) (target string, old fs.FileInfo, err error) {
	target, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := os.Lstat(path); lerr == nil {
			return "", nil, fmt.Errorf("replacing %s: the link points nowhere: %w", path, err)
		}
		return path, nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("replacing %s: %w", path, err)
	}
	info, err := os.Stat(target)
	if err != nil {
		return "", nil, fmt.Errorf("replacing %s: %w", path, err)
	}
	switch {
	case info.IsDir():
		return "", nil, fmt.Errorf("writing %s: it is a folder; name a file", path)
	case !info.Mode().IsRegular():
		return "", nil, fmt.Errorf("replacing %s: it is not a regular file; name another", path)
	}
	return target, info, nil
}

func tempBeside(path, target string) (*os.File, error) {
	dir := filepath.Dir(target)
	clearLeftovers(dir, filepath.Base(target), time.Now())
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(target)+".*.tmp")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("writing %s: there is no folder %s; make it, or name a file in another", path, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("replacing %s: no file can be made in %s: %w; make the folder writable, or use one that is", path, dir, err)
	}
	claim(tmp)
	return tmp, nil
}

// fill completes a temp file, which stays open: the claim on it lasts as long.
func fill(tmp *os.File, b []byte, old fs.FileInfo) error {
	mode := fs.FileMode(0o644)
	var owned error
	if old != nil {
		mode, owned = old.Mode().Perm(), keepOwner(tmp, old)
	}
	_, err := tmp.Write(b)
	return errors.Join(err, owned, tmp.Chmod(mode), tmp.Sync())
}

// syncDir makes the rename itself durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return nil
}
