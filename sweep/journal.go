package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// The kinds of journal lines.
const (
	lineCampaign = "campaign"
	lineRun      = "run"
)

// maxLine bounds a journal line. A run is a few kilobytes; this is hostile
// input, not a limit that a campaign comes near.
const maxLine = 4 << 20

// ErrEmptyJournal says that a journal holds no campaign yet: the file is empty,
// or its writer was killed while it wrote the first line. CreateJournal takes
// such a file.
var ErrEmptyJournal = errors.New("the journal holds no campaign yet")

// headerLine is the first line of a journal.
type headerLine struct {
	Type          string            `json:"type"`
	SchemaVersion int               `json:"schema_version"`
	Fingerprint   Fingerprint       `json:"fingerprint"`
	Plan          Plan              `json:"plan"`
	Started       time.Time         `json:"started"`
	Preflight     loadgen.Preflight `json:"preflight"`
	ID            string            `json:"id,omitempty"`
	Configuration *Configuration    `json:"configuration,omitempty"`
}

// headerStart is how every journal begins; see tornHeader.
const headerStart = `{"type":"campaign"`

// IsJournal reports whether a file that begins so is meant to be a journal,
// however the keys of its first line are spaced and ordered. What was put before
// that line, or happened behind its type, makes it a damaged one.
func IsJournal(start []byte) bool {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(start, []byte("\ufeff"))))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return false
		}
		var kind string
		if name, ok := key.(string); ok && strings.EqualFold(name, "type") && json.Unmarshal(value, &kind) == nil && kind == lineCampaign {
			return true
		}
	}
	return false
}

// runLine is every other line.
type runLine struct {
	Type string `json:"type"`
	Run
}

// LineTypes are the types of the first line of a journal, and of the runs and the
// pairs that follow, for whoever publishes their schema.
func LineTypes() (campaign, run, bridge reflect.Type) {
	return reflect.TypeFor[headerLine](), reflect.TypeFor[runLine](), reflect.TypeFor[bridgeLine]()
}

// Journal is an open journal file, locked against other writers.
type Journal struct {
	f    *os.File
	path string
	// broken is set when a write failed: the file may end in half a line, and
	// another line must not be glued to it.
	broken error
}

// CreateJournal starts a new journal and writes its header to the disk; it
// fails if path exists and holds anything but a torn header.
func CreateJournal(path string, head Curve) (*Journal, error) {
	j, err := openLocked(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := j.begin(head); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

func (j *Journal) begin(head Curve) error {
	start, err := io.ReadAll(io.LimitReader(j.f, maxLine))
	if err != nil {
		return fmt.Errorf("read journal %s: %w", j.path, err)
	}
	if len(start) > 0 && !tornHeader(start) {
		return fmt.Errorf("journal %s exists and is not empty: resume it, or name another file", j.path)
	}
	line := headerLine{
		Type: lineCampaign, SchemaVersion: SchemaVersion, Fingerprint: head.Fingerprint,
		Plan: head.Plan, Started: head.Started, Preflight: head.Preflight, ID: head.ID,
		Configuration: head.Configuration,
	}
	if err := plainHeader(line); err != nil { // it could not be read again
		return fmt.Errorf("journal %s: %w", j.path, err)
	}
	if err := j.cut(0); err != nil {
		return err
	}
	if err := j.append(line); err != nil {
		return err
	}
	return j.syncFolder()
}

// syncFolder makes the new name durable; without it a crash may lose the file.
func (j *Journal) syncFolder() error {
	dir, err := os.Open(filepath.Dir(j.path))
	if err != nil {
		return fmt.Errorf("sync folder of journal %s: %w", j.path, err)
	}
	defer func() { _ = dir.Close() }() // opened to be synced only
	// Some file systems cannot sync a folder; the file itself is on the disk.
	if err := dir.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("sync folder of journal %s: %w", j.path, err)
	}
	return nil
}

// ResumeJournal opens path for appending, cutting a torn last line off.
func ResumeJournal(path string) (*Journal, Curve, error) {
	j, err := openLocked(path, os.O_RDWR)
	if err != nil {
		return nil, Curve{}, err
	}
	c, good, err := readJournal(j.f, path)
	if err == nil {
		err = j.cut(good)
	}
	if err != nil {
		return nil, Curve{}, errors.Join(err, j.Close())
	}
	return j, c, nil
}

// openLocked opens and locks a journal. The lock comes before the first look:
// what is read under it cannot change.
func openLocked(path string, flag int) (*Journal, error) {
	f, err := os.OpenFile(path, flag, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("journal %s: %w", path, err), f.Close())
	}
	return &Journal{f: f, path: path}, nil
}

// cut shortens the file to size and continues there.
func (j *Journal) cut(size int64) error {
	if err := j.f.Truncate(size); err != nil {
		return fmt.Errorf("cut a torn line off journal %s: %w", j.path, err)
	}
	if _, err := j.f.Seek(size, io.SeekStart); err != nil {
		return fmt.Errorf("journal %s: %w", j.path, err)
	}
	return nil
}

// Append writes a run and returns when it is on the disk.
func (j *Journal) Append(r Run) error { return j.append(runLine{lineRun, r}) }

// AppendPair writes a pair and returns when it is on the disk.
func (j *Journal) AppendPair(p BridgePair) error { return j.append(bridgeLine{lineBridge, p}) }

func (j *Journal) append(line any) error {
	if j.broken != nil {
		return fmt.Errorf("journal %s cannot be continued after a failed write (resume it): %w", j.path, j.broken)
	}
	raw, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("journal %s: encode a line: %w", j.path, err)
	}
	if len(raw) >= maxLine {
		return fmt.Errorf("journal %s: a line of %d bytes exceeds the bound of %d", j.path, len(raw), maxLine)
	}
	if _, err := j.f.Write(append(raw, '\n')); err != nil {
		j.broken = err
		return fmt.Errorf("write journal %s (is the disk full?): %w", j.path, err)
	}
	if err := j.f.Sync(); err != nil {
		j.broken = err
		return fmt.Errorf("sync journal %s: %w", j.path, err)
	}
	return nil
}

// Close unlocks and closes the journal. Every line was synced when it was
// written.
func (j *Journal) Close() error {
	if err := j.f.Close(); err != nil {
		return fmt.Errorf("close journal %s: %w", j.path, err)
	}
	return nil
}
