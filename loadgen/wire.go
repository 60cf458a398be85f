package loadgen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/perfsweep/perfsweep/loadgen/internal/http1"
	"github.com/perfsweep/perfsweep/loadgen/internal/stream"
)

const (
	// oneWrite is what a socket takes at once, more or less. A larger request
	// is written while its answer is awaited: a server may refuse it before it
	// has read it.
	oneWrite = 64 << 10
	// writeGrace is how long a whole answer waits for the end of its request.
	writeGrace = 50 * time.Millisecond
	// keepRequest is the largest buffer that is kept for the next request.
	keepRequest = 64 << 10
)

// pumped is a connection that hands over what it reads. pump returns nil when
// take has said that it has enough, or the error that ended the connection. The
// bytes are lent for the time of one take.
type pumped interface {
	net.Conn
	pump(take func([]byte) (enough bool)) error
}

// wire carries the requests of one exchange over a connection of its own
// without net/http, one request at a time: HTTP/1.1 without TLS and without a
// proxy. What it gains is in the reading: an event is decoded where its bytes
// were read, with one system call and one wake-up a chunk and no copy between
// layers.
type wire struct {
	*exchange
	dial func(context.Context) (net.Conn, error)
	once bool   // a connection carries one request
	head []byte // of every request, up to the value of Content-Length
	out  []byte // the request
	conn pumped // nil: the next request dials

	// Of the answer in progress.
	answer http1.Decoder
	begun  bool // its head has come
	stream bool
	whole  []byte // the body of one that is no stream
	stray  bool   // bytes followed it
	unsent bool   // a part of the request was never written
	ended  error  // io.EOF: it was complete
}

// newWire makes one that dials for the target of a client's template.
func newWire(e *exchange, dial func(context.Context) (net.Conn, error), once bool) *wire {
	return &wire{exchange: e, dial: dial, once: once, head: requestHead(e.template, once)}
}

// requestHead renders a template as net/http would.
func requestHead(r *http.Request, once bool) []byte {
	agent := "Go-http-client/1.1"
	if own, ok := r.Header["User-Agent"]; ok {
		agent = own[0]
	}
	var w bytes.Buffer
	fmt.Fprintf(&w, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.URL.RequestURI(), r.Host)
	if agent != "" {
		fmt.Fprintf(&w, "User-Agent: %s\r\n", agent)
	}
	_ = r.Header.WriteSubset(&w, map[string]bool{"Host": true, "User-Agent": true, "Content-Length": true}) // memory takes all
	if once {
		w.WriteString("Connection: close\r\n")
	}
	w.WriteString("Content-Length: ")
	return w.Bytes()
}

// post sends a body and takes the answer.
func (w *wire) post(ctx context.Context, body []byte) (Outcome, string) {
	if cap(w.out) > keepRequest {
		w.out = nil
	}
	w.out = strconv.AppendInt(append(w.out[:0], w.head...), int64(len(body)), 10)
	w.out = append(append(w.out, "\r\n\r\n"...), body...)
	w.begun, w.stray, w.unsent, w.whole, w.ended = false, false, false, nil, nil
	w.answer.Reset(maxHead)

	kept := w.conn != nil && unused(w.conn)
	if !kept {
		w.hangUp()
	}
	nothing, err := w.attempt(ctx)
	if err != nil && nothing && kept { // the server saw nothing of it
		_, err = w.attempt(ctx)
	}
	if !w.begun {
		o, text := sendFailure(err)
		return byCause(ctx, o, text)
	}
	w.farewell = w.answer.Head.Close || ctx.Err() != nil
	if w.stream {
		w.reader.End(err)
		o, text := w.streamed(ctx, w.events())
		if o == OK && w.unsent {
			return Protocol, "the answer was whole before its request was sent"
		}
		return o, text
	}
	return w.refused(w.answer.Head, w.whole)
}

