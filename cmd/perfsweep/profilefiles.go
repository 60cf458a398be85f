package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/perfsweep/perfsweep/loadgen/aiperf"
	"github.com/perfsweep/perfsweep/recipes"
)

// artifacts are the files of one profile run. They are tried before the first
// request; each appears whole or not at all.
type artifacts struct {
	aiperf.Files
	records *os.File // grows under another name until the run has ended
}

// openArtifacts makes the folder and tries every file that is to be written.
func openArtifacts(o *aiperf.Options) (*artifacts, error) {
	a := &artifacts{Files: o.Files()}
	if err := os.MkdirAll(o.ArtifactDir, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder for the results: %w; name another with --output-artifact-dir", err)
	}
	for _, path := range []string{a.JSON, a.CSV, a.Ready} {
		if err := recipes.CheckWritable(path); err != nil {
			return nil, err
		}
	}
	// Who waits for this file waits for that of this run.
	if err := os.Remove(a.Ready); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("removing the mark of an earlier run: %w", err)
	}
	if !o.Records {
		return a, nil
	}
	if err := recipes.CheckWritable(a.Records); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(o.ArtifactDir, "."+filepath.Base(a.Records)+".*.tmp")
	if err != nil {
		return nil, fmt.Errorf("opening a file for the records: %w", err)
	}
	a.records = f
	return a, nil
}

// discard removes records that were not kept.
func (a *artifacts) discard() {
	if a.records != nil {
		_ = a.records.Close()           // what failed before this is what the user is told
		_ = os.Remove(a.records.Name()) // likewise
	}
}

// keepRecords gives the records their name.
func (a *artifacts) keepRecords() error {
	f := a.records
	err := errors.Join(f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), a.Records)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", a.Records, err)
	}
	a.records = nil
	return nil
}

// exportProfile writes the files and, on stdout, what was asked for.
func (a *app) exportProfile(rec *aiperf.Recorder, run aiperf.Run, out *artifacts) error {
	if out.records != nil {
		if err := rec.Flush(); err != nil {
			return fmt.Errorf("writing %s: %w", out.Records, err)
		}
		if err := out.keepRecords(); err != nil {
			return err
		}
	}
	asJSON, err := rec.JSON(run)
	if err != nil {
		return fmt.Errorf("making the summary: %w", err)
	}
	asCSV, err := rec.CSV(run)
	if err != nil {
		return fmt.Errorf("making the summary: %w", err)
	}
	for _, f := range []struct {
		path    string
		content []byte
	}{{out.JSON, asJSON}, {out.CSV, asCSV}, {out.Ready, aiperf.Ready(run.Cancelled)}} {
		if err := recipes.WriteFile(f.path, f.content); err != nil {
			return err
		}
	}
	shown, job := framed(run, asJSON)
	switch {
	case job:
	case a.output == "json":
		shown = asJSON
	case a.output == "csv":
		shown = asCSV
	default:
		shown = rec.Text(run)
	}
	if _, err := a.out.Write(shown); err != nil {
		return fmt.Errorf("printing the result: %w", err)
	}
	return nil
}
