package stream

import (
	"bytes"
	"errors"
	"io"
)

// MaxLine bounds one line and the data of one event. Engines send a few
// hundred bytes a chunk; logprobs and tool calls reach megabytes.
const MaxLine = 16 << 20

const (
	startBuffer = 4 << 10
	// keepBuffer is the largest buffer that survives a Reset, so that one
	// long line does not cost its memory for the rest of a run.
	keepBuffer = 64 << 10
	maxComment = 256
)

// ErrTooLong reports a line or an event above MaxLine.
var ErrTooLong = errors.New("a line of the event stream is longer than 16 MiB")

// ErrMore says that what was fed to a Reader holds no further whole event.
var ErrMore = errors.New("the event stream goes on")

// Event is one block of a stream. Its slices are valid until the next call of
// Next.
type Event struct {
	// Data is the data lines joined by newlines; it may be empty.
	Data []byte
	// Error is set for a block that names its event "error".
	Error bool
	// Comment holds the first bytes of the comment lines inside the block.
	Comment []byte
	// AtEnd is set for a last block whose blank line never came.
	AtEnd bool
}

// Reader cuts a byte stream into events. When Next returns, the event was
// completed by the most recent Read of the source, or by the last Feed: a
// caller that stamps those so knows when each event arrived.
type Reader struct {
	src     io.Reader // nil: the bytes are fed
	buf     []byte
	r, w    int // buf[r:w] is unread
	seen    int // bytes of buf[r:w] known to hold no line end
	skipLF  bool
	begun   bool
	err     error
	own     []byte // the buffer while buf is what was fed; nil otherwise
	given   bool   // the block in progress was returned
	data    []byte
	hasData bool
	named   bool
	comment []byte
	budget  *Budget
}

// Reset makes r read src from its beginning; the buffers are kept. Without a
// source r takes what is fed to it.
func (r *Reader) Reset(src io.Reader) {
	r.settle()
	r.Release()
	if r.buf == nil {
		r.buf = make([]byte, startBuffer)
	}
	*r = Reader{src: src, buf: r.buf, data: r.data[:0], comment: r.comment[:0], budget: r.budget}
}

// Feed appends bytes; Next then returns the events that they complete, and
// ErrMore. Until it has, or until Reset or End, b is lent to the Reader: whole
// events are cut where they lie.
func (r *Reader) Feed(b []byte) {
	r.settle()
	if r.r == r.w {
		r.own, r.buf, r.r, r.w, r.seen = r.buf, b, 0, len(b), 0
		return
	}
	r.keep(b)
}

// keep copies bytes into the buffer.
func (r *Reader) keep(b []byte) {
	for len(b) > 0 && r.room() {
		n := copy(r.buf[r.w:], b)
		r.w += n
		b = b[n:]
	}
}

// settle takes what is left of lent bytes into the own buffer.
func (r *Reader) settle() {
	if r.own == nil {
		return
	}
	rest := r.buf[r.r:r.w]
	r.buf, r.own, r.r, r.w = r.own, nil, 0, 0
	r.keep(rest)
}

// End says that nothing more will be fed, and why.
func (r *Reader) End(err error) {
	r.settle()
	if r.err == nil {
		r.err = err
	}
}

// Next returns the next event, or the error that ended the source.
func (r *Reader) Next() (Event, error) {
	if r.given {
		r.given, r.data, r.hasData, r.named, r.comment = false, r.data[:0], false, false, r.comment[:0]
	}
	for {
		line, err := r.line()
		if err != nil {
			if err != ErrTooLong && err != ErrCrowded && err != ErrMore && (r.hasData || r.named) {
				r.given = true
				return Event{Data: r.data, Error: r.named, Comment: r.comment, AtEnd: true}, nil
			}
			return Event{}, err
		}
		if len(line) == 0 {
			if r.hasData || r.named {
				r.given = true
				return Event{Data: r.data, Error: r.named, Comment: r.comment}, nil
			}
			r.comment = r.comment[:0]
			continue
		}
		value, isData := r.field(line)
		if !isData {
			continue
		}
		if !r.hasData && r.blankFollows() {
			r.given = true
			return Event{Data: value, Error: r.named, Comment: r.comment}, nil
		}
		if len(r.data)+len(value) > MaxLine {
			return Event{}, ErrTooLong
		}
		data, ok := r.grown(r.data, len("\n")+len(value))
		if !ok {
			return Event{}, ErrCrowded
		}
		if r.hasData {
			data = append(data, '\n')
		}
		r.data, r.hasData = append(data, value...), true
	}
}

