package recipes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile replaces path atomically (temp file, fsync, rename, same mode). A
// symbolic link stays a link: what it points to is replaced.
func WriteFile(path string, b []byte) error { return WriteFiles(File{path, b}) }

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
	return errors.Join(tmp.Close(), os.Remove(tmp.Name()))
}

// replaceable follows links and finds the mode that the new file gets.
func replaceable(path string) (target string, mode fs.FileMode, err error) {
	target, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := os.Lstat(path); lerr == nil {
			return "", 0, fmt.Errorf("replacing %s: the link points nowhere: %w", path, err)
		}
		return path, 0o644, nil
	}
	if err != nil {
		return "", 0, fmt.Errorf("replacing %s: %w", path, err)
	}
	info, err := os.Stat(target)
	if err != nil {
		return "", 0, fmt.Errorf("replacing %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return "", 0, fmt.Errorf("replacing %s: it is not a regular file", path)
	}
	return target, info.Mode().Perm(), nil
}

func tempBeside(path, target string) (*os.File, error) {
	dir := filepath.Dir(target)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(target)+".*.tmp")
	if err != nil {
		return nil, fmt.Errorf("replacing %s: no file can be made in %s: %w; make the folder writable, or use one that is", path, dir, err)
	}
	return tmp, nil
}

func fill(tmp *os.File, b []byte, mode fs.FileMode) error {
	_, err := tmp.Write(b)
	return errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
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
