// Package livetest is a terminal for tests: it takes what a program writes and
// says what a human would see.
package livetest

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// Terminal is as much of an ECMA-48 terminal as a view needs, and one that breaks
// its lines anew when it is resized, as most do today. It keeps all that was
// scrolled off. What it does not know is an error, which Err tells.
type Terminal struct {
	mu            sync.Mutex
	width, height int
	lines         [][]rune // as they were ended; a row is a part of one
	line, col     int
	pending       []byte // of a character or a sequence that has not ended
	err           error
}

// New is an empty terminal.
func New(width, height int) *Terminal {
	return &Terminal{width: width, height: height, lines: [][]rune{nil}}
}

// Resize changes the size of the window.
func (t *Terminal) Resize(width, height int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.width, t.height = width, height
}

// Text is all that was printed and is not erased, without blanks at the ends of
// lines.
func (t *Terminal) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for i, l := range t.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimRight(string(l), " "))
	}
	return b.String()
}

// Column is where the cursor stands, 0 at the left edge.
func (t *Terminal) Column() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.col % t.width
}

// Err is the first thing written that this terminal does not know.
func (t *Terminal) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Write shows bytes.
func (t *Terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = append(t.pending, b...)
	for len(t.pending) > 0 {
		n := t.take(t.pending)
		if n == 0 {
			break
		}
		t.pending = t.pending[n:]
	}
	return len(b), nil
}

// take shows the first character or sequence, and says how long it is; 0 where
// it has not ended.
func (t *Terminal) take(b []byte) int {
	switch c := b[0]; {
	case c == '\r':
		t.col -= t.col % t.width
		return 1
	case c == '\n':
		t.down()
		return 1
	case c == 0x1b:
		return t.sequence(b)
	case c < ' ', c == 0x7f:
		t.fail("control character %q", c)
		return 1
	case !utf8.FullRune(b):
		return 0
	}
	r, n := utf8.DecodeRune(b)
	t.print(r)
	return n
}

func (t *Terminal) print(r rune) {
	for len(t.lines[t.line]) <= t.col {
		t.lines[t.line] = append(t.lines[t.line], ' ')
	}
	t.lines[t.line][t.col] = r
	t.col++
}

// sequence does "ESC [ number final".
func (t *Terminal) sequence(b []byte) int {
	if len(b) < 3 {
		return 0
	}
	end := 2
	for end < len(b) && b[end] < 0x40 {
		end++
	}
	if end == len(b) {
		return 0
	}
	n := 0
	_, _ = fmt.Sscan(string(b[2:end]), &n) // else it is left out
	switch final := b[end]; {
	case b[1] != '[':
		t.fail("escape %q", b[:end+1])
	case final == 'A':
		t.up(max(n, 1))
	case final == 'K' && n == 0:
		from, to := t.col, min(t.col-t.col%t.width+t.width, len(t.lines[t.line]))
		for i := from; i < to; i++ {
			t.lines[t.line][i] = ' '
		}
	case final == 'J' && n == 0:
		t.lines = t.lines[:t.line+1]
		t.lines[t.line] = t.lines[t.line][:min(t.col, len(t.lines[t.line]))]
	case final == 'm':
	default:
		t.fail("sequence %q", b[:end+1])
	}
	return end + 1
}

func (t *Terminal) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

// rows is how many rows a line takes.
func (t *Terminal) rows(line int) int {
	return max(1, (len(t.lines[line])+t.width-1)/t.width)
}

// down moves to the beginning of the next row, which may be a new one: between a
// program and a terminal the kernel adds the carriage return.
func (t *Terminal) down() {
	t.col -= t.col % t.width
	if t.col/t.width+1 < t.rows(t.line) {
		t.col += t.width
		return
	}
	t.line, t.col = t.line+1, 0
	if t.line == len(t.lines) {
		t.lines = append(t.lines, nil)
	}
}

// up moves up by rows, to the top of the window at most.
func (t *Terminal) up(n int) {
	row, all := t.col/t.width, 0
	for i := range t.lines {
		if i < t.line {
			row += t.rows(i)
		}
		all += t.rows(i)
	}
	at := t.col % t.width
	row = max(row-n, all-t.height, 0)
	for t.line = 0; row >= t.rows(t.line); t.line++ {
		row -= t.rows(t.line)
	}
	t.col = row*t.width + at
}
