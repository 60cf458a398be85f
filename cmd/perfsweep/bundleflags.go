package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/bundle"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

const bundleHelp = `--bundle FILE packs journal (with what the servers were heard to say), anchors,
fingerprint, and the whole proposal into one file, written or not, to be carried from a
cluster that reaches nothing: perfsweep verify computes every number of it again.
It holds no key, header or prompt file, and no overlay. --sign-key FILE signs it.
A bundle that is there is replaced only if it is of the same campaign. One with
--label cluster=NAME is of several clusters, and what --from will ask of it (gpu_product,
image, precision, gpus_per_worker) must be stated before the first run.`

// bundleFlags make a bundle of a calibration, or name those to write from.
type bundleFlags struct {
	file, signKey string
	from          []string

	key ed25519.PrivateKey
	was []byte // of the file when it was judged, nil where there was none
}

func (f *bundleFlags) bind(fl *pflag.FlagSet) {
	fl.StringVar(&f.file, "bundle", "", "pack the journal, the proposal and what it rests on into this file, to be carried and verified elsewhere")
	fl.StringArrayVar(&f.from, "from", nil, "write from this bundle instead of measuring; repeatable, or followed by more files: one a cluster")
	fl.StringVar(&f.signKey, "sign-key", "", "sign the bundle with this ed25519 key (PEM, PKCS#8)")
}

// ready refuses, before anything is measured, what could not be packed.
func (f *bundleFlags) ready(journal string) (err error) {
	switch {
	case f.file == "" && f.signKey == "":
		return nil
	case f.file == "":
		return badInputf("--sign-key signs a bundle: add --bundle FILE")
	case journal == "":
		return badInputf("--bundle packs the journal of the campaign: add --journal FILE")
	}
	if f.signKey != "" {
		if f.key, err = readSigningKey("--sign-key", f.signKey, bundle.ParsePrivateKey); err != nil {
			return err
		}
	}
	old, err := readBounded(f.file, bundle.MaxFile)
	if f.was = nil; err == nil {
		f.was = append([]byte{}, old...)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("--bundle: %w", err)
	case len(old) > 0 && !bundle.LooksLike(old):
		return badInputf("--bundle %s: the file is no bundle and would be replaced; name another", f.file)
	case len(old) > 0 && !bundleOf(old, journal):
		return badInputf("--bundle %s: that bundle is not of the campaign of %s, and would be lost; name another, or move it", f.file, journal)
	}
	return recipes.CheckWritable(f.file)
}

// bundleOf reports whether a bundle holds the campaign of a journal, at whatever
// length: its header names the campaign. One that cannot be read holds none.
func bundleOf(old []byte, journal string) bool {
	b, err := bundle.Read(old)
	if err != nil {
		return false
	}
	was, _, whole := bytes.Cut(b.Part(bundle.Journal), []byte("\n"))
	now, _, _ := bytes.Cut(headOf(journal), []byte("\n"))
	return whole && bytes.Equal(bytes.TrimSpace(was), bytes.TrimSpace(now))
}

// write packs what lies on the disk, not what this process remembers: only that can
// be computed again from the bundle.
func (a *app) writeBundle(f *bundleFlags, journal string, current recipes.Gate, p calibrate.Policy, others [2][]string) error {
	if f.file == "" {
		return nil
	}
	b, err := packBundle(f, journal, current, p, others)
	if err != nil {
		return fmt.Errorf("the calibration stands, but its bundle was not made: %w", err)
	}
	// What somebody else has put there since, for hours maybe, is not lost.
	err = recipes.WriteFiles(recipes.File{Path: f.file, Content: b, Was: f.was, Fresh: f.was == nil})
	if changed := (*recipes.ChangedError)(nil); errors.As(err, &changed) {
		err = fmt.Errorf("%w; calibrate again from --journal without --target, with another --bundle", err)
	}
	if err != nil {
		return fmt.Errorf("the calibration stands, but its bundle was not written: %w", err)
	}
	signed := "not signed"
	if f.key != nil {
		signed = "signed"
	}
	a.say("bundle %s: %d bytes, %s", f.file, len(b), signed)
	return nil
}

func packBundle(f *bundleFlags, journal string, current recipes.Gate, p calibrate.Policy, others [2][]string) ([]byte, error) {
	text, err := os.ReadFile(journal)
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	curve, err := judgedJournal(journal, text)
	if err != nil {
		return nil, err
	}
	// Verify comes to the same whenever it is run; dates are looked at by --from.
	p.Journal, p.Now = calibrate.SourceOf(journal, text), time.Time{}
	proposal, err := conclude(curve, current, p).record(curve, current, thisTool())
	if err != nil {
		return nil, err
	}
	fingerprint, err := fingerprintPart(curve)
	if err != nil {
		return nil, err
	}
	parts := []bundle.Part{{Name: bundle.Journal, Content: text}, {Name: bundle.Fingerprint, Content: fingerprint}, {Name: bundle.Proposal, Content: proposal}}
	for k, kind := range bundledJournals() {
		for i, path := range others[k] {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("reading a journal: %w", err)
			}
			parts = append(parts, bundle.Part{Name: bundle.NumberedName(kind, i), Content: text})
		}
	}
	return bundle.Pack(thisTool(), parts, f.key)
}

// bundledJournals are the kinds of journals beside the campaign's own.
func bundledJournals() [2]string { return [2]string{bundle.Anchors, bundle.Scaling} }

// judgedJournal is a journal as calibrate judges it without a target.
func judgedJournal(name string, text []byte) (sweep.Curve, error) {
	c, err := sweep.ParseJournal(name, text)
	if err != nil {
		return c, badInput(err)
	}
	// As many attempts as a gate rests on, also of a journal of --reconfirm.
	c.Plan.Confirm, c.Plan.Reconfirm, c.Plan.Window = true, false, c.Windows()
	return c, nil
}

func fingerprintPart(c sweep.Curve) ([]byte, error) {
	b, err := json.MarshalIndent(c.Fingerprint, "", " ")
	if err != nil {
		return nil, fmt.Errorf("recording the fingerprint: %w", err)
	}
	return append(b, '\n'), nil
}

// maxSigningKey bounds a file of a key.
const maxSigningKey = 64 << 10

// readSigningKey reads a key of a file; its errors quote nothing of it.
func readSigningKey[K any](flag, path string, parse func([]byte) (K, error)) (K, error) {
	var none K
	b, err := readBounded(path, maxSigningKey)
	if err != nil {
		return none, fmt.Errorf("%s: %w", flag, err)
	}
	k, err := parse(b)
	if err != nil {
		return none, badInputf("%s %s: %w", flag, path, err)
	}
	return k, nil
}

// readBounded reads a regular file that is no larger than a bound.
func readBounded(path string, most int64) ([]byte, error) {
	info, err := regularFile(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, badInputf("%s: %d bytes are more than the %d that such a file may have", path, info.Size(), most)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return b, nil
}
