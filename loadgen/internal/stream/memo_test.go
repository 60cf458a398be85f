package stream

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// exact is what a Scanner that has learnt nothing must answer: Scan, but for
// what is not JSON.
func exact(b []byte) Kind {
	kind := Scan(b)
	if (kind.Plain() || kind == Choices) && !json.Valid(b) {
		return Odd
	}
	return kind
}

// TestScanner: whatever it has learnt, it answers as if it had learnt nothing.
func TestScanner(t *testing.T) {
	plain := `{"id":"x","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`
	cases := []string{
		plain,
		strings.Replace(plain, `"a"`, `"another text"`, 1),
		strings.Replace(plain, `"a"`, `""`, 1),
		strings.Replace(plain, `"a"`, `"\""`, 1),
		strings.Replace(plain, `"a"`, `"\\"`, 1),
		strings.Replace(plain, `"a"`, `"\"},\"finish_reason\":\"stop"`, 1),
		strings.Replace(plain, `"a"`, `"b","reasoning":"c"`, 1),
		strings.Replace(plain, `"a"`, `"","role":"c"`, 1),
		strings.Replace(plain, `"a"`, `"b"},"finish_reason":"stop","x":{"y":"z"`, 1),
		strings.Replace(plain, `"a"`, `"b\`, 1),
		strings.Replace(plain, `"a"`, `"\x"`, 1),
		strings.Replace(plain, `"a"`, `"\u00e9"`, 1),
		strings.Replace(plain, `"a"`, "\"\n\"", 1),
		strings.Replace(plain, `"a"`, "\"\xff\"", 1),
		strings.Replace(plain, `"index"`, `index`, 1),
		strings.Replace(plain, `"a"`, `"b`, 1),
		strings.Replace(plain, "null", `"stop"`, 1),
		strings.Replace(plain, `"index":0`, `"index":1`, 1),
		strings.Replace(plain, "content", "reasoning", 1),
		strings.Replace(plain, `"id":"x"`, `"id":"x","error":"e"`, 1),
		plain[:len(plain)-1],
		plain + " ",
		"[DONE]", "",
	}
	for _, c := range scanCases {
		cases = append(cases, c.in)
	}
	for _, first := range cases {
		for _, second := range cases {
			var s Scanner
			for i, in := range []string{first, second, second, first} {
				if got, want := s.Scan([]byte(in)), exact([]byte(in)); got != want {
					t.Fatalf("chunk %d of %q and %q: %b, want %b", i, first, second, got, want)
				}
			}
		}
	}
}

// TestScannerLearns: without this the memory would be for nothing.
func TestScannerLearns(t *testing.T) {
	for _, name := range []string{`"delta":{"content":"`, `"delta":{"reasoning":"`, `"delta":{"reasoning_content":"`, `"text":"`} {
		var s Scanner
		chunk := `{"id":"x","choices":[{"index":0,` + name + `a"}` + strings.Repeat("}", strings.Count(name, "{")) + `]}`
		kind := s.Scan([]byte(chunk))
		if !kind.Plain() || s.kind != kind || !strings.HasSuffix(string(s.head), name) || s.tail[0] != '"' {
			t.Errorf("%s: %b, learnt %q and %q", chunk, kind, s.head, s.tail)
		}
	}
	var s Scanner
	long := `{"choices":[{"index":0,"delta":{"content":"` + strings.Repeat("x", maxMemo) + `"}}]}`
	if kind := s.Scan([]byte(long)); !kind.Plain() || s.kind != 0 {
		t.Errorf("learnt from a chunk of %d bytes", len(long))
	}
}

// FuzzScanner changes one stretch of a chunk that the Scanner has seen, which
// is what the next chunk of a stream is.
func FuzzScanner(f *testing.F) {
	for _, c := range scanCases {
		f.Add([]byte(c.in), uint16(len(c.in)/2), uint16(1), []byte(`b`))
		f.Add([]byte(c.in), uint16(strings.Index(c.in, `"a"`)+1), uint16(1), []byte(`\"},`))
	}
	f.Fuzz(func(t *testing.T, first []byte, at, cut uint16, text []byte) {
		from := min(int(at), len(first))
		to := min(from+int(cut), len(first))
		second := slices.Concat(first[:from], text, first[to:])
		var s Scanner
		for i, in := range [][]byte{first, second, first, second} {
			if got, want := s.Scan(in), exact(in); got != want {
				t.Fatalf("chunk %d of %q and %q: %b, want %b", i, first, second, got, want)
			}
		}
	})
}
