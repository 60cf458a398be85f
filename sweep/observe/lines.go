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

// samples are the lines of a page whose name is in the vocabulary, each reduced
// to name, labels and value.
type samples struct {
	text []byte // for the parser
	ends []sampleEnds
}

// sampleEnds are the places in the text behind a line's series, which is its
// name with its labels, and behind its value.
type sampleEnds struct{ name, series, value int }

// scan keeps the known lines of a page. What parsers stumble over goes:
// exemplars, times, comments, overlong lines, a missing last newline; and so do
// nine tenths of the work. Types go too, since the vocabulary knows what a
// counter is. Damage in a line that nobody would read is no error.
func (s *samples) scan(page []byte) error {
	s.forget()
	words := vocabulary()
	var name []byte // of the line before: a histogram has twenty of one name
	known := false
	for len(page) > 0 {
		var line []byte
		line, page, _ = bytes.Cut(page, []byte{'\n'})
		if len(line) == 0 || line[0] == '#' || len(line) > maxLine {
			continue
		}
		if !bytes.HasPrefix(line, name) || !nameEnds(line, len(name)) {
			end := 0
			for !nameEnds(line, end) {
				end++
			}
			name = line[:end]
			_, known = words[string(name)]
		}
		if !known {
			continue
		}
		labels, value := splitSample(line[len(name):])
		if value == nil {
			continue
		}
		if len(s.ends) == maxSeries {
			return fmt.Errorf("more than %d series on one page", maxSeries)
		}
		s.add(name, labels, value)
	}
	if len(s.ends) == 0 {
		return errNothingKnown
	}
	return nil
}

// nameEnds reports that a line's name ends before its i-th byte.
func nameEnds(line []byte, i int) bool { return i == len(line) || line[i] == '{' || line[i] <= ' ' }

func (s *samples) add(name, labels, value []byte) {
	var e sampleEnds
	s.text = append(s.text, name...)
	e.name = len(s.text)
	s.text = append(s.text, labels...)
	e.series = len(s.text)
	s.text = append(append(s.text, ' '), value...)
	e.value = len(s.text)
	s.text = append(s.text, '\n')
	s.ends = append(s.ends, e)
}

// forget empties it.
func (s *samples) forget() { s.text, s.ends = s.text[:0], s.ends[:0] }

// begin is where line i begins.
func (s *samples) begin(i int) int {
	if i == 0 {
		return 0
	}
	return s.ends[i-1].value + len("\n")
}

func (s *samples) series(i int) []byte { return s.text[s.begin(i):s.ends[i].series] }

func (s *samples) value(i int) []byte { return s.text[s.ends[i].series+len(" ") : s.ends[i].value] }

// sameSeries reports that the lines of two pages differ in their values only.
func (s *samples) sameSeries(o *samples) bool {
	if len(s.ends) != len(o.ends) {
		return false
	}
	for i := range s.ends {
		if !bytes.Equal(s.series(i), o.series(i)) {
			return false
		}
	}
	return true
}

// byName are the lines of each name, in their order.
func (s *samples) byName() map[string][]int {
	out := map[string][]int{}
	for i, e := range s.ends {
		name := s.text[s.begin(i):e.name]
		out[string(name)] = append(out[string(name)], i)
	}
	return out
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
