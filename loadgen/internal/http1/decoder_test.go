package http1

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

const maxHead = 4 << 10

// told is what became of some bytes.
type told struct {
	head    Head
	started bool
	body    string
	rest    string
	err     error // io.EOF: whole
}

// push hands a text over in pieces of the given lengths, and then the end of
// the connection.
func push(d *Decoder, in string, cuts ...int) (t told) {
	d.Reset(maxHead)
	for from := 0; from < len(in) && t.err == nil; {
		to := len(in)
		if len(cuts) > 0 {
			to, cuts = min(to, from+max(cuts[0], 1)), cuts[1:]
		}
		for b := []byte(in[from:to]); t.err == nil; {
			var piece []byte
			piece, b, t.err = d.Next(b)
			t.body += string(piece)
			if len(b) == 0 && len(piece) == 0 || t.err != nil {
				t.rest = string(b) + in[to:]
				break
			}
		}
		from = to
	}
	if t.err == nil {
		t.err = d.End()
	}
	t.head, t.started = d.Head, d.Started()
	return t
}

const (
	ok      = "HTTP/1.1 200 OK\r\n"
	chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
)

// shapes are answers, and what must come of them: a body, or an error that
// says so.
var shapes = map[string]struct {
	in   string
	want Head
	body string
	rest string
	fail string // part of the error; "" with a whole answer
}{
	"length":               {ok + "Content-Length: 5\r\nContent-Type: a/b\r\n\r\nhello", Head{Status: 200, Line: "200 OK", ContentType: "a/b"}, "hello", "", ""},
	"length and more":      {ok + "Content-Length: 5\r\n\r\nhelloHTTP", Head{Status: 200, Line: "200 OK"}, "hello", "HTTP", ""},
	"length twice":         {ok + "Content-Length: 5\r\ncontent-length: 5\r\n\r\nhello", Head{Status: 200, Line: "200 OK"}, "hello", "", ""},
	"no body":              {ok + "Content-Length: 0\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "", "", ""},
	"204":                  {"HTTP/1.1 204 No Content\r\n\r\n", Head{Status: 204, Line: "204 No Content"}, "", "", ""},
	"304 with a length":    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", Head{Status: 304, Line: "304 Not Modified"}, "", "", ""},
	"to the close":         {ok + "\r\nhello", Head{Status: 200, Line: "200 OK", Close: true}, "hello", "", ""},
	"line ends without CR": {"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", Head{Status: 200, Line: "200 OK"}, "hi", "", ""},
	"no reason":            {"HTTP/1.1 503\r\nRetry-After:  3 \r\nretry-after: 4\r\nContent-Length: 0\r\n\r\n", Head{Status: 503, Line: "503", RetryAfter: "3"}, "", "", ""},
	"close":                {ok + "Connection: x, CLOSE\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\na", Head{Status: 200, Line: "200 OK", ContentEncoding: "gzip", Close: true}, "a", "", ""},
	"1.0":                  {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", Head{Status: 200, Line: "200 OK", Close: true}, "a", "", ""},
	"1.0 kept alive":       {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na", Head{Status: 200, Line: "200 OK"}, "a", "", ""},
	"100 and 103 first":    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nContent-Type: x/y\r\nConnection: close\r\n\r\n" + ok + "Content-Length: 1\r\n\r\na", Head{Status: 200, Line: "200 OK"}, "a", "", ""},
	"101":                  {"HTTP/1.1 101 Switching\r\n\r\n", Head{Status: 101, Line: "101 Switching", Close: true}, "", "", ""},
	"chunks":               {chunked + "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "hello!", "", ""},
	"chunks and more":      {chunked + "1\r\na\r\n0\r\n\r\nx", Head{Status: 200, Line: "200 OK"}, "a", "x", ""},
	"extensions":           {chunked + "0A;a=\"b\";c \t\r\n0123456789\r\n000;last\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "0123456789", "", ""},
	"trailers":             {chunked + "1\r\na\r\n0\r\nX-A: b\r\nX-C:\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "a", "", ""},

	"nothing":                 {"", Head{}, "", "", "unexpected EOF"},
	"half a head":             {ok + "Content-Le", Head{Status: 200, Line: "200 OK"}, "", "", "unexpected EOF"},
	"half a body":             {ok + "Content-Length: 5\r\n\r\nhel", Head{Status: 200, Line: "200 OK"}, "hel", "", "unexpected EOF"},
	"half a chunk":            {chunked + "5\r\nhel", Head{Status: 200, Line: "200 OK"}, "hel", "", "unexpected EOF"},
	"no last chunk":           {chunked + "1\r\na\r\n", Head{Status: 200, Line: "200 OK"}, "a", "", "unexpected EOF"},
	"no end of trailers":      {chunked + "0\r\nX-A: b\r\n", Head{Status: 200, Line: "200 OK"}, "", "", "unexpected EOF"},
	"SSH":                     {"SSH-2.0-OpenSSH_9.6\r\n", Head{}, "", "", "malformed HTTP answer"},
	"HTTP/2":                  {"HTTP/2.0 200 OK\r\n\r\n", Head{}, "", "", "malformed HTTP answer"},
	"a status of two":         {"HTTP/1.1 20 OK\r\n\r\n", Head{}, "", "", "malformed HTTP status"},
	"a status with a sign":    {"HTTP/1.1 +20 OK\r\n\r\n", Head{}, "", "", "malformed HTTP status"},
	"a status below 100":      {"HTTP/1.1 099 x\r\n\r\n", Head{}, "", "", "malformed HTTP status"},
	"control in the status":   {"HTTP/1.1 200 O\x00K\r\n\r\n", Head{}, "", "", "malformed HTTP status"},
	"a folded field":          {ok + "A: b\r\n c\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "", "", "malformed header line"},
	"a space in a name":       {ok + "Content-Length : 1\r\n\r\na", Head{Status: 200, Line: "200 OK"}, "", "", "malformed header line"},
	"no name":                 {ok + ": 1\r\n\r\na", Head{Status: 200, Line: "200 OK"}, "", "", "malformed header line"},
	"no colon":                {ok + "Content-Length\r\n\r\na", Head{Status: 200, Line: "200 OK"}, "", "", "malformed header line"},
	"control in a value":      {ok + "A: b\rc\r\n\r\na", Head{Status: 200, Line: "200 OK"}, "", "", "malformed header line"},
	"two lengths":             {ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", Head{Status: 200, Line: "200 OK"}, "", "", "malformed Content-Length"},
	"a length below 0":        {ok + "Content-Length: -1\r\n\r\na", Head{Status: 200, Line: "200 OK"}, "", "", "malformed Content-Length"},
	"a length without digits": {ok + "Content-Length:\r\n\r\na", Head{Status: 200, Line: "200 OK"}, "", "", "malformed Content-Length"},
	"a length above 2^63":     {ok + "Content-Length: 9223372036854775808\r\n\r\na", Head{Status: 200, Line: "200 OK"}, "", "", "malformed Content-Length"},
	"both framings":           {ok + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "", "", "beside a Content-Length"},
	"chunks in 1.0":           {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "", "", "HTTP/1.0"},
	"gzip, chunked":           {ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "", "", "not just chunked"},
	"chunked twice":           {ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "", "", "not just chunked"},
	"no chunk length":         {chunked + ";a\r\na\r\n0\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "", "", "malformed chunk length"},
	"a chunk length below 0":  {chunked + "-1\r\na\r\n0\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "", "", "malformed chunk length"},
	"17 digits":               {chunked + "00000000000000001\r\na\r\n0\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "", "", "malformed chunk length"},
	"a chunk line without CR": {chunked + "1\na\r\n0\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "", "", "malformed chunk length"},
	"CR in a chunk line":      {chunked + "1;\rx\r\na\r\n0\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "", "", "malformed chunk length"},
	"a chunk too long":        {chunked + "1\r\nab\r\n0\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "a", "", "line end"},
	"a bad trailer":           {chunked + "0\r\nX A: b\r\n\r\n", Head{Status: 200, Line: "200 OK"}, "", "", "malformed header line"},
	"a trailer without CR":    {chunked + "0\r\nXA: b\n\r\n", Head{Status: 200, Line: "200 OK"}, "", "", "malformed trailer"},
	"a head without end":      {ok + "A: " + strings.Repeat("x", maxHead), Head{Status: 200, Line: "200 OK"}, "", "", "too long"},
	"many informational":      {strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", maxHead/20), Head{Status: 100, Line: "100 Continue"}, "", "", "too long"},
	"a chunk line for ever":   {chunked + "1;" + strings.Repeat("x", maxChunkLine), Head{Status: 200, Line: "200 OK"}, "", "", "too long"},
	"trailers for ever":       {chunked + "0\r\n" + strings.Repeat("A: b\r\n", maxTrailer/5), Head{Status: 200, Line: "200 OK"}, "", "", "too long"},
	"mostly framing":          {chunked + strings.Repeat("1;"+strings.Repeat("x", 1000)+"\r\na\r\n", 18), Head{Status: 200, Line: "200 OK"}, strings.Repeat("a", 16), "", "mostly framing"},
}

// TestShapes: every answer means the same however its bytes are cut.
func TestShapes(t *testing.T) {
	for name, c := range shapes {
		t.Run(name, func(t *testing.T) {
			var d Decoder
			ways := [][]int{nil, slices.Repeat([]int{1}, len(c.in))}
			for i := range c.in {
				ways = append(ways, []int{i})
			}
			for i, cuts := range ways {
				got := push(&d, c.in, cuts...)
				if got.body != c.body || c.fail == "" && (got.err != io.EOF || got.head != c.want || got.rest != c.rest) {
					t.Fatalf("way %d: %+v", i, got)
				}
				if c.fail != "" && (got.err == io.EOF || !strings.Contains(got.err.Error(), c.fail)) {
					t.Fatalf("way %d: %v, want %s", i, got.err, c.fail)
				}
				if got.started && got.head != c.want && c.fail != "" {
					t.Fatalf("way %d: the head is %+v", i, got.head)
				}
			}
		})
	}
}

// TestErrorsStay: once refused, an answer does not go on.
func TestErrorsStay(t *testing.T) {
	var d Decoder
	d.Reset(maxHead)
	_, _, err := d.Next([]byte(chunked + "x\r\n"))
	_, _, again := d.Next([]byte("1\r\na\r\n"))
	var malformed *Error
	if !errors.As(err, &malformed) || again != err || d.End() != err {
		t.Errorf("%v, then %v, then %v", err, again, d.End())
	}
}

// TestNothingAllocated: a chunk costs no memory.
func TestNothingAllocated(t *testing.T) {
	var d Decoder
	d.Reset(maxHead)
	if _, _, err := d.Next([]byte(chunked)); err != nil {
		t.Fatal(err)
	}
	in := []byte("b9\r\n" + strings.Repeat("x", 0xb9) + "\r\n")
	if n := testing.AllocsPerRun(100, func() {
		for b := in; len(b) > 0; {
			var err error
			if _, b, err = d.Next(b); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%g allocations a chunk", n)
	}
}
