package stream

import (
	"bytes"
	"encoding/json"
	"testing"
)

var scanCases = []struct {
	name, in string
	want     Kind
}{
	{"dynamo first", `{"id":"x","choices":[{"index":0,"delta":{"content":" w1","role":"assistant"},"finish_reason":null,"logprobs":null}],"created":1,"model":"tiny","object":"chat.completion.chunk"}`, Choices | Token | Visible},
	{"role only, empty", `{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`, Choices},
	{"role only, null", `{"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}`, Choices},
	{"role only, absent", `{"choices":[{"index":0,"delta":{"role":"assistant"}}]}`, Choices},
	{"spaces", "{ \"choices\" : [ { \"delta\" : { \"content\" :\t\"a\" } } ] }", Choices | Token | Visible},
	{"token and finish", `{"choices":[{"delta":{"content":"}"},"finish_reason":"length","index":0}]}`, Choices | Token | Visible | Finish},
	{"finish", `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, Choices | Finish},
	{"usage", `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, Choices | Usage},
	{"usage null", `{"choices":[{"text":" a","index":0}],"usage":null}`, Choices | Token | Visible},
	{"reasoning", `{"choices":[{"delta":{"reasoning":"x"}}]}`, Choices | Token},
	{"reasoning_content", `{"choices":[{"delta":{"content":null,"reasoning_content":"x"}}]}`, Choices | Token},
	{"tool calls", `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"content\":\"x\"}"}}]}}]}`, Choices | Token | Visible},
	{"function call", `{"choices":[{"delta":{"content":null,"function_call":{"name":"f","arguments":""}}}]}`, Choices | Token | Visible},
	{"no function call", `{"choices":[{"delta":{"function_call":{ }}}]}`, Choices},
	{"function call null", `{"choices":[{"delta":{"function_call":null,"tool_calls":null,"refusal":null}}]}`, Choices},
	{"refusal", `{"choices":[{"delta":{"refusal":"no"}}]}`, Choices | Token | Visible},
	{"audio has no token", `{"choices":[{"delta":{"audio":{"id":"a","transcript":"x"}}}]}`, Choices},
	{"reasoning and text", `{"choices":[{"delta":{"reasoning":"x","content":"y"}}]}`, Choices | Token | Visible},
	{"logprobs that look like keys", `{"choices":[{"delta":{"content":""},"logprobs":{"content":[{"token":"\"content\":\"","bytes":[34]}],"tool_calls":[1]}}]}`, Choices},
	{"no tool calls", `{"choices":[{"delta":{"tool_calls":[ ]}}]}`, Choices},
	{"content parts", `{"choices":[{"delta":{"content":[{"type":"text","text":"a"}]}}]}`, Choices | Token | Visible},
	{"completions", `{"choices":[{"text":"a","index":0,"logprobs":null,"finish_reason":null}]}`, Choices | Token | Visible},
	{"logprobs are no content", `{"choices":[{"delta":{},"logprobs":{"content":[{"token":"a"}],"text":"b"}}]}`, Choices},
	{"content elsewhere", `{"nvext":{"content":"a","choices":[{"delta":{"content":"a"}}]},"choices":[]}`, Choices},
	{"quotes in a value", `{"choices":[{"delta":{"role":"\"content\":\"a\"","content":""}}]}`, Choices},
	{"error object", `{"error":{"message":"m","code":504}}`, Error},
	{"error string", `{ "error" : "m" }`, Error},
	{"error late", `{"id":"x","error":{"type":"t"}}`, Error},
	{"error null", `{"error":null,"choices":[]}`, Choices},
	{"error false or empty", `{"error":false,"choices":[],"error":""}`, Choices},
	{"old vLLM error", `{"object":"error","message":"m","code":400}`, Error | Message},
	{"bare message", `{"message":"overloaded","code":529}`, Message},
	{"azure", `{"id":"","choices":[],"prompt_filter_results":[{"x":[[{}]]}]}`, Choices},
	{"second choice", `{"choices":[{"index":1,"delta":{"content":"a"}}]}`, Choices | Token | Visible | Multi},
	{"who served it", `{"choices":[{"delta":{"content":"a"}}],"nvext":{"worker_id":{"timing":{}}}}`, Choices | Token | Visible},
	{"times", `{"choices":[{"delta":{"content":"a"}}],"nvext":{"timing":{"ttft_ms":1}}}`, Choices | Token | Visible | Timing},
	{"no times", `{"choices":[],"nvext":{"timing":null},"timing":{}}`, Choices},
	{"escaped name", `{"choices":[{"delta":{"cont\u0065nt":"a"}}]}`, Odd},
	{"escaped value of object", `{"object":"err\u006fr"}`, Odd},
	{"empty", ``, Odd}, {"comment as data", `: PROCESSING`, Odd}, {"text", `error: no`, Odd},
	{"array", `[{"choices":[]}]`, Odd}, {"cut", `{"choices":[{"delta":{"content":"a`, Odd},
	{"trailing", `{"choices":[]} x`, Odd}, {"done", `[DONE]`, Odd},
}

func TestScan(t *testing.T) {
	for _, c := range scanCases {
		if got := Scan([]byte(c.in)); got != c.want {
			t.Errorf("%s: Scan(%s) = %b, want %b", c.name, c.in, got, c.want)
		}
		d, err := Decode([]byte(c.in))
		if c.want == Odd {
			continue
		}
		if err != nil || d.Kind != c.want {
			t.Errorf("%s: Decode = %b, %v, want %b", c.name, d.Kind, err, c.want)
		}
	}
}

