package recipes

import (
	"bytes"
	_ "embed" // the record is part of the program: a replay needs no file
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// KnownRun is a run whose state is known from outside of its numbers. An empty
// or zero field is not recorded.
type KnownRun struct {
	Row               int     `json:"row"` // of the table of runs; a row may hold several
	Run               string  `json:"run,omitempty"`
	Accelerator       string  `json:"accelerator"`
	Service           string  `json:"service,omitempty"`
	GPUs              int     `json:"gpus,omitempty"`
	ConcurrencyPerGPU int     `json:"concurrency_per_gpu,omitempty"`
	Model             string  `json:"model,omitempty"`
	Image             string  `json:"image,omitempty"`
	Router            string  `json:"router,omitempty"`
	TokPerSec         float64 `json:"output_tok_per_s,omitempty"` // total
	TTFTP99MS         float64 `json:"ttft_p99_ms,omitempty"`
	Bad               bool    `json:"bad"`
	Fault             string  `json:"fault,omitempty"` // what was wrong with a bad one
	Source            string  `json:"source"`
	Date              string  `json:"date,omitempty"`
	Note              string  `json:"note,omitempty"`
}

// State is what was known of the run: healthy, or its fault.
func (k KnownRun) State() string {
	switch {
	case k.Bad && k.Fault != "":
		return k.Fault
	case k.Bad:
		return "bad"
	}
	return "healthy"
}

//go:embed public/runs.csv
var publicRuns []byte

// PublicRuns is the public record of AICR's inference check: every published
// run, each with its source.
func PublicRuns() ([]KnownRun, error) { return ReadRuns(bytes.NewReader(publicRuns)) }

func runColumns() []string {
	return []string{"row", "run", "accelerator", "service", "gpus", "concurrency_per_gpu", "model", "image", "router",
		"output_tok_per_s", "ttft_p99_ms", "state", "fault", "source", "date", "note"}
}

// maxRuns bounds what a file of runs may hold.
const maxRuns = 10000

// ReadRuns reads a CSV of known runs: a header with the columns of the public
// record, then a run a line; lines that begin with # are comments. State is
// healthy or bad. An empty cell is not recorded, and a figure that is there must
// be greater than 0.
func ReadRuns(r io.Reader) ([]KnownRun, error) {
	cr := csv.NewReader(r)
	cr.Comment, cr.ReuseRecord = '#', true
	header, err := cr.Read()
	if err != nil {
		return nil, fmt.Errorf("reading known runs: no header: %w", err)
	}
	if want := runColumns(); !slices.Equal(header, want) {
		return nil, fmt.Errorf("reading known runs: the header is %q; write %s", clip(strings.Join(header, ",")), strings.Join(want, ","))
	}
	var out []KnownRun
	for {
		cells, err := cr.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading known runs: %w", err)
		}
		line, _ := cr.FieldPos(0)
		run, err := readRun(cells)
		if err != nil {
			return nil, fmt.Errorf("reading known runs: line %d: %w", line, err)
		}
		if out = append(out, run); len(out) > maxRuns {
			return nil, fmt.Errorf("reading known runs: more than %d; split the file", maxRuns)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("reading known runs: there is no run after the header")
	}
	return out, nil
}

// readRun reads the cells in the order of runColumns.
func readRun(c []string) (KnownRun, error) {
	k := KnownRun{Run: c[1], Accelerator: c[2], Service: c[3], Model: c[6], Image: c[7], Router: c[8],
		Bad: c[11] == "bad", Fault: c[12], Source: c[13], Date: c[14], Note: c[15]}
	for _, f := range []struct {
		cell string
		name string
		to   *int
	}{{c[0], "row", &k.Row}, {c[4], "gpus", &k.GPUs}, {c[5], "concurrency_per_gpu", &k.ConcurrencyPerGPU}} {
		n, p := readCount(f.cell)
		if p != nil {
			return k, fmt.Errorf("%s: %s; %s", f.name, p.msg, p.remedy)
		}
		*f.to = n
	}
	for _, f := range []struct {
		cell string
		name string
		to   *float64
	}{{c[9], "output_tok_per_s", &k.TokPerSec}, {c[10], "ttft_p99_ms", &k.TTFTP99MS}} {
		if f.cell == "" {
			continue
		}
		v, err := strconv.ParseFloat(f.cell, 64)
		if err != nil || !positive(v) || v > math.MaxInt32 {
			return k, fmt.Errorf("%s: %q is no figure; leave the cell empty where none is recorded", f.name, clip(f.cell))
		}
		*f.to = v
	}
	switch {
	case k.Row == 0 || k.Accelerator == "" || k.Source == "":
		return k, fmt.Errorf("row, accelerator and source are needed: a run without a source is no record")
	case c[11] != "healthy" && c[11] != "bad":
		return k, fmt.Errorf("state is %q; write healthy or bad", clip(c[11]))
	case !k.Bad && k.Fault != "":
		return k, fmt.Errorf("a healthy run has the fault %q; write bad, or drop the fault", clip(k.Fault))
	}
	return k, nil
}
