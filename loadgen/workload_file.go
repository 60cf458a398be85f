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
	"unicode/utf8"
)

// Bounds of a JSON Lines workload.
const (
	maxFileLine = 4 << 20
	maxFile     = 256 << 20
)

// filePrompt is one line: what to ask, as a JSON string or an array of
// messages, and how many tokens to ask for.
type filePrompt struct {
	input []byte
	limit int
	line  int
}

// promptLine is a line as it is written. One of the first three says what to
// ask: a prompt, AIPerf's single_turn form of it, or messages. One of the last
// two, or the campaign's OSL, says how many tokens to ask for.
type promptLine struct {
	Prompt       *string           `json:"prompt"`
	Text         *string           `json:"text"`
	Messages     []json.RawMessage `json:"messages"`
	Type         string            `json:"type"`
	MaxTokens    *int              `json:"max_tokens"`
	OutputLength *int              `json:"output_length"`
}

const lineForms = `{"prompt": "…"}, {"text": "…"} or {"messages": […]}, with "max_tokens" or "output_length"`

// load reads the file of the spec and records its digest.
func (w *Workload) load() error {
	f, err := os.Open(w.spec.File)
	if err != nil {
		return badInput("cannot read the workload: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	digest := sha256.New()
	if w.lines, err = readPrompts(io.TeeReader(io.LimitReader(f, maxFile+1), digest), w.spec.OSL); err != nil {
		return badInput("workload %s:%v", w.spec.File, err)
	}
	sum := hex.EncodeToString(digest.Sum(nil))
	if want := w.spec.FileSHA256; want != "" && want != sum {
		return badInput("workload %s has changed: its SHA-256 is %s, recorded was %s", w.spec.File, sum, want)
	}
	w.spec.FileSHA256 = sum
	return nil
}

// readPrompts takes the lines; blank ones are skipped. An error begins with
// the number of its line.
func readPrompts(r io.Reader, osl int) ([]filePrompt, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxFileLine)
	var out []filePrompt
	size, n := 0, 0
	for n = 1; lines.Scan(); n++ {
		size += len(lines.Bytes()) + 1
		if size > maxFile {
			return nil, fmt.Errorf("%d: the file is larger than %d MiB", n, maxFile>>20)
		}
		line := bytes.TrimSpace(lines.Bytes())
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) == 0 {
			continue
		}
		p, err := parsePrompt(line, osl)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", n, err)
		}
		p.line = n
		out = append(out, p)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("%d: the line is longer than %d MiB", n, maxFileLine>>20)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%d: %w", n, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%d: no prompts: write one a line: %s", n, lineForms)
	}
	return out, nil
}

func parsePrompt(line []byte, osl int) (filePrompt, error) {
	if !utf8.Valid(line) {
		return filePrompt{}, errors.New("the line is not UTF-8")
	}
	var l promptLine
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return filePrompt{}, fmt.Errorf("not %s: %w", lineForms, PlainJSON(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return filePrompt{}, errors.New("more than one JSON value")
	}
	if l.Type != "" && l.Type != "single_turn" {
		return filePrompt{}, fmt.Errorf("type %q: only \"single_turn\" is known", l.Type)
	}
	limit, err := l.limit(osl)
	if err != nil {
		return filePrompt{}, err
	}
	input, err := l.input()
	return filePrompt{input: input, limit: limit}, err
}

// limit is the number of output tokens that a line asks for.
func (l promptLine) limit(osl int) (int, error) {
	n := osl
	switch {
	case l.MaxTokens != nil && l.OutputLength != nil:
		return 0, errors.New("max_tokens and output_length: name one")
	case l.MaxTokens != nil:
		n = *l.MaxTokens
	case l.OutputLength != nil:
		n = *l.OutputLength
	case osl == 0:
		return 0, errors.New("no output length: give max_tokens with the line, or --osl for all lines without")
	}
	if n < 1 || n > maxTokens {
		return 0, fmt.Errorf("an output length of %d: it must be between 1 and %d", n, maxTokens)
	}
	return n, nil
}

// input is what a line asks, as it goes into a body.
func (l promptLine) input() ([]byte, error) {
	forms := 0
	text := ""
	for _, s := range []*string{l.Prompt, l.Text} {
		if s != nil {
			forms, text = forms+1, *s
		}
	}
	if l.Messages != nil {
		forms++
	}
	switch {
	case forms != 1:
		return nil, fmt.Errorf("needs exactly one of prompt, text and messages, has %d", forms)
	case l.Messages != nil:
		return compactMessages(l.Messages)
	case text == "":
		return nil, errors.New("the prompt is empty")
	}
	return json.Marshal(text)
}

// compactMessages checks what would make a server refuse the request, and
// leaves everything else of a message as it is.
func compactMessages(messages []json.RawMessage) ([]byte, error) {
	if len(messages) == 0 {
		return nil, errors.New("messages is empty")
	}
	for i, raw := range messages {
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, PlainJSON(err))
		}
		if m.Role == "" {
			return nil, fmt.Errorf("messages[%d] has no role", i)
		}
		if len(m.Content) == 0 || m.Content[0] != '"' && m.Content[0] != '[' {
			return nil, fmt.Errorf("messages[%d]: content must be a string or an array", i)
		}
	}
	raw, err := json.Marshal(messages) // compact, whatever the line looks like
	return raw, err
}
