package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/perfsweep/perfsweep/calibrate"
	"github.com/perfsweep/perfsweep/cmd/perfsweep/internal/report"
	"github.com/perfsweep/perfsweep/recipes"
)

const historyUsage = "append this check to a history, one JSON line a check, and look for a change in it"

// checkHistory is the file that check keeps its verdicts in.
type checkHistory struct {
	path string
	// fresh says that the file is to be made.
	fresh bool
}

// ready reads the history, and tries to write it, before the first request.
func (h *checkHistory) ready() error {
	if h.path == "" {
		return nil
	}
	_, err := os.Stat(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		h.fresh = true
		if err := recipes.CheckWritable(h.path); err != nil {
			return fmt.Errorf("--history: %w", err)
		}
		return nil
	}
	if _, err := h.read(); err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("--history cannot be written: %w; choose another place", err)
	}
	return f.Close()
}

func (h *checkHistory) read() ([]calibrate.HistoryPoint, error) {
	if _, err := regularFile(h.path); err != nil {
		return nil, fmt.Errorf("--history: %w", err)
	}
	f, err := os.Open(h.path)
	if err != nil {
		return nil, fmt.Errorf("--history: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	points, err := calibrate.ReadHistory(f)
	if err != nil {
		return nil, badInputf("--history %s: %w", h.path, err)
	}
	if err := calibrate.HistoryDates(points, time.Now()); err != nil {
		return nil, badInputf("--history %s: %w", h.path, err)
	}
	return points, nil
}

// keep appends a check, unless the history has these very runs already, and
// says what the history then tells. A check that measured nothing is no point of it.
func (h *checkHistory) keep(r *report.CheckReport) error {
	if h.path == "" {
		return nil
	}
	point, ok := calibrate.NewHistoryPoint(r.Curve, r.Result)
	if !ok {
		return nil
	}
	if err := calibrate.HistoryDates([]calibrate.HistoryPoint{point}, time.Now()); err != nil {
		return badInputf("the check stands, but --history was not written: %s; set this machine's clock", calibrate.OddDates(r.Curve, time.Now()))
	}
	var points []calibrate.HistoryPoint
	var err error
	if _, gone := os.Stat(h.path); !h.fresh || gone == nil {
		if points, err = h.read(); err != nil {
			return err
		}
	}
	known := func(p calibrate.HistoryPoint) bool { return p.Time.Equal(point.Time) && p.Series == point.Series }
	if !slices.ContainsFunc(points, known) {
		if err := appendLine(h.path, point); err != nil {
			return fmt.Errorf("the check stands, but --history was not written: %w", err)
		}
		points = append(points, point)
	}
	told := calibrate.JudgeHistory(points, point)
	r.Result.History = &told
	r.Result.Reasons = append(r.Result.Reasons, told.Reason)
	return nil
}

// appendLine writes a value as one line at the end of a file, whole or not at
// all, and waits until it is on the disk.
func appendLine(path string, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	before, err := f.Stat()
	if err == nil {
		var n int
		n, err = f.Write(append(line, '\n')) // one write, so that two checks do not mix
		if err == nil {
			err = f.Sync()
		} else if n > 0 {
			err = errors.Join(err, f.Truncate(before.Size()))
		}
	}
	return errors.Join(err, f.Close())
}
