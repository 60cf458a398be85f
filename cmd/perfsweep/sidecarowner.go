package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfsweep/perfsweep/calibrate"
)

// ownSidecar refuses a --sidecar of another overlay: what it says would be taken
// for this one's, and calibrate would replace it. It stands before every command.
func ownSidecar(c *cobra.Command, args []string) error {
	f := c.Flags().Lookup("sidecar")
	if f == nil || f.Value.String() == "" {
		return nil
	}
	overlay := ""
	if o := c.Flags().Lookup("overlay"); o != nil {
		overlay = o.Value.String()
	} else if len(args) == 1 {
		overlay = args[0]
	}
	if overlay == "" { // which the command refuses, or it measures nothing for one
		return nil
	}
	if to := diverted(c.Flags(), overlay); to != "" {
		overlay = to
	}
	path := f.Value.String()
	if sameFile(path, sidecarFile("", overlay)) {
		return nil
	}
	if other := sidecarOwner(path); other != "" && !sameFile(other, overlay) && (writes(c, "sidecar") || !written(path, overlay)) {
		return badInputf("--sidecar %s lies beside the overlay %s and is that one's: name the sidecar of %s, or leave the flag out", path, other, overlay)
	}
	name, real := writtenFor(path), overlay
	if file, err := filepath.EvalSymlinks(overlay); err == nil {
		real = file
	}
	if name == "" || name == filepath.Base(overlay) || name == filepath.Base(real) || !writes(c, "sidecar") && written(path, overlay) {
		return nil
	}
	return badInputf("--sidecar %s was written with the overlay %s, not with %s: name the sidecar of this one, or another file", path, name, overlay)
}

// sidecarOwner is the overlay that a file is the sidecar of by its name, "" where
// there is none.
func sidecarOwner(path string) string {
	stem, is := strings.CutSuffix(path, sidecarEnding)
	if !is {
		return ""
	}
	for _, ending := range []string{".yaml", ".yml"} {
		if _, err := regularFile(stem + ending); err == nil {
			return stem + ending
		}
	}
	return ""
}

// writtenFor is the name of the overlay that a sidecar was written with, "" where
// there is no sidecar that can be read, which the command itself tells.
func writtenFor(path string) string {
	p, ok := provenanceAt(path)
	if !ok {
		return ""
	}
	return p.Overlay
}

// written reports whether a sidecar is of the very bytes of an overlay, which was
// moved or copied then.
func written(path, overlay string) bool {
	p, ok := provenanceAt(path)
	if !ok {
		return false
	}
	b, err := readOverlay(overlay)
	return err == nil && hexSHA256(b) == p.OverlaySHA256
}

func provenanceAt(path string) (p calibrate.Provenance, ok bool) {
	b, err := sidecarBytes(path, "")
	if err != nil {
		return p, false
	}
	p, err = calibrate.ParseProvenance(path, b)
	return p, err == nil
}
