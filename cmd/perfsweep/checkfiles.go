package main

import (
	"errors"
	"fmt"
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

// ready tries the files.
func (f *checkFiles) ready() error {
	for i, path := range []string{f.ctrf, f.junit} {
		if path == "" {
			continue
		}
		if err := recipes.CheckWritable(path); err != nil {
			return fmt.Errorf("%s: %w", []string{"--ctrf", "--junit"}[i], err)
		}
	}
	return nil
}

// begin tries the files before the first request, and puts into them that the check
// came to no end: it may be killed, and the report of an earlier one that is still
// there would be read as its verdict.
func (f *checkFiles) begin(overlay string) error {
	if err := f.ready(); err != nil {
		return err
	}
	return f.save(report.CheckOutcome{CheckReport: report.CheckReport{Overlay: overlay}, Version: version, Err: errUnended})
}

var errUnended = errors.New("the check was begun and came to no end: it runs still, or was killed; check again")

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
