package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// pieces is a source that gives the parts of a string one Read at a time.
type pieces []string

func (p *pieces) Read(b []byte) (int, error) {
	for len(*p) > 0 {
		if (*p)[0] == "" {
			*p = (*p)[1:]
			continue
		}
		n := copy(b, (*p)[0])
		(*p)[0] = (*p)[0][n:]
		return n, nil
	}
	return 0, io.EOF
}

// recorder keeps what each Read gave.
type recorder struct {
	src   io.Reader
	reads []string
}

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.src.Read(b)
	r.reads = append(r.reads, string(b[:n]))
	return n, err
}

// show renders the events of a source in one line each. Fed with the same
// pieces, a Reader must give the same.
func show(src io.Reader) string {
	var r Reader
	rec := &recorder{src: src}
	r.Reset(rec)
	var pulled strings.Builder
	err := render(&pulled, &r)
	fmt.Fprintf(&pulled, "%v", err)

	var fed strings.Builder
	r.Reset(nil)
	for _, piece := range rec.reads {
		r.Feed([]byte(piece))
		if err := render(&fed, &r); err != ErrMore {
			return fmt.Sprintf("fed: %v", err)
		}
	}
	r.End(err)
	fmt.Fprintf(&fed, "%v", render(&fed, &r))
	if fed.String() != pulled.String() {
		return "fed: " + fed.String()
	}
	return pulled.String()
}

// render writes events until there is an error.
func render(out *strings.Builder, r *Reader) error {
	for {
		ev, err := r.Next()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%q", ev.Data)
		if ev.Error {
			fmt.Fprintf(out, " error(%s)", ev.Comment)
		}
		if ev.AtEnd {
			out.WriteString(" end")
		}
		out.WriteByte('\n')
	}
}

var readerCases = []struct{ name, in, want string }{
	{"plain", "data: a\n\ndata: b\n\n", "\"a\"\n\"b\"\nEOF"},
	{"no space", "data:a\n\ndata:  b\n\n", "\"a\"\n\" b\"\nEOF"},
	{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", "\"a\"\n\"b\"\nEOF"},
	{"cr", "data: a\r\rdata: b\r\r", "\"a\"\n\"b\"\nEOF"},
	{"mixed ends", "data: a\r\n\ndata: b\r\r\ndata: c\n\r", "\"a\"\n\"b\"\n\"c\"\nEOF"},
	{"mark", "\xef\xbb\xbfdata: a\n\n", "\"a\"\nEOF"},
	{"mark only once", "\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", "\"b\"\nEOF"},
	{"several lines", "data: a\ndata: b\ndata\ndata:c\n\n", "\"a\\nb\\n\\nc\"\nEOF"},
	{"comments", ": x\n\n:\n\ndata: a\n\n", "\"a\"\nEOF"},
	{"fields", "id: 1\nretry: 5\nevent: message\ndata: a\n\nfoo\n\nfoo: bar\n\n", "\"a\"\nEOF"},
	{"blank data", "data:\n\ndata: \n\ndata\n\ndata: a\n\n", "\"\"\n\"\"\n\"\"\n\"a\"\nEOF"},
	{"error event", "event: error\ndata: lost\n\ndata: b\n\n", "\"lost\" error()\n\"b\"\nEOF"},
	{"error after data", "data: lost\nevent:error\n\n", "\"lost\" error()\nEOF"},
	{"error in a comment", ": old\n\nevent: error\n: why\n: not\n\n", "\"\" error(why not)\nEOF"},
	{"name taken back", "event: error\nevent: x\n\ndata: a\n\n", "\"a\"\nEOF"},
	{"no blank line", "data: a\n\ndata: b\n", "\"a\"\n\"b\" end\nEOF"},
	{"no line end", "data: a\n\ndata: b", "\"a\"\n\"b\" end\nEOF"},
	{"error without end", "event: error\n: why", "\"\" error(why) end\nEOF"},
	{"nothing", "", "EOF"},
	{"utf-8", "data: 中😀\n\n", "\"中😀\"\nEOF"},
	{"nul", "data: a\x00b\n\nid: \x00\ndata: c\n\n\x00data: d\n\n", "\"a\\x00b\"\n\"c\"\nEOF"},
	{"names are exact", "data : a\n\n data: b\n\nDATA: c\n\ndat: d\n\ndataa: e\n\ndata: f\n\n", "\"f\"\nEOF"},
	{"colons", ":\n:\n::\n: :\ndata::\n\ndata: :a:\n\n", "\":\"\n\":a:\"\nEOF"},
	{"a reconnection time is no data", "retry: 3000\n\nretry:\n\ndata: a\nretry: x\n\n", "\"a\"\nEOF"},
	{"the last id", "id\nid:\nid: 7\n\ndata: a\nid: 8\n\n", "\"a\"\nEOF"},
	{"a mark is one only at the start", "data: a\n\n\xef\xbb\xbfdata: b\n\ndata: \xef\xbb\xbf\n\n", "\"a\"\n\"\\ufeff\"\nEOF"},
	{"part of a mark", "\xef\xbbdata: a\n\ndata: b\n\n", "\"b\"\nEOF"},
	{"the error's name is exact", "event: error \ndata: a\n\nevent: Error\ndata: b\n\nevent:  error\ndata: c\n\n", "\"a\"\n\"b\"\n\"c\"\nEOF"},
	{"a name is of one block", "event: error\n\ndata: a\n\n", "\"\" error()\n\"a\"\nEOF"},
	{"leading blank lines", "\n\r\n\rdata: a\n\n", "\"a\"\nEOF"},
}

