package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/imports"
)

// readCurve reads a journal, a CSV, a folder of AIPerf's, or a summary of
// AIPerf's or GuideLLM's; what is in it tells which. gpus is --gpus, 0 when it
// was not given. notes are what must be known of an import.
func readCurve(path string, gpus int) (c report.Curve, notes []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return c, nil, badInput(err)
	}
	if info.IsDir() {
		return imported(path, gpus, func() (imports.Curve, error) { return imports.AIPerf(path, gpus) })
	}
	if _, err := regularFile(path); err != nil {
		return c, nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return c, nil, badInput(err)
	}
	defer func() { _ = f.Close() }() // only read
	br := bufio.NewReader(f)
	first, err := br.Peek(1)
	if err == io.EOF {
		return c, nil, badInputf("%s is empty", path)
	}
	if err != nil {
		return c, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	kind := imports.KindUnknown
	if first[0] == '{' {
		kind = imports.KindOf(br)
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return c, nil, fmt.Errorf("reading %s: %w", path, err)
		}
	}
	switch kind {
	case imports.KindAIPerf:
		return imported(path, gpus, func() (imports.Curve, error) { return imports.AIPerfSummary(path, f, gpus) })
	case imports.KindGuideLLM:
		return imported(path, gpus, func() (imports.Curve, error) { return imports.GuideLLM(path, f, gpus) })
	}
	if gpus != 0 {
		return c, nil, badInputf("--gpus: %s says itself what was measured per GPU; drop the flag", path)
	}
	if first[0] == '{' {
		j, err := readJournal(path)
		if err != nil {
			return c, nil, err
		}
		return report.Curve{Runs: j.Points(), All: j.Runs, Fingerprint: &j.Fingerprint, Preflight: &j.Preflight}, nil, nil
	}
	runs, err := imports.CSV(path, br)
	if err != nil {
		return c, nil, badInput(err)
	}
	return report.Curve{Runs: runs, All: sweep.FromPoints(runs)}, nil, nil
}

// imported is the curve of another tool.
func imported(path string, gpus int, read func() (imports.Curve, error)) (report.Curve, []string, error) {
	if gpus == 0 {
		return report.Curve{}, nil, badInputf("%s needs --gpus N: it does not tell how many GPUs were measured", path)
	}
	in, err := read()
	var disk *fs.PathError
	switch {
	case errors.As(err, &disk):
		return report.Curve{}, nil, err
	case err != nil:
		return report.Curve{}, nil, badInput(err)
	}
	return report.Curve{Runs: in.Runs, All: sweep.FromPoints(in.Runs)}, in.Notes, nil
}