func TestDecodeTakesEscapedNames(t *testing.T) {
	c, err := Decode([]byte(`{"choices":[{"delta":{"cont\u0065nt":"a"}}]}`))
	if err != nil || c.Kind != Choices|Token|Visible {
		t.Errorf("Decode = %b, %v", c.Kind, err)
	}
}

func TestErrorText(t *testing.T) {
	for in, want := range map[string]string{
		`{"error":{"message":"m","type":"t","code":504}}`:       "504: m",
		`{"error":{"message":"m","code":"quota"}}`:              "quota: m",
		`{"error":"Unauthorized"}`:                              "Unauthorized",
		`{"error":{"type":"t"}}`:                                `{"type":"t"}`,
		`{"object":"error","message":"m","code":400}`:           "400: m",
		`{"message":"over","type":"Overloaded","code":529}`:     "529: over",
		`{"detail":"Not Found"}`:                                "Not Found",
		`{"error":{"message":"a \"b\"","code":null,"x":[1]}}`:   `a "b"`,
		`{"error":true}`:                                        `{"error":true}`,
		`{"error":{"message":"worker lost"},"choices":[{}]}`:    "worker lost",
		`{"error":{"message":"x"},"usage":{"prompt_tokens":1}}`: "x",
	} {
		c, err := Decode([]byte(in))
		if err != nil || c.ErrText != want || !c.Failed() || !Scan([]byte(in)).Failed() {
			t.Errorf("%s: %q, failed %v, %v; want %q", in, c.ErrText, c.Failed(), err, want)
		}
	}
}

// oracle walks the tokens of encoding/json and applies the definition of each
// kind by path, independently of both parsers under test.
func oracle(b []byte) Kind {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var kind Kind
	walk(d, nil, &kind)
	return kind
}

func walk(d *json.Decoder, path []string, kind *Kind) {
	tok, err := d.Token()
	if err != nil {
		return
	}
	open, isOpen := tok.(json.Delim)
	filled := isOpen && d.More()
	mark(path, tok, filled, kind)
	if !isOpen {
		return
	}
	for d.More() {
		if open == '[' {
			walk(d, append(path[:len(path):len(path)], "[]"), kind)
			continue
		}
		key, err := d.Token()
		if err != nil {
			return
		}
		walk(d, append(path[:len(path):len(path)], "."+key.(string)), kind)
	}
	_, _ = d.Token() // the closing bracket
}

func mark(path []string, tok json.Token, filled bool, kind *Kind) {
	s, isString := tok.(string)
	full := isString && s != ""
	at := ""
	for _, p := range path {
		at += p
	}
	switch at {
	case ".choices":
		if tok == json.Delim('[') {
			*kind |= Choices
		}
	case ".usage":
		if tok == json.Delim('{') {
			*kind |= Usage
		}
	case ".error":
		if tok != nil && tok != false && !(isString && s == "") {
			*kind |= Error
		}
	case ".nvext.timing":
		if tok == json.Delim('{') {
			*kind |= Timing
		}
	case ".object":
		if s == "error" {
			*kind |= Error
		}
	case ".message", ".detail":
		if full {
			*kind |= Message
		}
	case ".choices[].text":
		if full {
			*kind |= Token | Visible
		}
	case ".choices[].finish_reason":
		if full {
			*kind |= Finish
		}
	case ".choices[].index":
		if n, ok := tok.(json.Number); ok && n[0] != '0' || tok == true || tok == false {
			*kind |= Multi
		}
	case ".choices[].delta.reasoning", ".choices[].delta.reasoning_content":
		if full || tok == json.Delim('[') && filled {
			*kind |= Token
		}
	case ".choices[].delta.content", ".choices[].delta.refusal":
		if full || tok == json.Delim('[') && filled {
			*kind |= Token | Visible
		}
	case ".choices[].delta.tool_calls":
		if tok == json.Delim('[') && filled {
			*kind |= Token | Visible
		}
	case ".choices[].delta.function_call":
		if tok == json.Delim('{') && filled {
			*kind |= Token | Visible
		}
	}
}

// FuzzScan holds the one-pass scanner to encoding/json on every valid object
// that it does not hand over, and to safety on everything else.
func FuzzScan(f *testing.F) {
	for _, c := range scanCases {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := Scan(b)
		if _, err := Decode(b); err == nil && !json.Valid(b) {
			t.Fatalf("Decode took invalid JSON %q", b)
		}
		if !json.Valid(b) || got == Odd || ambiguous(b) {
			return
		}
		if want := oracle(b); got != want {
			t.Fatalf("Scan(%q) = %b, encoding/json says %b", b, got, want)
		}
	})
}

// ambiguous: names holding the separators of the oracle's paths.
func ambiguous(b []byte) bool {
	d := json.NewDecoder(bytes.NewReader(b))
	for {
		tok, err := d.Token()
		if err != nil {
			return false
		}
		if s, ok := tok.(string); ok && bytes.ContainsAny([]byte(s), ".[]") {
			return true
		}
	}
}

func BenchmarkScan(b *testing.B) {
	for name, line := range map[string]string{
		"vllm":   `{"id":"chatcmpl-926604883e686354","object":"chat.completion.chunk","created":1795991382,"model":"tiny","choices":[{"index":0,"delta":{"content":" rain"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`,
		"dynamo": `{"id":"chatcmpl-257eeab3-5b74-4203-95d6-0561b63d4337","choices":[{"index":0,"delta":{"content":" w1864"},"finish_reason":null,"logprobs":null}],"created":1795991869,"model":"tiny","object":"chat.completion.chunk"}`,
	} {
		b.Run(name, func(b *testing.B) {
			data := []byte(line)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if Scan(data) != Choices|Token|Visible {
					b.Fatal("wrong kind")
				}
			}
		})
	}
}
