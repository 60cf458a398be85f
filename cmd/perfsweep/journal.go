package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/perfsweep/perfsweep/sweep"
)

// openJournal is the journal of a campaign, nil-safe: without --journal it
// does nothing.
type openJournal struct {
	path string
	j    *sweep.Journal
}

func (o *openJournal) close() {
	if o.j != nil {
		_ = o.j.Close() // every line was fsynced when it was written
	}
}

// openJournal opens --journal. An existing one is locked and returned as old.
func (c *campaign) openJournal() (*openJournal, *sweep.Curve, error) {
	o := &openJournal{path: c.flags.journal}
	if o.path == "" {
		return o, nil, nil
	}
	info, err := os.Stat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.flags.resume:
		return nil, nil, nothingToResume(o.path)
	case errors.Is(err, fs.ErrNotExist):
		return o, nil, o.tryFolder()
	case err != nil:
		return nil, nil, fmt.Errorf("--journal: %w", err)
	case info.IsDir():
		return nil, nil, badInputf("--journal %s is a folder; name a file", o.path)
	case info.Size() == 0:
		return o, nil, o.tryFile()
	}
	j, old, err := sweep.ResumeJournal(o.path)
	if errors.Is(err, sweep.ErrEmptyJournal) {
		return o, nil, nil // killed while it was being created
	}
	if err != nil {
		return nil, nil, journalError(err)
	}
	o.j, c.id = j, old.ID
	c.hasJournal(o.path)
	return o, &old, nil
}

func nothingToResume(path string) error {
	return badInputf("--resume: %s does not exist; drop --resume to start it", path)
}

// tryFolder proves that a journal can be made, leaving nothing behind. It tries
// another name: by the time it cleans up, the journal may be someone's.
func (o *openJournal) tryFolder() error {
	f, err := os.CreateTemp(filepath.Dir(o.path), ".perfsweep-*.tmp")
	if err != nil {
		return fmt.Errorf("--journal %s cannot be made: %w; choose another place", o.path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// tryFile proves that an empty file can become a journal.
func (o *openJournal) tryFile() error {
	f, err := os.OpenFile(o.path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("--journal cannot be written: %w; choose another place", err)
	}
	return f.Close()
}

// join writes the header of a new journal, or holds an old one against what is
// asked now: different fingerprints are never pooled. A further window may be
// of another deployment, and that one elsewhere; the header stays the first's.
func (o *openJournal) join(now sweep.Curve, old *sweep.Curve, elsewhere string) (sweep.Curve, error) {
	if o.path == "" {
		return now, nil
	}
	if old == nil {
		j, err := sweep.CreateJournal(o.path, now)
		if err != nil {
			return now, journalError(err)
		}
		o.j = j
		return now, nil
	}
	was := old.Fingerprint
	if f := &now.Fingerprint; now.Plan.Window > 1 || f.Deployment == "" {
		f.Deployment = was.Deployment
	}
	if elsewhere != "" {
		now.Fingerprint.Target = was.Target
	}
	if diff := old.Fingerprint.Diff(now.Fingerprint); len(diff) > 0 {
		return now, badInputf("%s was measured under another fingerprint (%s); use a new --journal", o.path, strings.Join(diff, "; "))
	}
	if diff := old.Plan.Diff(now.Plan); len(diff) > 0 {
		return now, badInputf("%s was planned differently (%s); use a new --journal or the same flags", o.path, strings.Join(diff, "; "))
	}
	if n := len(old.Runs); n > 0 && now.Plan.Window > 1 && old.Windows() == now.Plan.Window && old.Runs[n-1].Target != elsewhere {
		return now, badInputf("window %d of %s is measured at another --target; give that one, or begin window %d", now.Plan.Window, o.path, now.Plan.Window+1)
	}
	if last := old.Windows(); last > max(now.Plan.Window, 1) && !sweep.NextStep(now.Plan, old.Runs).Done {
		return now, badInputf("%s is in window %d, and what is missing in the first one cannot be measured any more; use a new --journal", o.path, last)
	}
	unwatched := now.Plan
	unwatched.MinWatch = old.Plan.MinWatch
	if now.Plan.MinWatch > 0 && old.Plan.MinWatch == 0 && !sweep.NextStep(unwatched, old.Runs).Done {
		return now, badInputf("the endpoint stood still before any load, which %s cannot hold any more: check with a new --journal, which then watches for a stall that recurs", o.path)
	}
	now.Plan = unwatched // as its preflight had it, which stays
	// The old calibration of prompt lengths keeps the prompts the same.
	now.Runs, now.Started, now.Preflight, now.ID, now.Rejudged = old.Runs, old.Started, old.Preflight, old.ID, old.Rejudged
	now.Configuration, now.Bridge = old.Configuration, old.Bridge // it was begun so
	return now, nil
}

// readJournal reads without measuring.
func readJournal(path string) (sweep.Curve, error) {
	c, err := sweep.ReadJournal(path)
	if err != nil {
		return c, journalError(err)
	}
	return c, nil
}

// journalError: a damaged or missing journal is the user's input, a disk that
// fails is the world.
func journalError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return badInput(err)
}
