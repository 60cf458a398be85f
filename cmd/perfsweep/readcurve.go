package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/imports"
)

// curveFile is a file or folder that holds a curve, known by its content.
type curveFile struct {
	path string
	kind curveKind
}

type curveKind int

const (
	curveCSV curveKind = iota
	curveJournal
	curveFolder   // of AIPerf
	curveAIPerf   // a summary
	curveGuideLLM // a report
)

// curveAt looks at what is at path: a journal, a CSV, a folder of AIPerf's, or
// a summary of AIPerf's or GuideLLM's.
func curveAt(path string) (curveFile, error) {
	c := curveFile{path: path}
	info, err := os.Stat(path)
	if err != nil {
		return c, badInput(err)
	}
	if info.IsDir() {
		c.kind = curveFolder
		return c, nil
	}
	if _, err := regularFile(path); err != nil {
		return c, err
	}
	f, err := os.Open(path)
	if err != nil {
		return c, badInput(err)
	}
	defer func() { _ = f.Close() }() // only read
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return c, badInputf("%s is empty; name a journal, a CSV, a folder of AIPerf or a report of GuideLLM", path)
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return c, fmt.Errorf("reading %s: %w", path, err)
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head[:n], []byte("\ufeff")), " \t\r\n")
	if !bytes.HasPrefix(text, []byte("{")) {
		return c, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return c, fmt.Errorf("reading %s: %w", path, err)
	}
	switch imports.KindOf(f) {
	case imports.KindAIPerf:
		c.kind = curveAIPerf
	case imports.KindGuideLLM:
		c.kind = curveGuideLLM
	default:
		c.kind = curveJournal
	}
	return c, nil
}

// tellsGPUs reports whether the file says what was measured per GPU.
func (c curveFile) tellsGPUs() bool { return c.kind == curveCSV || c.kind == curveJournal }

// readCurve reads the curve at path. gpus is --gpus, 0 when it was not given.
// notes are what must be known of an import.
func readCurve(path string, gpus int) (c report.Curve, notes []string, err error) {
	at, err := curveAt(path)
	if err != nil {
		return c, nil, err
	}
	if gpus != 0 && at.tellsGPUs() {
		return c, nil, badInputf("--gpus: %s says itself what was measured per GPU; drop the flag", path)
	}
	return at.read(gpus)
}

// read reads the curve; gpus is not looked at where the file tells.
func (c curveFile) read(gpus int) (report.Curve, []string, error) {
	switch c.kind {
	case curveFolder:
		return imported(c.path, gpus, func() (imports.Curve, error) { return imports.AIPerf(c.path, gpus) })
	case curveJournal:
		j, err := readJournal(c.path)
		if err != nil {
			return report.Curve{}, nil, err
		}
		var notes []string
		for _, s := range []string{j.Rejudged, sweep.WarmingUp(j.Runs)} {
			if s != "" {
				notes = append(notes, s)
			}
		}
		return report.Curve{Runs: j.Points(), All: j.Runs, Fingerprint: &j.Fingerprint, Preflight: &j.Preflight}, notes, nil
	}
	f, err := os.Open(c.path)
	if err != nil {
		return report.Curve{}, nil, badInput(err)
	}
	defer func() { _ = f.Close() }() // only read
	switch c.kind {
	case curveAIPerf:
		return imported(c.path, gpus, func() (imports.Curve, error) { return imports.AIPerfSummary(c.path, f, gpus) })
	case curveGuideLLM:
		return imported(c.path, gpus, func() (imports.Curve, error) { return imports.GuideLLM(c.path, f, gpus) })
	}
	runs, err := imports.CSV(c.path, f)
	if err != nil {
		return report.Curve{}, nil, badInput(err)
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
