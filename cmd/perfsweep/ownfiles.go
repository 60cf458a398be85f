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

// ownFiles refuses a command one of whose files would replace another one, or
// what another command of this program keeps. It stands before every command, so
// that no file is forgotten by one of them.
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
		if !w.written {
			continue
		}
		err := existing(w)
		if err == nil && !a.flagsOnly && !showsConfig(c) && !makesFolders(c, w.flag) {
			err = placeable(w)
		}
		if err == nil && replaces(c.Name(), w.flag) {
			err = replaceable(c.Name(), w)
		}
		if err != nil {
			return err
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
		written := writes(c, f.Name)
		for _, v := range values {
			// Any flag may name a file; one that is not there yet only if it is to be written.
			if info, err := os.Stat(v); written || err == nil && !info.IsDir() {
				uses = append(uses, fileUse{f.Name, v, written})
			}
		}
		switch f.Name {
		case "overlay":
			uses = append(uses, besideOverlay(c, values[0])...)
		case "ab": // its journal lies beside that of --target
			if j := c.Flags().Lookup("journal"); j != nil && j.Changed {
				uses = append(uses, fileUse{"ab", besideAB(j.Value.String()), true})
			}
		}
	})
	if c.Name() == "report" {
		if _, file, err := reportForm(a.output); err == nil && file != "" {
			uses = append(uses, fileUse{"output", file, true})
		}
	}
	if a.config != nil {
		uses = append(uses, fileUse{"config", a.config.file, false})
	}
	if c.Name() == "profile" {
		uses = append(uses, a.artifacts()...)
	}
	return append(uses, kubeconfigs(c)...)
}

// besideOverlay are those that belong to an overlay: its chain, and what lies beside
// it or, with --data, beside the candidate that is made of it.
func besideOverlay(c *cobra.Command, overlay string) []fileUse {
	var uses []fileUse
	for _, path := range chainFiles(c, overlay) {
		uses = append(uses, fileUse{"recipes", path, false})
	}
	if to := diverted(c.Flags(), overlay); to != "" {
		dir, _ := c.Flags().GetString("data")
		made := c.Name() != "check" // which reads the candidate, where there is one
		if _, err := os.Lstat(to); made || err == nil {
			overlay = to
		}
		uses = append(uses, fileUse{"data", to, made}, fileUse{"data", filepath.Join(dir, "registry.yaml"), made})
	}
	return append(uses,
		fileUse{"sidecar", sidecarFile("", overlay), writes(c, "sidecar")},
		fileUse{"approvals", approvalsFile("", overlay), writes(c, "approvals")})
}

// chainFiles are the files that an overlay inherits from, or may: what lies in
// its recipe folder where a chain is looked for.
func chainFiles(c *cobra.Command, overlay string) []string {
	folder := ""
	if f := c.Flags().Lookup("recipes"); f != nil {
		folder = f.Value.String()
	}
	root, err := recipeFolder(folder, overlay)
	if err != nil {
		return nil
	}
	var out []string
	for _, dir := range []string{root, filepath.Join(root, "overlays"), filepath.Join(root, "mixins"), filepath.Join(root, "validators")} {
		entries, err := os.ReadDir(dir)
		if err != nil { // it is said where the folder is read
			continue
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if ext := filepath.Ext(path); !e.IsDir() && (ext == ".yaml" || ext == ".yml") && !sameFile(path, overlay) {
				out = append(out, path)
			}
		}
	}
	return out
}

// kubeconfigs are the files that say where a cluster is, where no flag does.
func kubeconfigs(c *cobra.Command) []fileUse {
	if f := c.Flags().Lookup("kubeconfig"); f == nil || f.Changed {
		return nil
	}
	files := filepath.SplitList(os.Getenv("KUBECONFIG"))
	if home, err := os.UserHomeDir(); err == nil && len(files) == 0 {
		files = []string{filepath.Join(home, ".kube", "config")}
	}
	var out []fileUse
	for _, path := range files {
		out = append(out, fileUse{"kubeconfig", path, false})
	}
	return out
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
	if err != nil || sameFile(to, overlay) {
		return ""
	}
	return to
}

// writes reports whether a flag names a file that its command writes.
func writes(c *cobra.Command, flag string) bool {
	switch flag {
	case "ctrf", "junit", "history", "journal", "bundle":
		return true
	case "sidecar", "approvals":
		return c.Name() == "calibrate"
	case "overlay":
		return c.Name() == "calibrate" && c.Flags().Changed("write") && !c.Flags().Changed("data")
	}
	return false
}

// replaces reports whether a command writes the file of a flag anew, whatever it
// held: the others continue what they find there, or refuse it.
func replaces(command, flag string) bool {
	return flag == "ctrf" || flag == "junit" || command == "report" && flag == "output" || command == "profile"
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