// TestReader reads every case whole, byte by byte and split at each boundary.
func TestReader(t *testing.T) {
	for _, c := range readerCases {
		if got := show(strings.NewReader(c.in)); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
		if got := show(iotest.OneByteReader(strings.NewReader(c.in))); got != c.want {
			t.Errorf("%s, byte by byte: got\n%s\nwant\n%s", c.name, got, c.want)
		}
		for i := range c.in {
			if got := show(&pieces{c.in[:i], c.in[i:]}); got != c.want {
				t.Errorf("%s, split at %d: got\n%s\nwant\n%s", c.name, i, got, c.want)
			}
		}
	}
}

func TestReaderLongLines(t *testing.T) {
	for _, n := range []int{65535, 65536, 65537, 1<<20 + 1, 4 << 20, MaxLine - 6} {
		var r Reader
		r.Reset(strings.NewReader("data: " + strings.Repeat("x", n) + "\n\ndata: b\n\n"))
		ev, err := r.Next()
		if err != nil || len(ev.Data) != n {
			t.Fatalf("line of %d: %d bytes, %v", n, len(ev.Data), err)
		}
		if ev, err = r.Next(); err != nil || string(ev.Data) != "b" {
			t.Fatalf("after a line of %d: %q, %v", n, ev.Data, err)
		}
	}
}

// endless gives the same byte for ever.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

func TestReaderIsBounded(t *testing.T) {
	sources := map[string]io.Reader{
		"a line":             endless('x'),
		"data lines":         &repeat{"data: " + strings.Repeat("y", 1<<16) + "\n"},
		"an unfinished line": io.MultiReader(strings.NewReader("data: "), endless('x')),
	}
	for name, src := range sources {
		var r Reader
		r.Reset(src)
		if _, err := r.Next(); !errors.Is(err, ErrTooLong) {
			t.Errorf("%s without end: %v", name, err)
		}
		if cap(r.buf) > 2*MaxLine+startBuffer || cap(r.data) > 2*MaxLine {
			t.Errorf("%s without end took %d and %d bytes", name, cap(r.buf), cap(r.data))
		}
		r.Reset(nil)
		var err error
		for piece := make([]byte, 4<<10); err == nil; {
			n, _ := src.Read(piece) // it has no end
			r.Feed(piece[:n])
			if _, err = r.Next(); err == ErrMore {
				err = nil
			}
		}
		if !errors.Is(err, ErrTooLong) || cap(r.buf) > 2*MaxLine+startBuffer || cap(r.data) > 2*MaxLine {
			t.Errorf("%s without end, fed: %v, %d and %d bytes", name, err, cap(r.buf), cap(r.data))
		}
		if r.Reset(strings.NewReader("")); cap(r.buf) > keepBuffer || cap(r.data) > keepBuffer {
			t.Errorf("%s: a Reset kept %d and %d bytes", name, cap(r.buf), cap(r.data))
		}
	}
}

