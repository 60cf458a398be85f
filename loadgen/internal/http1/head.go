package http1

import (
	"bytes"
	"strconv"
)

// Head is what is kept of the head of an answer; of a field that comes twice,
// the first.
type Head struct {
	Status int
	// Line is the status line from the status on: "200 OK".
	Line                                     string
	ContentType, ContentEncoding, RetryAfter string
	// Close says that the connection ends with the answer.
	Close bool
}

// frame is what the fields say of where the body ends.
type frame struct {
	old              bool // HTTP/1.0
	length           string
	sized            bool
	codings          int // Transfer-Encoding fields
	chunked          bool
	close, keepAlive bool
}

// status reads the status line.
func (d *Decoder) status(text []byte) error {
	rest, ok := bytes.CutPrefix(text, []byte("HTTP/1."))
	if !ok || len(rest) < 2 || rest[0] != '0' && rest[0] != '1' || rest[1] != ' ' {
		return malformed("HTTP answer", text)
	}
	d.frame = frame{old: rest[0] == '0'}
	rest = bytes.TrimLeft(rest[1:], " ")
	code, _, _ := bytes.Cut(rest, []byte{' '})
	if len(code) != 3 || code[0] < '1' || !digits(code) || !printable(rest) {
		return malformed("HTTP status", text)
	}
	d.Head = Head{Status: int(code[0]-'0')*100 + int(code[1]-'0')*10 + int(code[2]-'0'), Line: string(rest)}
	return nil
}

// field takes one field of the head.
func (d *Decoder) field(text []byte) error {
	name, value, err := split(text)
	if err != nil {
		return err
	}
	first := func(p *string) {
		if *p == "" {
			*p = string(value)
		}
	}
	f := &d.frame
	switch is := func(s string) bool { return bytes.EqualFold(name, []byte(s)) }; {
	case is("Content-Type"):
		first(&d.Head.ContentType)
	case is("Content-Encoding"):
		first(&d.Head.ContentEncoding)
	case is("Retry-After"):
		first(&d.Head.RetryAfter)
	case is("Connection"):
		for token := range bytes.SplitSeq(value, []byte{','}) {
			token = bytes.Trim(token, " \t")
			f.close = f.close || bytes.EqualFold(token, []byte("close"))
			f.keepAlive = f.keepAlive || bytes.EqualFold(token, []byte("keep-alive"))
		}
	case is("Transfer-Encoding"):
		f.codings++
		f.chunked = bytes.EqualFold(value, []byte("chunked"))
	case is("Content-Length"):
		if f.sized && f.length != string(value) {
			return malformed("Content-Length, of which there are several", text)
		}
		f.sized, f.length = true, string(value)
	}
	return nil
}

// begin judges the head at its end: RFC 9112, section 6.3.
func (d *Decoder) begin() error {
	f, h := &d.frame, &d.Head
	length := uint64(0)
	if f.sized {
		var err error
		if length, err = strconv.ParseUint(f.length, 10, 63); err != nil {
			return malformed("Content-Length", []byte(f.length))
		}
	}
	switch {
	case f.codings > 1 || f.codings == 1 && !f.chunked:
		return &Error{"malformed Transfer-Encoding: it is not just chunked"}
	case f.codings == 1 && (f.sized || f.old):
		return &Error{"malformed head: a Transfer-Encoding beside a Content-Length, or in HTTP/1.0"}
	}
	h.Close = f.close || f.old && !f.keepAlive
	switch {
	case h.Status == 101:
		d.state, h.Close = over, true // no upgrade was asked for
	case h.Status < 200:
		d.state = statusLine
	case h.Status == 204, h.Status == 304, f.sized && length == 0:
		d.state = over
	case f.chunked:
		d.state = chunkSize
	case f.sized:
		d.state, d.left = sized, length
	default:
		d.state, h.Close = toClose, true
	}
	return nil
}

// split parts a field into its name and its value.
func split(text []byte) (name, value []byte, err error) {
	name, value, ok := bytes.Cut(text, []byte{':'})
	if !ok || len(name) == 0 || !printable(value) {
		return nil, nil, malformed("header line", text)
	}
	for _, c := range name {
		if !token(c) {
			return nil, nil, malformed("header line", text)
		}
	}
	return name, bytes.Trim(value, " \t"), nil
}

// token reports a character of a field's name: RFC 9110, section 5.6.2.
func token(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) >= 0
}

func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

func digits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
