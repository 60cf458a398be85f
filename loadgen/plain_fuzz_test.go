package loadgen

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/loadgen/internal/stream"
)

// pieces gives a text a few bytes a Read, and then an error.
type pieces struct {
	rest string
	step int
	end  error
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.rest == "" {
		return 0, p.end
	}
	n := copy(b, p.rest[:min(p.step, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

// fastRead runs a stream through what a load is measured with; arrivals are
// the numbers of events. The transcript has read another stream before, as it
// has in a run.
func fastRead(t *transcript, src *pieces) plainReading {
	var r stream.Reader
	r.Reset(src)
	t.reset()
	for at := int64(1); ; at++ {
		ev, err := r.Next()
		if err != nil {
			out := plainReading{tokens: t.times, visible: t.visible, usage: t.tokens(), hasUsage: t.hasUsage, finish: t.finishReason, ttft: t.serverTTFT, malformed: t.malformed}
			out.outcome, _ = t.end(err)
			return out
		}
		t.event(ev, at)
	}
}

// agree compares the two readings of one stream.
func agree(t *testing.T, in string, step int, broken bool) {
	t.Helper()
	want, ambiguous := plainRead(in, broken)
	if ambiguous {
		return
	}
	end := io.EOF
	if broken {
		end = io.ErrUnexpectedEOF
	}
	var s transcript
	for _, pass := range []string{"first", "second"} {
		got := fastRead(&s, &pieces{rest: in, step: step, end: end})
		if !slices.Equal(got.tokens, want.tokens) {
			t.Fatalf("%q in pieces of %d, %s pass: tokens in events %v, want %v", in, step, pass, got.tokens, want.tokens)
		}
		got.tokens = want.tokens
		if len(got.finish) == maxText {
			want.finish = want.finish[:maxText]
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q in pieces of %d, %s pass:\ngot  %+v\nwant %+v", in, step, pass, got, want)
		}
	}
}

// streams are the inputs that the tables and the recordings hold.
func streams(tb testing.TB) []string {
	var out []string
	for _, c := range framing {
		out = append(out, c.in)
	}
	for _, c := range slices.Concat(framingFaults(), payloadFaults(), timingFaults(), countingFaults()) {
		var whole strings.Builder
		for _, p := range c.parts {
			whole.WriteString(p.text)
		}
		if whole.Len() < 128<<10 {
			out = append(out, whole.String())
		}
	}
	files, err := filepath.Glob("testdata/streams/*.http")
	if err != nil || len(files) == 0 {
		tb.Fatal("no recordings", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		_, body, _ := bytes.Cut(b, []byte("\r\n\r\n"))
		out = append(out, string(body))
	}
	return out
}

// TestReadersAgree on all that the tables and recordings hold.
func TestReadersAgree(t *testing.T) {
	for _, in := range streams(t) {
		for _, broken := range []bool{false, true} {
			for _, step := range []int{1, 100} {
				agree(t, in, step, broken)
			}
		}
	}
}

// FuzzReaders holds the fast path, from bytes to the judgement of a request,
// to the plain one.
func FuzzReaders(f *testing.F) {
	for _, in := range streams(f) {
		if len(in) < 4<<10 {
			f.Add([]byte(in), uint8(100), len(in)%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8, broken bool) {
		agree(t, string(in), int(step)+1, broken)
	})
}
