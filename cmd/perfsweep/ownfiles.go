package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fileUse is a file that a command reads or writes, or that belongs to the
// overlay which it was given, by the flag that names it.
type fileUse struct {
	flag, path string
	written    bool
}

// journalFlags name journals, which one command may read for several ends.
func journalFlags() []string { return []string{"journal", "baseline", "anchor", "scaling", "approve"} }

// ownFiles refuses a command one of whose files would replace another one. It
// stands before every command, so that no file is forgotten by one of them.
func (a *app) ownFiles(c *cobra.Command, args []string) error {
	uses := a.fileUses(c, args)
	for i, w := range uses {
		for j, other := range uses {
			if i == j || !w.written || w.flag == other.flag || slices.Contains(journalFlags(), w.flag) && slices.Contains(journalFlags(), other.flag) {
				continue
			}
			if sameFile(w.path, other.path) {
				return badInputf("--%s %s: the command uses that file for something else; name another", w.flag, w.path)
			}
		}
	}
	return nil
}

func (a *app) fileUses(c *cobra.Command, args []string) []fileUse {
	var uses []fileUse
	for _, arg := range args {
		uses = append(uses, fileUse{flag: "", path: arg})
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		written := writes(c.Name(), f.Name)
		for _, v := range values {
			// Any flag may name a file; one that is not there yet only if it is to be written.
			if info, err := os.Stat(v); written || err == nil && !info.IsDir() {
				uses = append(uses, fileUse{f.Name, v, written})
			}
		}
		if f.Name == "overlay" {
			overlay := values[0]
			uses = append(uses, fileUse{"overlay", overlay, false})
			if to := diverted(c.Flags(), overlay); to != "" {
				overlay = to
				uses = append(uses, fileUse{"overlay", to, true})
			}
			uses = append(uses,
				fileUse{"sidecar", sidecarFile("", overlay), writes(c.Name(), "sidecar")},
				fileUse{"approvals", approvalsFile("", overlay), writes(c.Name(), "approvals")})
		}
	})
	if c.Name() == "report" {
		if _, file, err := reportForm(a.output); err == nil && file != "" {
			uses = append(uses, fileUse{"output", file, true})
		}
	}
	return uses
}

// diverted is the candidate that --data makes of an overlay, "" without it, or
// where the command will say what is wrong with it.
func diverted(fl *pflag.FlagSet, overlay string) string {
	dir, _ := fl.GetString("data")
	folder, _ := fl.GetString("recipes")
	if dir == "" {
		return ""
	}
	to, err := candidate(dir, folder, overlay)
	if err != nil {
		return ""
	}
	return to
}

// writes reports whether a flag names a file that its command writes.
func writes(command, flag string) bool {
	switch flag {
	case "ctrf", "junit", "history", "journal", "bundle":
		return true
	case "sidecar", "approvals":
		return command == "calibrate"
	}
	return false
}

// sameFile compares two names, of files that may not be there yet.
func sameFile(a, b string) bool {
	ia, erra := os.Stat(a)
	ib, errb := os.Stat(b)
	if erra == nil && errb == nil {
		return os.SameFile(ia, ib)
	}
	return wholeName(a) == wholeName(b)
}

// wholeName is a name without links in its folders.
func wholeName(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		return filepath.Join(dir, filepath.Base(abs))
	}
	return abs
}