type repeat struct{ s string }

func (r *repeat) Read(b []byte) (int, error) { return copy(b, r.s), nil }

// TestReaderTakesMuchNoise: liveness is ruled by time, not by a count of
// blank lines and comments.
func TestReaderTakesMuchNoise(t *testing.T) {
	in := strings.Repeat("\n", 5000) + strings.Repeat(": ping\n\n", 5000) + "data: a\n\n"
	if got := show(strings.NewReader(in)); got != "\"a\"\nEOF" {
		t.Errorf("got %s", got)
	}
}

// TestReaderStalls: a source that returns nothing for ever must not hang.
func TestReaderStalls(t *testing.T) {
	var r Reader
	r.Reset(&repeat{})
	if _, err := r.Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("Next = %v", err)
	}
}

// plain is the SSE algorithm on a whole text, line by line, in the words of
// the standard plus the deviations in the package's documentation.
func plain(in []byte) string {
	text := strings.TrimPrefix(string(in), "\xef\xbb\xbf")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	unfinished := lines[len(lines)-1] != ""
	if !unfinished {
		lines = lines[:len(lines)-1]
	}
	var out strings.Builder
	var data []string
	var comments []string
	named := false
	dispatch := func(end string) {
		if data != nil || named {
			fmt.Fprintf(&out, "%q", strings.Join(data, "\n"))
			if named {
				c := strings.Join(comments, " ")
				fmt.Fprintf(&out, " error(%s)", c[:min(len(c), maxComment)])
			}
			out.WriteString(end + "\n")
		}
		data, comments, named = nil, nil, false
	}
	for _, line := range lines {
		if line == "" {
			dispatch("")
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			data = append(data, value)
		case "event":
			named = value == "error"
		case "":
			comments = append(comments, value)
		}
	}
	dispatch(" end")
	return out.String() + "EOF"
}

// FuzzReader holds the incremental reader to the plain one, however the bytes
// are cut.
func FuzzReader(f *testing.F) {
	for _, c := range readerCases {
		f.Add([]byte(c.in), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		want := plain(in)
		if got := show(bytes.NewReader(in)); comparable(got) != comparable(want) {
			t.Fatalf("%q: got\n%s\nwant\n%s", in, got, want)
		}
		var cut pieces
		for rest := string(in); rest != ""; {
			n := min(len(rest), int(step)%7+1)
			cut, rest = append(cut, rest[:n]), rest[n:]
		}
		if got := show(&cut); comparable(got) != comparable(want) {
			t.Fatalf("%q in pieces of %d: got\n%s\nwant\n%s", in, step%7+1, got, want)
		}
	})
}

// comparable drops the comments: how empty ones join is nobody's concern.
func comparable(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if a := strings.LastIndex(l, " error("); a >= 0 {
			lines[i] = l[:a] + " error" + l[strings.LastIndex(l, ")")+1:]
		}
	}
	return strings.Join(lines, "\n")
}

func BenchmarkReader(b *testing.B) {
	line := `data: {"id":"chatcmpl-926604883e686354","object":"chat.completion.chunk","created":1795991382,"model":"tiny","choices":[{"index":0,"delta":{"content":" rain"},"logprobs":null,"finish_reason":null,"token_ids":null}]}` + "\n\n"
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	var r Reader
	r.Reset(&repeat{line})
	for b.Loop() {
		ev, err := r.Next()
		if err != nil || Scan(ev.Data) != Choices|Token|Visible {
			b.Fatal(err)
		}
	}
}
