package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/recipes"
)

// checkFiles are the test reports that check writes for a pipeline.
type checkFiles struct{ ctrf, junit string }

func (f *checkFiles) bind(fl *pflag.FlagSet) {
	fl.StringVar(&f.ctrf, "ctrf", "", "write the verdict to this file in the Common Test Report Format")
	fl.StringVar(&f.junit, "junit", "", "write the verdict to this file as JUnit XML")
}

// ready tries the files before the first request, and refuses to replace what
// the command reads.
func (f *checkFiles) ready(reads ...string) error {
	for i, path := range []string{f.ctrf, f.junit} {
		if path == "" {
			continue
		}
		flag := []string{"--ctrf", "--junit"}[i]
		others := reads
		if i == 0 {
			others = append([]string{f.junit}, reads...)
		}
		if err := ownFile(flag, path, others...); err != nil {
			return err
		}
		if err := recipes.CheckWritable(path); err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
	}
	return nil
}

// ownFile refuses to write to a file that the command uses otherwise; others
// may be empty.
func ownFile(flag, path string, others ...string) error {
	for _, other := range others {
		if other != "" && sameFile(path, other) {
			return badInputf("%s %s: the command uses that file for something else; name another", flag, path)
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	ia, erra := os.Stat(a)
	ib, errb := os.Stat(b)
	if erra == nil && errb == nil {
		return os.SameFile(ia, ib)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// save writes the reports. A check that ended in an error is written too: a
// file of an earlier run that is still there would be read as this one's.
func (f *checkFiles) save(c report.CheckOutcome) error {
	c.Start, c.Stop = c.Bounds(time.Now())
	one := func(path string, render func(report.CheckOutcome) ([]byte, error)) error {
		if path == "" {
			return nil
		}
		b, err := render(c)
		if err != nil {
			return err
		}
		return recipes.WriteFile(path, b)
	}
	return errors.Join(one(f.ctrf, report.CTRF), one(f.junit, report.JUnit))
}
