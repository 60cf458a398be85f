package stream

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// endings are the last chunks of an answer as engines send them.
var endings = []string{
	`{"choices":[],"usage":{"completion_tokens":6,"prompt_tokens":26,"total_tokens":32,"prompt_tokens_details":{"cached_tokens":21}},"timings":{"cache_n":21}}`,
	`{"choices":[{"finish_reason":"length","index":0,"delta":{}}],"object":"chat.completion.chunk"}`,
	`{"choices":[{"index":0,"delta":{"content":"\u0013"},"logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null}]}`,
	`{"choices":[{"index":0,"delta":{"reasoning":"mp^"},"finish_reason":"stop"}]}`,
	`{"choices":[{"text":"","index":0,"finish_reason":"length"}],"usage":{"completion_tokens":3,"prompt_tokens":4}}`,
	`{"choices":[{"index":0,"text":"st","finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":14}}`,
	" {\n \"choices\" : [ ] , \"usage\" : { \"prompt_tokens\" : 1 , \"completion_tokens\" : 2 , \"prompt_tokens_details\" : null } }",
	`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}],"usage":{"prompt_tokens":1,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}}}`,
	`{"choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"index":0}]},"finish_reason":"tool_calls"}],"usage":null}`,
	`{"choices":[{"index":0,"delta":{},"finish_reason":"abort"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`,
}

// unusual chunks are valid JSON whose meaning ending must leave to decode.
var unusual = []string{
	`{"choices":[{"finish_reason":"stop"}],"choices":[]}`,
	`{"choices":[{"finish_reason":"stop","finish_reason":null}]}`,
	`{"choices":[{"index":0,"finish_reason":"st\u006fp"}]}`,
	"{\"choices\":[{\"index\":0,\"finish_reason\":\"st\xffp\"}]}",
	`{"choices":[{"index":0,"finish_reason":7}],"usage":{}}`,
	`{"choices":[{"delta":{"content":"a","content":""},"finish_reason":"stop"}]}`,
	`{"choices":[{"text":"a","text":"","finish_reason":"stop"}]}`,
	`{"choices":[{"index":0},{"index":0}],"usage":{}}`,
	`{"choices":[{"index":null}],"usage":{}}`,
	`{"choices":[[]],"usage":{}}`,
	`{"choices":null,"usage":{"prompt_tokens":1}}`,
	`{"usage":{"prompt_tokens":1,"prompt_tokens":2}}`,
	`{"usage":{"prompt_tokens":-1}}`,
	`{"usage":{"prompt_tokens":1e3}}`,
	`{"usage":{"prompt_tokens":1234567890123456789}}`,
	`{"usage":{"prompt_tokens":null}}`,
	`{"usage":{"prompt_tok\u0065ns":3}}`,
	`{"usage":{"prompt_tokens_details":[]}}`,
	`{"usage":{"prompt_tokens_details":{"cached_tokens":1,"cached_tokens":2}}}`,
	`{"usage":{"prompt_tokens_details":{"cached_tokens":null}}}`,
	`{"usage":{},"usage":null}`,
	`{"usage":{},"nvext":{"timing":{"ttft_ms":1}}}`,
	`{"usage":{},"error":"e"}`,
	`{"usage":{},"message":"m"}`,
	`{"usage":{}`,
	`{"usage":{"a":01}}`,
	``, `null`, `[]`,
}

func TestEnding(t *testing.T) {
	for _, in := range endings {
		if _, ok := ending([]byte(in)); !ok {
			t.Errorf("left to decode: %s", in)
		}
		sameAsDecode(t, []byte(in))
	}
	for _, in := range unusual {
		if c, ok := ending([]byte(in)); ok {
			t.Errorf("%s: %+v", in, c)
		}
	}
}

// TestEndingRecorded: the recorded streams of every engine end with chunks that
// ending knows.
func TestEndingRecorded(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "streams", "*stream*.http"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	known, left := 0, 0
	for _, file := range files {
		all, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(all) {
			data, isData := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: "))
			if !isData || Scan(data)&(Finish|Usage) == 0 {
				continue
			}
			sameAsDecode(t, data)
			if _, ok := ending(data); ok {
				known++
			} else {
				left++
				t.Logf("%s: %.300s", file, data)
			}
		}
	}
	if known < 20 || left > known/4 {
		t.Errorf("%d endings known, %d left to decode", known, left)
	}
}

// sameAsDecode fails where ending answers otherwise than decode.
func sameAsDecode(t *testing.T, b []byte) {
	t.Helper()
	got, ok := ending(b)
	if !ok {
		return
	}
	if want, err := decode(b); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: %+v, decode says %+v, %v", b, got, want, err)
	}
}

func FuzzEnding(f *testing.F) {
	for _, in := range append(endings, unusual...) {
		f.Add([]byte(in))
	}
	for _, c := range scanCases {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, b []byte) { sameAsDecode(t, b) })
}

func BenchmarkDecodeEnding(b *testing.B) {
	for _, in := range endings[:3] {
		b.Run("", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode([]byte(in)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