// field handles one line that is not blank and returns the value of a data
// field.
func (r *Reader) field(line []byte) (value []byte, isData bool) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		return value, true
	case "event":
		r.named = string(value) == "error"
	case "":
		if len(r.comment) > 0 && len(r.comment) < maxComment {
			r.comment = append(r.comment, ' ')
		}
		r.comment = append(r.comment, value[:min(len(value), maxComment-len(r.comment))]...)
	}
	return nil, false
}

// blankFollows consumes the blank line that ends a block if it is already in
// the buffer. Then the data need not be copied.
func (r *Reader) blankFollows() bool {
	i := r.r
	if r.skipLF && i < r.w && r.buf[i] == '\n' {
		i++
	}
	if i >= r.w {
		return false
	}
	switch r.buf[i] {
	case '\n':
		r.skipLF = false
	case '\r':
		r.skipLF = true
	default:
		return false
	}
	r.r = i + 1
	return true
}

// line returns the next line without its end. At the end of the source what
// is left counts as a line.
func (r *Reader) line() ([]byte, error) {
	for {
		if r.skipLF && r.r < r.w {
			if r.buf[r.r] == '\n' {
				r.r++
			}
			r.skipLF = false
		}
		rest := r.buf[r.r:r.w]
		if end, next, cr := lineEnd(rest, r.seen); end >= 0 {
			r.r += next
			r.seen, r.skipLF = 0, cr
			return r.first(rest[:end]), nil
		}
		r.seen = len(rest)
		switch {
		case r.err == nil && r.src == nil:
			r.settle()
			return nil, ErrMore
		case r.err == nil:
			r.fill()
			continue
		}
		if len(rest) > 0 && r.err != ErrTooLong && r.err != ErrCrowded {
			r.r, r.seen = r.w, 0
			return r.first(rest), nil
		}
		return nil, r.err
	}
}

// lineEnd finds the first line end in b at or after from: the end of the
// line, the start of the next one, and whether the end was a CR at the end of
// b, after which a LF still belongs to it.
func lineEnd(b []byte, from int) (end, next int, cr bool) {
	lf := bytes.IndexByte(b[from:], '\n')
	head := b[from:]
	if lf >= 0 {
		head = head[:lf]
	}
	c := bytes.IndexByte(head, '\r')
	switch {
	case c < 0 && lf < 0:
		return -1, 0, false
	case c < 0:
		return from + lf, from + lf + 1, false
	case c+1 == lf:
		return from + c, from + lf + 1, false
	}
	return from + c, from + c + 1, from+c+1 == len(b)
}

// first strips the byte order mark of the first line.
func (r *Reader) first(line []byte) []byte {
	if !r.begun {
		r.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line
}

// room makes some in the buffer, unless that is at its limit.
func (r *Reader) room() bool {
	if r.r > 0 && (r.r == r.w || r.w == len(r.buf)) {
		r.w = copy(r.buf, r.buf[r.r:r.w])
		r.r = 0
	}
	if r.w == len(r.buf) {
		if len(r.buf) > MaxLine {
			r.err = ErrTooLong
			return false
		}
		bigger, ok := r.grown(r.buf, 1)
		if !ok {
			r.err = ErrCrowded
			return false
		}
		r.buf = bigger[:cap(bigger)]
	}
	return true
}

// fill reads once from the source into the buffer.
func (r *Reader) fill() {
	if !r.room() {
		return
	}
	for range 100 {
		n, err := r.src.Read(r.buf[r.w:])
		r.w += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}
