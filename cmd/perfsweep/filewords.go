package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// inWords is an error's text, with what the operating system says of a file in it
// as a sentence that says what to do. Every message goes through it: a library
// that opens files need not know how people are spoken to.
func inWords(err error) string {
	text := strings.TrimSpace(err.Error())
	var file *fs.PathError
	if !errors.As(err, &file) || file.Path == "" {
		return text
	}
	said := ofFile(file)
	if said == "" {
		return text
	}
	before, after, found := strings.Cut(text, file.Error())
	if !found {
		return text
	}
	if after != "" { // what follows says what to do
		said, _, _ = strings.Cut(said, "; ")
	}
	return before + said + after
}

// ofFile says what is wrong with a file, and then what to do; "" where the
// operating system's own words must do.
func ofFile(e *fs.PathError) string {
	folder := filepath.Dir(e.Path)
	_, noFolder := os.Stat(folder)
	switch {
	case errors.Is(e, fs.ErrNotExist) && errors.Is(noFolder, fs.ErrNotExist):
		return "there is no folder " + folder + "; look for a typing mistake in " + e.Path
	case errors.Is(e, fs.ErrNotExist):
		return "there is no file " + e.Path + didYouMean("", filepath.Base(e.Path), namesIn(folder)) + "; name one that is there"
	case errors.Is(e, fs.ErrPermission):
		return "this user may not " + e.Op + " " + e.Path + " (permission denied); change its mode or its owner, or name another"
	case errors.Is(e, syscall.EISDIR):
		return e.Path + " is a folder; name a file"
	case errors.Is(e, syscall.ENOTDIR):
		return "a part of " + e.Path + " is a file, not a folder; name another path"
	}
	return ""
}

// namesIn are the files of a folder, as far as they are looked at.
func namesIn(folder string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries[:min(len(entries), maxOffered)] {
		names = append(names, e.Name())
	}
	return names
}
