package sweep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
	"github.com/perfsweep/perfsweep/loadgen"
)

// ReadJournal reads a journal; a torn last line is tolerated, other damage is
// an error that names the line. Every run is judged again by what was recorded
// of it: a violation that the record claims stands, and one that it does not
// claim is added. What is missing counts as it does when it is measured:
//
//   - V1 fails a run whose workers nobody counted after one of its window whose
//     workers were; a journal without any count is not observed by V1, and one
//     that begins without counts is not up to the first.
//   - V2 and V4 fail a run without requests or without output tokens, and V2 one
//     of which more requests were measured than sent.
//   - V3 and V5 fail a steady run without Little's law or a series; V6 any run
//     without a series.
//   - V7 is not observed without the workers' shares, V8 not judged without CPU
//     accounting and without kernel timestamps.
func ReadJournal(path string) (Curve, error) {
	f, err := os.Open(path)
	if err != nil {
		return Curve{}, fmt.Errorf("open journal: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	c, _, err := readJournal(f, path)
	return c, err
}

// ParseJournal is ReadJournal of bytes that lie elsewhere than in a file; name
// stands for them in messages.
func ParseJournal(name string, b []byte) (Curve, error) {
	c, _, err := readJournal(bytes.NewReader(b), name)
	return c, err
}

// readJournal returns the curve and the length of the whole lines it was read
// from; a torn last line lies beyond.
func readJournal(r io.Reader, path string) (c Curve, good int64, err error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	begun := map[int64]int{} // which run began when
	seen := NewMeasured()
	ofRun := shapeOf(reflect.TypeFor[runLine]())
	var differ []string
	defer func() { c.Rejudged = tellRejudged(differ) }()
	for number := 1; ; number++ {
		line, whole, err := readLine(lines)
		at := func(err error) error { return fmt.Errorf("%s:%d: %w", path, number, err) }
		switch {
		case err != nil:
			return Curve{}, 0, at(err)
		case len(line) == 0 && !whole && number == 1, !whole && number == 1 && tornHeader(line):
			return Curve{}, 0, fmt.Errorf("%s: %w", path, ErrEmptyJournal)
		case !whole && number == 1:
			return Curve{}, 0, at(errors.New("this is not a perfsweep journal"))
		case !whole:
			return c, good, nil
		}
		// No JSON holds a zero byte: a disk that lost power left blocks of them.
		if number > 1 && bytes.IndexByte(line, 0) >= 0 && atEnd(lines) {
			return c, good, nil
		}
		if number == 1 {
			c, err = parseHeader(line)
		} else if isBridge(line) {
			err = parsePair(line, &c)
		} else {
			var differs string
			if differs, err = parseRun(line, &c, begun, seen); differs != "" {
				differ = append(differ, differs)
			}
			if err == nil {
				err = exactKeys(line, ofRun)
			}
		}
		if err != nil {
			return Curve{}, 0, at(err)
		}
		good += int64(len(line)) + 1
	}
}

// readLine returns the next line without its newline; whole is false where the
// file ends without one.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, false, fmt.Errorf("the line is longer than %d bytes", maxLine)
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return line, false, nil
		case err != nil:
			return nil, false, fmt.Errorf("read: %w", err)
		default:
			return line[:len(line)-1], true, nil
		}
	}
}

func atEnd(r *bufio.Reader) bool {
	_, err := r.Peek(1)
	return errors.Is(err, io.EOF)
}

// tornHeader reports whether b is the beginning of a header line whose writer
// was killed. Anything else without a newline is somebody's file, which must
// not be overwritten.
func tornHeader(b []byte) bool {
	if bytes.IndexByte(b, '\n') >= 0 || len(b) == 0 {
		return false
	}
	return bytes.HasPrefix(b, []byte(headerStart)) || strings.HasPrefix(headerStart, string(b))
}

// MaxGPUs bounds a fingerprint; concurrencies are multiplied with it.
const MaxGPUs = 1 << 20

