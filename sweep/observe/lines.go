package observe

import (
	"bytes"
	"errors"
	"fmt"
)

// Bounds of a page: a Dynamo frontend writes 2,500 lines, of which about 50
// are read; one with 72 workers has 300 of those.
const (
	maxLine   = 16 << 10
	maxSeries = 8192
)

// errNothingKnown: a page of another kind, such as the JSON that TensorRT-LLM
// serves at /metrics unless told otherwise.
var errNothingKnown = errors.New("no metric of a known server is on the page")

// knownLines keeps the samples whose name is in the vocabulary, each reduced to
// name, labels and value. What parsers stumble over goes: exemplars, times,
// comments, overlong lines, a missing last newline; and so do nine tenths of
// the work. Types go too, since the vocabulary knows what a counter is.
func knownLines(page []byte) ([]byte, error) {
	words := vocabulary()
	out := make([]byte, 0, len(page)/8+64)
	n := 0
	for len(page) > 0 {
		var line []byte
		line, page, _ = bytes.Cut(page, []byte{'\n'})
		if len(line) == 0 || line[0] == '#' || len(line) > maxLine {
			continue
		}
		end := 0
		for end < len(line) && line[end] != '{' && line[end] > ' ' {
			end++
		}
		if _, known := words[string(line[:end])]; !known {
			continue
		}
		labels, value := splitSample(line[end:])
		if value == nil {
			continue
		}
		if n++; n > maxSeries {
			return nil, fmt.Errorf("more than %d series on one page", maxSeries)
		}
		out = append(out, line[:end]...)
		out = append(out, labels...)
		out = append(out, ' ')
		out = append(out, value...)
		out = append(out, '\n')
	}
	if n == 0 {
		return nil, errNothingKnown
	}
	return out, nil
}

// splitSample splits what follows a name into the labels, braces and all, and
// the value. A line without a value has none.
func splitSample(rest []byte) (labels, value []byte) {
	rest = bytes.TrimLeft(rest, " \t")
	if len(rest) > 0 && rest[0] == '{' {
		end := closing(rest)
		if end < 0 {
			return nil, nil
		}
		labels, rest = rest[:end+1], rest[end+1:]
	}
	value = bytes.TrimSpace(rest)
	if end := bytes.IndexAny(value, " \t#"); end >= 0 {
		value = value[:end]
	}
	if len(value) == 0 {
		return nil, nil
	}
	return labels, value
}

// closing finds the brace that ends labels, whose values may hold braces.
func closing(s []byte) int {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '}' && !quoted:
			return i
		}
	}
	return -1
}