// attempt makes the request on the connection that there is, or on a new one;
// nothing says that no byte of it was sent. It returns io.EOF after a whole
// answer, and keeps the connection for the next request if that may use it.
func (w *wire) attempt(ctx context.Context) (nothing bool, err error) {
	dialled := w.conn == nil
	if dialled {
		c, err := w.dial(ctx)
		if err != nil {
			return true, err
		}
		w.conn = c.(pumped) // dial makes no others
	}
	conn := w.conn
	w.got(conn, dialled)
	// A deadline, the end of the run: closing the connection ends every wait.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	if k, ok := conn.(interface{ nudge() }); ok {
		w.limit.whenSilent(k.nudge)
	}
	sent := true
	if len(w.out) > oneWrite {
		sent, err = w.converse(conn)
	} else {
		var n int
		if n, err = conn.Write(w.out); err != nil && n == 0 && !dialled {
			nothing = true
		} else if got := w.receive(conn); err == nil || w.begun {
			w.unsent = err != nil
			err = got // a server may answer, and close, before it has read all
		}
	}
	open := stop()
	if !open || !sent || err != io.EOF || w.stray || w.once || w.answer.Head.Close {
		w.hangUp()
	}
	return nothing, err
}

// converse writes a large request while the answer is awaited.
func (w *wire) converse(conn pumped) (sent bool, err error) {
	wrote := make(chan error, 1)
	go func() {
		_, err := conn.Write(w.out)
		wrote <- err
	}()
	if err = w.receive(conn); err != io.EOF {
		_ = conn.Close()
	}
	late := time.AfterFunc(writeGrace, func() { _ = conn.Close() })
	werr := <-wrote
	w.unsent = werr != nil
	sent = late.Stop() && !w.unsent
	if werr != nil && !w.begun && !errors.Is(werr, net.ErrClosed) { // not closed here, for what receive says
		err = werr
	}
	return sent, err
}

// receive takes the answer; io.EOF says that it was whole.
func (w *wire) receive(conn pumped) error {
	switch err := conn.pump(w.take); {
	case err == nil:
		return w.ended
	case err == io.EOF:
		return w.answer.End()
	default:
		return err
	}
}

// take handles the bytes of one read.
func (w *wire) take(b []byte) (enough bool) {
	w.arrived()
	w.limit.heard.Store(w.at)
	for {
		piece, rest, err := w.answer.Next(b)
		if !w.begun && w.answer.Started() {
			w.begin()
		}
		if len(piece) > 0 && !w.give(piece) {
			return true
		}
		if err != nil {
			if w.ended, w.stray = err, len(rest) > 0; w.stray && err == io.EOF {
				w.exchange.conn.stats.stray.Add(1)
			}
			return true
		}
		if len(rest) == 0 {
			return false
		}
		b = rest
	}
}

// begin notes the head.
func (w *wire) begin() {
	w.begun = true
	w.marks.sent = max(w.marks.sent, w.exchange.conn.wrote.Load())
	w.marks.headers = w.at
	w.budget = math.MaxInt64
	if w.stream = isStream(w.answer.Head); w.stream {
		w.reader.Reset(nil)
	} else {
		w.budget = maxBody
		w.endSoon()
	}
}

// give passes on a piece of the body, and reports whether more is wanted.
func (w *wire) give(piece []byte) bool {
	if int64(len(piece)) > w.budget {
		piece, w.ended = piece[:w.budget], errTail
	}
	w.budget -= int64(len(piece))
	if !w.stream {
		w.whole = append(w.whole, piece...)
		return w.ended == nil
	}
	w.reader.Feed(piece)
	if err := w.events(); err != stream.ErrMore {
		w.ended = err
		w.reader.End(err) // what it was lent goes back with the piece
	}
	return w.ended == nil
}

// hangUp closes the connection, if there is one.
func (w *wire) hangUp() {
	if w.conn != nil {
		_ = w.conn.Close() // nothing is lost with it
		w.conn = nil
	}
}

// closedBy reports that the server ends the connection, which it has not
// announced, within some time.
func (w *wire) closedBy(within time.Duration) bool {
	if w.conn == nil {
		return true
	}
	var b [1]byte
	err := w.conn.SetReadDeadline(time.Now().Add(within))
	if err == nil {
		if _, err = w.conn.Read(b[:]); err == nil {
			err = io.ErrUnexpectedEOF // bytes that nobody asked for
		}
	}
	if late, ok := err.(net.Error); ok && late.Timeout() && w.conn.SetReadDeadline(time.Time{}) == nil {
		return false
	}
	w.hangUp()
	return true
}

// unusedInMemory is unused for a connection without a socket: a read without
// time finds its end, or that there is nothing.
func unusedInMemory(c net.Conn) bool {
	if c.SetReadDeadline(time.Unix(1, 0)) != nil {
		return false
	}
	var b [1]byte
	_, err := c.Read(b[:])
	late, ok := err.(net.Error)
	return ok && late.Timeout() && c.SetReadDeadline(time.Time{}) == nil
}