func parseHeader(line []byte) (Curve, error) {
	var kind struct {
		Type          string `json:"type"`
		SchemaVersion int    `json:"schema_version"`
	}
	if err := json.Unmarshal(line, &kind); err != nil || kind.Type != lineCampaign {
		return Curve{}, errors.New("this is not a perfsweep journal: its first line is no campaign header")
	}
	switch {
	case kind.SchemaVersion > SchemaVersion:
		return Curve{}, fmt.Errorf("schema version %d is newer than the %d that this perfsweep reads; use a newer perfsweep", kind.SchemaVersion, SchemaVersion)
	case kind.SchemaVersion < 1:
		return Curve{}, fmt.Errorf("schema version %d does not exist", kind.SchemaVersion)
	}
	var h headerLine
	if err := json.Unmarshal(line, &h); err != nil {
		return Curve{}, fmt.Errorf("damaged header: %w", loadgen.PlainJSON(err))
	}
	if err := exactKeys(line, shapeOf(reflect.TypeFor[headerLine]())); err != nil {
		return Curve{}, fmt.Errorf("damaged header: %w", err)
	}
	if err := h.Plan.Validate(); err != nil {
		return Curve{}, fmt.Errorf("damaged header: %w", err)
	}
	if h.Fingerprint.GPUs < 1 || h.Fingerprint.GPUs > MaxGPUs {
		return Curve{}, fmt.Errorf("damaged header: %s", plural.Of(h.Fingerprint.GPUs, "GPU"))
	}
	if itl := h.Preflight.StreamITLMS; !measurable(itl) {
		return Curve{}, fmt.Errorf("damaged header: a single-stream ITL of %v ms is no measurement", itl)
	}
	if h.Fingerprint.Simulated != strings.HasPrefix(h.Fingerprint.Target, "sim:") {
		return Curve{}, fmt.Errorf("damaged header: target %q and simulated %v contradict each other", h.Fingerprint.Target, h.Fingerprint.Simulated)
	}
	if err := lawfulConfiguration(h.Configuration); err != nil {
		return Curve{}, fmt.Errorf("damaged header: %w", err)
	}
	if err := plainHeader(h); err != nil {
		return Curve{}, fmt.Errorf("damaged header: %w", err)
	}
	cleaned(reflect.ValueOf(&h.Preflight))
	cleaned(reflect.ValueOf(&h.Configuration))
	return Curve{Fingerprint: h.Fingerprint, Plan: h.Plan, Started: h.Started, Preflight: h.Preflight, ID: h.ID, Configuration: h.Configuration}, nil
}

// parseRun appends a run. Numbers must follow each other: a journal with a
// line lost or doubled is damaged, however well the rest reads. begun tells runs
// by their time, in nanoseconds; differs is what its record does not tell of its
// gates.
func parseRun(line []byte, c *Curve, begun map[int64]int, seen *Measured) (differs string, err error) {
	var r runLine
	if err := json.Unmarshal(line, &r); err != nil {
		return "", fmt.Errorf("damaged run: %w", loadgen.PlainJSON(err))
	}
	cleaned(reflect.ValueOf(&r.Run))
	n := r.Step.ConcurrencyPerGPU
	switch {
	case r.Type != lineRun:
		return "", fmt.Errorf("a line of type %q where a run was expected", r.Type)
	case r.Seq != len(c.Runs)+1:
		return "", fmt.Errorf("run %d where run %d was expected", r.Seq, len(c.Runs)+1)
	case n < minLevel || n > maxLevel:
		return "", fmt.Errorf("run %d at %d per GPU, outside %d..%d", r.Seq, n, minLevel, maxLevel)
	case r.Step.Kind != loadgen.Steady && r.Step.Kind != loadgen.Gate:
		return "", fmt.Errorf("run %d is of unknown kind %q", r.Seq, r.Step.Kind)
	case len(c.Runs) > 0 && !follows(c.Runs[len(c.Runs)-1], r.Run), len(c.Runs) == 0 && r.window() != 1:
		return "", fmt.Errorf("run %d is of window %d, deployment %.40q at %.40q: windows follow each other, and one is measured on one deployment", r.Seq, r.window(), r.Deployment, r.Target)
	}
	if err := consistent(r.Run, c.Fingerprint); err != nil {
		return "", fmt.Errorf("run %d: %w", r.Seq, err)
	}
	if err := dated(r.Run, c); err != nil {
		return "", fmt.Errorf("run %d: %w", r.Seq, err)
	}
	if at := r.Started.UnixNano(); !r.Started.IsZero() {
		if first, known := begun[at]; known {
			return "", fmt.Errorf("run %d is a copy of run %d: no two begin in the same nanosecond, and one must not count twice", r.Seq, first)
		}
		begun[at] = r.Seq
	}
	if seq, is := seen.Copied(r.Run); is {
		return "", fmt.Errorf("run %d is a copy of run %d: their numbers are the same to the last bit, all or so many as no two runs share, and one must not count twice", r.Seq, seq)
	}
	seen.add(r.Run)
	run, differs := rejudge(r.Run, c)
	c.Runs = append(c.Runs, run)
	return differs, nil
}
