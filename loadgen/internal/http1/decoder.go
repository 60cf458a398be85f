package http1

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Error says why an answer is not HTTP/1.1.
type Error struct{ What string }

func (e *Error) Error() string { return e.What }

// malformed quotes all of b, which a line's bound bounds: a cut could leave a
// part of a secret that nobody would know as one.
func malformed(what string, b []byte) error {
	return &Error{fmt.Sprintf("malformed %s: %q", what, b)}
}

// ErrHead reports a head longer than the Decoder was told to take.
var ErrHead = errors.New("the header of the answer is too long")

// state is what the next byte belongs to.
type state uint8

const (
	statusLine state = iota
	fieldLine
	sized   // a body of known length
	toClose // a body that ends with the connection
	chunkSize
	chunkData
	chunkEnd
	trailerLine
	over
)

const (
	maxChunkLine = 4 << 10
	maxTrailer   = 4 << 10
	// A chunk may have some bytes of framing beside twice its data; what is
	// above that adds up to no more than this, or else an answer could go on
	// for ever without a byte of body.
	freeFraming = 16
	maxFraming  = 16 << 10
	// keepPart is the largest buffer that survives a Reset.
	keepPart = 4 << 10
)

// Decoder takes one answer after another apart.
type Decoder struct {
	// Head is complete once Started says so.
	Head    Head
	maxHead int
	state   state
	used    int    // bytes of the head, or of the trailers
	part    []byte // a line whose end has not come
	left    uint64 // bytes of the body, or of the chunk
	framing int64  // bytes of it above what is free
	frame   frame
	err     error
}

// Reset makes d ready for another answer with a head of at most maxHead bytes,
// informational ones before it included.
func (d *Decoder) Reset(maxHead int) {
	part := d.part[:0]
	if cap(part) > keepPart {
		part = nil
	}
	*d = Decoder{maxHead: maxHead, part: part}
}

// Started reports that the head is complete.
func (d *Decoder) Started() bool { return d.state > fieldLine }

// Next takes bytes off the front of b: it returns the first piece of the body
// in them and what follows it. No piece and no error asks for more bytes.
// io.EOF says that the answer is over, as soon as that is known: the last piece
// of a body of known length comes with it. What follows does not belong to it.
func (d *Decoder) Next(b []byte) (piece, rest []byte, err error) {
	for d.err == nil {
		switch d.state {
		case over:
			return nil, b, io.EOF
		case toClose:
			return b, nil, nil
		case sized, chunkData:
			n := min(uint64(len(b)), d.left)
			d.left -= n
			switch {
			case d.left == 0 && d.state == sized:
				d.state = over
				return b[:n], b[n:], io.EOF
			case d.left == 0:
				d.state = chunkEnd
			}
			return b[:n], b[n:], nil
		}
		if len(b) == 0 {
			return nil, nil, nil
		}
		var line []byte
		if line, b, d.err = d.line(b); line != nil {
			d.err = d.take(line)
		}
	}
	return nil, b, d.err
}

// End is what the end of the connection means at this point: io.EOF for an
// answer that is whole.
func (d *Decoder) End() error {
	switch {
	case d.err != nil:
		return d.err
	case d.state == toClose, d.state == over:
		return io.EOF
	}
	return io.ErrUnexpectedEOF
}

// line takes a line off the front of b, or keeps the beginning of one.
func (d *Decoder) line(b []byte) (line, rest []byte, err error) {
	n := bytes.IndexByte(b, '\n') + 1
	whole := n > 0
	if !whole {
		n = len(b)
	}
	if err := d.fits(n); err != nil {
		return nil, nil, err
	}
	line, rest = b[:n], b[n:]
	if !whole || len(d.part) > 0 {
		d.part = append(d.part, line...)
		line = d.part
	}
	if !whole {
		return nil, nil, nil
	}
	d.part = d.part[:0]
	return line, rest, nil
}

// fits bounds what the framing of an answer may take in memory and in time.
func (d *Decoder) fits(n int) error {
	switch d.state {
	case chunkEnd:
		if len(d.part)+n > len("\r\n") {
			return &Error{"malformed chunk: its data are not followed by a line end"}
		}
	case chunkSize:
		if len(d.part)+n > maxChunkLine {
			return &Error{"malformed chunk: its first line is too long"}
		}
	case trailerLine:
		if d.used += n; d.used > maxTrailer {
			return &Error{"malformed trailers: they are too long"}
		}
	default:
		if d.used += n; d.used > d.maxHead {
			return ErrHead
		}
	}
	return nil
}

// take handles one line, which is complete.
func (d *Decoder) take(line []byte) error {
	text := bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'})
	strict := len(text) == len(line)-2 // it ended as the standard says
	switch d.state {
	case statusLine:
		d.state = fieldLine
		return d.status(text)
	case fieldLine:
		if len(text) > 0 {
			return d.field(text)
		}
		return d.begin()
	case chunkEnd:
		if !strict {
			return malformed("end of a chunk", line)
		}
		d.state = chunkSize
	case chunkSize:
		if !strict || bytes.IndexByte(text, '\r') >= 0 {
			return malformed("chunk length", line)
		}
		return d.chunk(text)
	case trailerLine:
		switch {
		case !strict:
			return malformed("trailer", line)
		case len(text) == 0:
			d.state = over
		default:
			_, _, err := split(text)
			return err
		}
	}
	return nil
}

// chunk reads the line that begins one.
func (d *Decoder) chunk(text []byte) error {
	size, _, _ := bytes.Cut(bytes.TrimRight(text, " \t"), []byte{';'})
	if len(size) == 0 || len(size) > 16 {
		return malformed("chunk length", text)
	}
	n := uint64(0)
	for _, c := range size {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return malformed("chunk length", text)
		}
		n = n<<4 | uint64(c)
	}
	data := int64(min(n, 1<<40))
	d.framing = max(0, d.framing+int64(len(text))+int64(len("\r\n"))-freeFraming-2*data)
	if d.framing > maxFraming {
		return &Error{"malformed chunks: they are mostly framing"}
	}
	if d.left, d.state = n, chunkData; n == 0 {
		d.used, d.state = 0, trailerLine
	}
	return nil
}
