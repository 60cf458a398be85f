package recipes

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file to be written.
type File struct {
	Path    string
	Content []byte
	// Was, unless nil, is what the file must hold until it is replaced.
	Was []byte
	// Fresh says that there must be no such file until it is made.
	Fresh bool
}

// ChangedError says that a file no longer holds what its new content was made of.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string { return e.Path + " was changed meanwhile" }

// WriteFiles replaces several files as one: each is complete on disk under
// another name before the first is renamed, and when a rename fails those
// already made are taken back. Renames are made in the order given; no file
// system renames two files at once, so that a crash between two leaves the
// first ones new and the others old, which the first file must let a reader
// recognise.
//
// A file that must not have changed is read again right before its rename, so
// that an editor's save is not lost. No file system compares and renames in one
// step: a save in the microseconds between the two still is. Writers of this
// program keep each other out: what one read, compares and renames is its own.
func WriteFiles(files ...File) error {
	unlock, err := lockFolders(files)
	if err != nil {
		return err
	}
	defer unlock()
	s, err := stageFiles(files)
	if err != nil {
		return err
	}
	if err := commitAll(s); err != nil {
		return err
	}
	for _, f := range s {
		if f.tmp != nil {
			_ = f.tmp.Close() // it was synced
			err = errors.Join(err, syncDir(filepath.Dir(f.target)))
		}
	}
	return err
}

// commitAll renames in order; when one fails those already made are taken back.
func commitAll(s []staged) error {
	for i := range s {
		if err := s[i].commit(); err != nil {
			for j := range s[:i] {
				err = errors.Join(err, s[j].takeBack())
			}
			return errors.Join(err, discard(s[i:]))
		}
	}
	return nil
}

// staged is a file that is complete beside the one it replaces.
type staged struct {
	path, target string
	was          []byte
	fresh        bool
	tmp          *os.File // nil where the file holds the content already
	existed      bool
	old          []byte
}

func stageFiles(files []File) ([]staged, error) {
	var out []staged
	for _, f := range files {
		s, err := stage(f)
		if err != nil {
			return nil, errors.Join(err, discard(out))
		}
		out = append(out, s)
	}
	return out, nil
}

func stage(f File) (staged, error) {
	target, old, err := replaceable(f.Path)
	if err != nil {
		return staged{}, err
	}
	s := staged{path: f.Path, target: target, was: f.Was, fresh: f.Fresh}
	if err := s.unchanged(); err != nil {
		return staged{}, err
	}
	if s.old, err = os.ReadFile(target); err == nil {
		s.existed = true
		if bytes.Equal(s.old, f.Content) {
			return s, nil // nothing to say, so the file keeps its time as well
		}
	}
	tmp, err := tempBeside(f.Path, target)
	if err != nil {
		return staged{}, err
	}
	if err := fill(tmp, f.Content, old); err != nil {
		return staged{}, errors.Join(fmt.Errorf("replacing %s: %w; the old file is untouched", f.Path, err), drop(tmp))
	}
	s.tmp = tmp
	return s, nil
}

// unchanged holds the file against what it must hold.
func (s *staged) unchanged() error {
	if _, err := os.Lstat(s.target); s.fresh && !errors.Is(err, fs.ErrNotExist) {
		return &ChangedError{s.path}
	}
	if s.was == nil {
		return nil
	}
	now, err := os.ReadFile(s.target)
	if err != nil {
		return fmt.Errorf("replacing %s: %w", s.path, err)
	}
	if !bytes.Equal(now, s.was) {
		return &ChangedError{s.path}
	}
	return nil
}

func (s *staged) commit() error {
	if err := s.unchanged(); err != nil {
		return err
	}
	if s.tmp == nil {
		return nil
	}
	if err := os.Rename(s.tmp.Name(), s.target); err != nil {
		return fmt.Errorf("replacing %s: %w; the old file is untouched", s.path, err)
	}
	return nil
}

// takeBack undoes a commit. What somebody else has put there since stays.
func (s *staged) takeBack() error {
	if s.tmp == nil {
		return nil
	}
	mine, err := s.tmp.Stat() // open, so that no other file can get its identity
	now, lerr := os.Lstat(s.target)
	_ = s.tmp.Close() // it was synced
	if err != nil || lerr != nil || !os.SameFile(mine, now) {
		return errors.Join(err, &ChangedError{s.path})
	}
	if !s.existed {
		return os.Remove(s.target)
	}
	back, err := stage(File{Path: s.path, Content: s.old})
	if err != nil {
		return err
	}
	if err := back.commit(); err != nil {
		return errors.Join(err, discard([]staged{back}))
	}
	if back.tmp != nil {
		_ = back.tmp.Close() // it was synced
	}
	return nil
}

// discard removes what was staged and not committed.
func discard(all []staged) error {
	var err error
	for _, s := range all {
		if s.tmp != nil {
			err = errors.Join(err, drop(s.tmp))
		}
	}
	return err
}
