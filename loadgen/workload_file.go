package loadgen

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Bounds of a JSON Lines workload.
const (
	maxFileLine = 4 << 20
	maxFile     = 256 << 20
)

// filePrompt is one line: what to ask and how many tokens to ask for.
type filePrompt struct {
	Prompt    string `json:"prompt"`
	MaxTokens int    `json:"max_tokens"`
}

// load reads the file of the spec and records its digest.
func (w *Workload) load() error {
	f, err := os.Open(w.spec.File)
	if err != nil {
		return badInput("cannot read the workload: %v", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	digest := sha256.New()
	if err := w.read(io.TeeReader(io.LimitReader(f, maxFile+1), digest)); err != nil {
		return badInput("workload %s: %v", w.spec.File, err)
	}
	sum := hex.EncodeToString(digest.Sum(nil))
	if want := w.spec.FileSHA256; want != "" && want != sum {
		return badInput("workload %s has changed: its SHA-256 is %s, recorded was %s", w.spec.File, sum, want)
	}
	w.spec.FileSHA256 = sum
	return nil
}

// read takes the lines; blank ones are skipped.
func (w *Workload) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxFileLine)
	size, n := 0, 0
	for n = 1; lines.Scan(); n++ {
		size += len(lines.Bytes()) + 1
		if size > maxFile {
			return fmt.Errorf("line %d: the file is larger than %d MiB", n, maxFile>>20)
		}
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		p, err := parsePrompt(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		quoted, err := json.Marshal(p.Prompt)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		w.prompts = append(w.prompts, quoted)
		w.limits = append(w.limits, p.MaxTokens)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d is longer than %d MiB", n, maxFileLine>>20)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(w.prompts) == 0 {
		return errors.New(`no prompts: write one {"prompt": "…", "max_tokens": N} a line`)
	}
	return nil
}

func parsePrompt(line []byte) (filePrompt, error) {
	var p filePrompt
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf(`not {"prompt": "…", "max_tokens": N}: %w`, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return p, errors.New("more than one JSON value")
	}
	if p.Prompt == "" || p.MaxTokens < 1 || p.MaxTokens > maxTokens {
		return p, fmt.Errorf("needs a prompt and max_tokens between 1 and %d", maxTokens)
	}
	return p, nil
}
