package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/recipes"
)

const sidecarUsage = "file of provenance (default: OVERLAY.provenance.json beside the overlay)"

// sidecarEnding is that of a sidecar's name, after its overlay's.
const sidecarEnding = ".provenance.json"

// maxSidecar bounds what is read as a sidecar.
const maxSidecar = 4 << 20

// sidecarFile is where the provenance of an overlay lies: beside it, so that it
// is reviewed, moved and kept with it, and under a name that nothing takes for
// an overlay.
func sidecarFile(flag, overlay string) string {
	if flag != "" {
		return flag
	}
	return besideReal(overlay, sidecarEnding)
}

// besideReal names a file beside an overlay, and beside the one that is replaced
// where a link is named: whoever lints that one must find it.
func besideReal(overlay, ending string) string {
	if real, err := filepath.EvalSymlinks(overlay); err == nil {
		if info, err := os.Lstat(overlay); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			overlay = real
		}
	}
	return strings.TrimSuffix(strings.TrimSuffix(overlay, ".yaml"), ".yml") + ending
}

// readSidecar reads the provenance of an overlay; nil where the default file is
// not there.
func readSidecar(flag, overlay string) (*calibrate.Provenance, error) {
	b, err := sidecarBytes(flag, overlay)
	if b == nil || err != nil {
		return nil, err
	}
	p, err := calibrate.ParseProvenance(sidecarFile(flag, overlay), b)
	if err != nil {
		return nil, badInput(err)
	}
	return &p, nil
}

// sidecarBytes reads a sidecar as it lies there; nil where the default file does
// not. A file that was named must be there.
func sidecarBytes(flag, overlay string) ([]byte, error) {
	path := sidecarFile(flag, overlay)
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && flag == "" {
		return nil, nil
	}
	info, err := regularFile(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSidecar {
		return nil, badInputf("%s: %d bytes is too large for a sidecar; name the one that calibrate wrote with --sidecar", path, info.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the provenance: %w", err)
	}
	return append([]byte{}, b...), nil // an empty file is one
}

// writeOverlay writes an edit together with its sidecar. The overlay may have
// been changed while the target was measured, for hours maybe: that change must
// not be lost.
func (f *calibrateFlags) writeOverlay(ov overlayFile, edited []byte, r report.Calibration, p calibrate.Policy) error {
	sidecar, err := f.sidecarOf(ov, edited, r, p)
	if err == nil {
		err = f.data.prepare(f.overlay)
	}
	was := ov.src
	if f.data.fresh {
		was = nil
	}
	if err == nil {
		// The sidecar first: it knows which overlay it was to be written with.
		err = recipes.WriteFiles(
			recipes.File{Path: sidecarFile(f.sidecar, f.overlay), Content: sidecar},
			recipes.File{Path: f.overlay, Content: edited, Was: was, Fresh: f.data.fresh})
	}
	if changed := (*recipes.ChangedError)(nil); errors.As(err, &changed) {
		err = fmt.Errorf("%w; apply the diff by hand, or calibrate again from --journal without --target", err)
	}
	if err != nil {
		return fmt.Errorf("the calibration stands, but the overlay was not written: %w", err)
	}
	return nil
}

func (f *calibrateFlags) sidecarOf(ov overlayFile, edited []byte, r report.Calibration, p calibrate.Policy) ([]byte, error) {
	o, err := recipes.Parse(f.overlay, edited)
	if err != nil {
		return nil, err
	}
	gate, _, err := o.Gate()
	if err != nil {
		return nil, err
	}
	before, err := f.replaced()
	if err != nil {
		return nil, err
	}
	e := calibrate.Edit{Overlay: f.overlay, Old: ov.src, New: edited, Gate: gate, At: time.Now()}
	return calibrate.NewProvenance(r.Curve, r.Proposal, p, e, before).Encode()
}

// replaced reads the sidecar that a write replaces. One of ours that cannot be
// read is replaced where it is the overlay's own: the new one is the remedy. What
// is not ours is somebody else's file, whatever its name.
func (f *calibrateFlags) replaced() (*calibrate.Provenance, error) {
	path := sidecarFile(f.sidecar, f.overlay)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if f.sidecar != "" {
		p, err := readSidecar(f.sidecar, f.overlay)
		if err != nil {
			return nil, fmt.Errorf("--sidecar would replace that file; remove it or name another: %w", err)
		}
		return p, nil
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, badInputf("%s is a link, and what it points to would be replaced; remove it, or name the file with --sidecar", path)
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil, recipes.CheckWritable(path)
	}
	b, err := sidecarBytes("", f.overlay)
	if err != nil {
		return nil, err
	}
	if !calibrate.LooksLikeProvenance(b) {
		return nil, badInputf("%s is not a sidecar of perfsweep, and would be replaced; move it, or name another file with --sidecar", path)
	}
	p, err := calibrate.ParseProvenance(path, b)
	if err != nil {
		return nil, nil
	}
	return &p, nil
}

// sidecarReady tries the sidecar before any load.
func (f *calibrateFlags) sidecarReady() error {
	if _, err := f.replaced(); err != nil {
		return err
	}
	path := sidecarFile(f.sidecar, f.overlay)
	if filepath.Dir(path) != filepath.Dir(f.overlay) { // no folder but the overlay's is made
		return recipes.CheckWritable(path)
	}
	return checkWritable(path)
}
