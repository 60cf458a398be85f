package loadgen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// framing holds the streams that servers in the field have sent (numbers of
// the failure catalogue in the names are of no consequence): bytes, and what
// must come of them however they are cut.
var framing = []struct {
	name, in string
	outcome  Outcome
	chunks   int
	tokens   int64
	text     string // part of the error
}{
	{"plain", chat("a") + chat("b") + finish + usage2 + done, OK, 2, 2, ""},
	{"comments", ": keep-alive\n\n:\n\n" + chat("a") + ": ping\n\n" + usage2 + done, OK, 1, 2, ""},
	{"blank data", chat("a") + "data:\n\ndata: \n\n" + chat("b") + usage2 + done, OK, 2, 2, ""},
	{"no space", strings.ReplaceAll(chat("a")+chat("b")+usage2+done, "data: ", "data:"), OK, 2, 2, ""},
	{"crlf", strings.ReplaceAll(chat("a")+chat("b")+usage2+done, "\n", "\r\n"), OK, 2, 2, ""},
	{"cr", strings.ReplaceAll(chat("a")+chat("b")+usage2+done, "\n", "\r"), OK, 2, 2, ""},
	{"byte order mark", "\xef\xbb\xbf" + chat("a") + usage2 + done, OK, 1, 2, ""},
	{"multi-byte text", chat("中") + chat("😀") + usage2 + done, OK, 2, 2, ""},
	{"data over two lines", "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"a\"}}]}\n\n" + usage2 + done, OK, 1, 2, ""},
	{"no terminal sign", chat("a") + chat("b"), Truncated, 2, 0, "[DONE]"},
	{"finish and usage, no done", chat("a") + finish + usage2, OK, 1, 2, ""},
	{"finish only", chat("a") + finish, Protocol, 1, 0, "no usage"},
	{"usage only", chat("a") + usage2, OK, 1, 2, ""},
	{"done, finish always null", chat("a") + usage2 + done, OK, 1, 2, ""},
	{"done without blank line", chat("a") + usage2 + "data: [DONE]", OK, 1, 2, ""},
	{"done without second newline", chat("a") + usage2 + "data: [DONE]\n", OK, 1, 2, ""},
	{"cut inside a chunk", chat("a") + `data: {"choices":[{"delta":{"cont`, Truncated, 1, 0, "inside a chunk"},
	{"error object then done", `data: {"error":{"message":"late","type":"GatewayTimeout","code":504}}` + "\n\n" + done, InBand, 0, 0, "504: late"},
	{"error string", chat("a") + `data: { "error" : "no blocks" }` + "\n\n" + usage2 + done, InBand, 1, 2, "no blocks"},
	{"old error object", `data: {"object":"error","message":"m","code":400}` + "\n\n", InBand, 0, 0, "400: m"},
	{"bare error body", `data: {"message":"overloaded","type":"Overloaded","code":529}` + "\n\n", InBand, 0, 0, "529: overloaded"},
	{"error event, data", chat("a") + chat("b") + "event: error\ndata: {\"message\":\"worker lost\"}\n\n" + done, InBand, 2, 0, "worker lost"},
	{"error event, text", "event: error\ndata: too many requests\n\n", InBand, 0, 0, "too many requests"},
	{"error event, comment", "event: error\n: unspecified error\n\n", InBand, 0, 0, "unspecified error"},
	{"error event, comment, late", chat("a") + "event: error\n: engine gone\n\n" + done, InBand, 1, 0, "engine gone"},
	{"error event, nothing", "event: error\n\n" + done, InBand, 0, 0, "without a reason"},
	{"error text as data", chat("a") + "data: error: out of KV blocks\n\n", InBand, 1, 0, "out of KV blocks"},
	{"comment wrapped as data", "data: : PROCESSING\n\n" + chat("a") + usage2 + done, OK, 1, 2, ""},
	{"text as data", "data: hello\n\n" + done, Protocol, 0, 0, "hello"},
	{"null as data", "data: null\n\n" + done, Protocol, 0, 0, "null"},
	{"first chunk without choices", `data: {"id":"","choices":[],"prompt_filter_results":[{}]}` + "\n\n" + chat("a") + usage2 + done, OK, 1, 2, ""},
	{"role chunks", `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}` + "\n\n" + `data: {"choices":[{"delta":{"role":"assistant","content":null}}]}` + "\n\n" + chat("a") + usage2 + done, OK, 1, 2, ""},
	{"reasoning", `data: {"choices":[{"delta":{"reasoning":"a"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"reasoning_content":"b","content":""}}]}` + "\n\n" + usage2 + done, OK, 2, 2, ""},
	{"both reasoning keys count once", `data: {"choices":[{"delta":{"reasoning":"a","reasoning_content":"a"}}]}` + "\n\n" + usage2 + done, OK, 1, 2, ""},
	{"tool calls", `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}}]}}]}` + "\n\n" + usage2 + done, OK, 1, 2, ""},
	{"completions", `data: {"choices":[{"text":"a","index":0,"finish_reason":null}],"usage":null}` + "\n\n" + usage2 + done, OK, 1, 2, ""},
	{"no usage", chat("a") + finish + done, Protocol, 1, 0, "usage"},
	{"usage null", chat("a") + strings.Replace(finish, "}]}", `}],"usage":null}`, 1) + done, Protocol, 1, 0, "usage"},
	{"usage of nothing", finish + usageOf("0") + done, Protocol, 0, 0, "absurd"},
	{"negative usage", chat("a") + usageOf("-1") + done, Protocol, 1, -1, "absurd"},
	{"usage of no numbers", chat("a") + usageOf(`"x"`) + done, Protocol, 1, 0, "usage:"},
	{"usage on the finish chunk", chat("a") + strings.Replace(finish, "}]}", `}],"usage":{"prompt_tokens":1,"completion_tokens":7}}`, 1) + done, OK, 1, 7, ""},
	{"continuous usage", chat("a") + strings.Replace(chat("b"), "}]}", `}],"usage":{"completion_tokens":1}}`, 1) + strings.Replace(chat("c"), "}]}", `}],"usage":{"completion_tokens":2}}`, 1) + usageOf("3") + done, OK, 3, 3, ""},
	{"two choices, two usages", `data: {"choices":[{"index":1,"delta":{"content":"a"}}]}` + "\n\n" + chat("b") + usageOf("4") + usageOf("5") + done, OK, 2, 9, ""},
	{"one choice, usage twice", chat("a") + usageOf("4") + usageOf("4") + done, OK, 1, 4, ""},
	{"an error with usage that is none", chat("a") + `data: {"error":"gone","usage":{"completion_tokens":"x"}}` + "\n\n" + done, InBand, 1, 0, "gone"},
	{"the second choice alone finishes", `data: {"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"}]}` + "\n\n" + usage2, Truncated, 1, 2, ""},
	{"no JSON between braces", strings.Replace(chat("a"), `"id":"x"`, `id:"x"`, 1) + usage2 + done, Protocol, 0, 2, "cannot be read"},
	{"one of two choices finishes", chat("a") + `data: {"choices":[{"index":1,"delta":{"content":"b"}}]}` + "\n\n" + finish + usage2, Truncated, 2, 2, ""},
	{"both choices finish", chat("a") + `data: {"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"}]}` + "\n\n" + finish + usage2, OK, 2, 2, ""},
	{"after done nothing counts", chat("a") + usage2 + done + chat("b") + `data: {"error":"x"}` + "\n\n", OK, 1, 2, ""},
	{"finished by an error", chat("a") + finishAs("error") + usageOf("1") + done, Unfinished, 1, 1, "finish_reason error"},
	{"filtered, no done", chat("a") + finishAs("content_filter") + usageOf("1"), Unfinished, 1, 1, "content_filter"},
	{"finished well, then by an error", chat("a") + finish + finishAs("abort") + usageOf("1") + done, Unfinished, 1, 1, "abort"},
	{"finished by an error, then well", chat("a") + finishAs("abort") + finish + usageOf("1") + done, Unfinished, 1, 1, "abort"},
	{"finished twice, well", chat("a") + finish + finishAs("stop") + usageOf("1") + done, OK, 1, 1, ""},
	{"an unasked choice finished by an error", chat("a") + strings.Replace(finishAs("error"), `index":0`, `index":1`, 1) + finish + usageOf("1") + done, Unfinished, 1, 1, "error"},
	{"finished by an error without usage", chat("a") + finishAs("error"), Unfinished, 1, 0, "finish_reason error"},
	{"an error object, then finished by an error", chat("a") + `data: {"error":"gone"}` + "\n\n" + finishAs("error") + usageOf("1") + done, InBand, 1, 1, "gone"},
	{"escaped names", `data: {"choices":[{"delta":{"cont\u0065nt":"a"}}]}` + "\n\n" + usage2 + done, OK, 1, 2, ""},
	{"empty", "", Truncated, 0, 0, ""},
}

func TestFraming(t *testing.T) {
	for _, c := range framing {
		check := func(how string, parts ...part) bool {
			t.Helper()
			r, times := send(t, answer(200, nil, parts...), "")
			if r.outcome != c.outcome || len(times) != c.chunks || r.tokens.Completion != c.tokens || !strings.Contains(r.text, c.text) || (r.text == "") != (r.outcome == OK) {
				t.Errorf("%s, %s: %s %d chunks %d tokens %q, want %s %d %d %q", c.name, how, r.outcome, len(times), r.tokens.Completion, r.text, c.outcome, c.chunks, c.tokens, c.text)
				return false
			}
			return true
		}
		ok := check("whole", part{text: c.in})
		for i := 1; i < len(c.in) && ok; i++ {
			ok = check(fmt.Sprintf("split at %d", i), part{text: c.in[:i]}, part{text: c.in[i:]})
		}
		// A connection that breaks at the end changes only what was not
		// complete by then.
		if r, _ := send(t, answer(200, nil, part{text: c.in}, part{err: io.ErrUnexpectedEOF}), ""); strings.HasSuffix(c.in, done) && r.outcome != c.outcome {
			t.Errorf("%s, then broken: %s, want %s", c.name, r.outcome, c.outcome)
		}
	}
}

// TestBreaks: a stream that breaks is never a short success.
func TestBreaks(t *testing.T) {
	for _, err := range []error{io.ErrUnexpectedEOF, syscall.ECONNRESET} {
		for _, in := range []string{"", chat("a"), chat("a") + finish + usage2, chat("a") + `data: {"cho`} {
			r, _ := send(t, answer(200, nil, part{text: in}, part{err: err}), "")
			if r.outcome != Truncated || r.text == "" {
				t.Errorf("%q then %v: %s %q", in, err, r.outcome, r.text)
			}
		}
	}
	long := answer(200, nil, part{text: "data: " + strings.Repeat("x", 17<<20)})
	if r, _ := send(t, long, ""); r.outcome != Protocol || !strings.Contains(r.text, "16 MiB") {
		t.Errorf("an endless line: %s %q", r.outcome, r.text)
	}
	if r, _ := send(t, answer(200, nil, part{text: chat(strings.Repeat("x", 4<<20)) + usage2 + done}), ""); r.outcome != OK {
		t.Errorf("a line of 4 MiB: %s %q", r.outcome, r.text)
	}
}

// TestAnswersThatAreNoStream covers statuses, redirects and bodies of other
// kinds.
func TestAnswersThatAreNoStream(t *testing.T) {
	kind := func(s string) http.Header { return http.Header{"Content-Type": {s}} }
	stream := chat("a") + usage2 + done
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		body   string
		want   Outcome
		text   string
	}{
		{"json error", 200, kind("application/json"), `{"error":{"message":"no"}}`, InBand, "no"},
		{"whole completion", 200, kind("application/json"), `{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, Protocol, "event stream"},
		{"html", 200, kind("text/html; charset=utf-8"), "<html>log in</html>", Protocol, "log in"},
		{"no type", 200, http.Header{}, stream, Protocol, ""},
		{"charset", 200, kind("text/event-stream; charset=utf-8"), stream, OK, ""},
		{"upper case", 200, kind("Text/Event-Stream"), stream, OK, ""},
		{"identity", 200, http.Header{"Content-Type": {"text/event-stream"}, "Content-Encoding": {"identity"}}, stream, OK, ""},
		{"gzip", 200, http.Header{"Content-Type": {"text/event-stream"}, "Content-Encoding": {"gzip"}}, "\x1f\x8b", Protocol, "gzip"},
		{"no content", 204, nil, "", HTTPStatus, ""},
		{"redirect", 302, http.Header{"Location": {"/login"}}, "", HTTPStatus, ""},
		{"not modified", 304, nil, "", HTTPStatus, ""},
		{"400", 400, kind("application/json"), `{"error":{"message":"bad stream_options","code":400}}`, HTTPStatus, "bad stream_options"},
		{"404 empty", 404, nil, "", HTTPStatus, ""},
		{"404 detail", 404, kind("application/json"), `{"detail":"Not Found"}`, HTTPStatus, "Not Found"},
		{"500", 500, kind("text/plain"), "oops\x1b[31m\n\x00red", HTTPStatus, "oops [31m red"},
		{"429", 429, http.Header{"Retry-After": {"7"}}, "slow down", Shed, "Retry-After 7: slow down"},
		{"503", 503, nil, "", Shed, ""},
		{"529", 529, kind("application/json"), `{"message":"Service temporarily overloaded","code":529}`, Shed, "529: Service temporarily overloaded"},
	} {
		r, _ := send(t, answer(c.status, c.header, part{text: c.body}), "")
		if r.outcome != c.want || !strings.Contains(r.text, c.text) || len(r.text) > maxText+3 {
			t.Errorf("%s: %s %q, want %s %q", c.name, r.outcome, r.text, c.want, c.text)
		}
	}
	r, _ := send(t, answer(500, nil, part{text: strings.Repeat("é", 1<<20)}), "")
	if len(r.text) > maxText+8 || !strings.HasSuffix(r.text, "…") {
		t.Errorf("a long body is quoted with %d bytes", len(r.text))
	}
}

// TestTimes pins which event each time belongs to, in virtual time.
func TestTimes(t *testing.T) {
	at := func(ms int, text string) part { return part{wait: time.Duration(ms) * time.Millisecond, text: text} }
	role := func(content string) string {
		return `data: {"choices":[{"delta":{"role":"assistant"` + content + `}}]}` + "\n\n"
	}
	for _, c := range []struct {
		name             string
		parts            []part
		first, last, end int // ms
		gaps             string
	}{
		{"comments first", []part{at(50, ": keep-alive\n\n"), at(850, chat("a")), at(0, usage2+done)}, 900, 900, 900, "[]"},
		{"role, empty", []part{at(5, role(`,"content":""`)), at(209, chat("a")), at(20, chat("b")), at(0, usage2+done)}, 214, 234, 234, "[20]"},
		{"role, null", []part{at(5, role(`,"content":null`)), at(209, chat("a")), at(20, chat("b")), at(0, usage2+done)}, 214, 234, 234, "[20]"},
		{"role only", []part{at(5, role("")), at(209, chat("a")), at(20, chat("b")), at(0, usage2+done)}, 214, 234, 234, "[20]"},
		{"late usage", []part{at(100, chat("a")), at(10, chat("b")), at(10, chat("c")), at(1, finish), at(279, usageOf("3")), at(1, done)}, 100, 120, 401, "[10 10]"},
		{"thinking", []part{at(80, `data: {"choices":[{"delta":{"reasoning_content":"h"}}]}`+"\n\n"), at(1920, chat("a")), at(0, usage2+done)}, 80, 2000, 2000, "[1920]"},
		{"two events in a read", []part{at(30, chat("a")+chat("b")), at(10, "data: [DO"), at(5, "NE]\n\n")}, 30, 30, 45, "[0]"},
		{"one event in two reads", []part{at(30, chat("a")[:20]), at(10, chat("a")[20:]), at(0, usage2+done)}, 40, 40, 40, "[]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, times := send(t, answer(200, nil, c.parts...), "")
			gaps := []int64{}
			for i := 1; i < len(times); i++ {
				gaps = append(gaps, (times[i]-times[i-1])/1e6)
			}
			if r.first != int64(c.first)*1e6 || r.last != int64(c.last)*1e6 || r.end != int64(c.end)*1e6 || fmt.Sprint(gaps) != c.gaps {
				t.Errorf("%s: first %d last %d end %d gaps %v, want %d %d %d %s", c.name, r.first, r.last, r.end, gaps, c.first, c.last, c.end, c.gaps)
			}
		})
	}
}

// TestDeadlines: whatever the server does, a request ends, and its outcome
// says who ended it.
func TestDeadlines(t *testing.T) {
	hour := part{wait: time.Hour, text: "x"}
	for _, c := range []struct {
		name    string
		rt      roundTrip
		want    Outcome
		seconds int64
	}{
		{"silent from the start", func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }, Timeout, 300},
		{"silent in the stream", answer(200, nil, part{text: chat("a")}, hour), Timeout, 300},
		{"trickle", func(r *http.Request) (*http.Response, error) {
			return answer(200, nil, make1000(part{wait: time.Second, text: chat("a")})...)(r)
		}, Timeout, 300},
		{"silent after an error", answer(200, nil, part{text: "event: error\n: x\n\n"}, hour), InBand, 0},
		{"silent after done", answer(200, nil, part{text: chat("a") + usage2 + done}, hour), OK, 0},
		{"silent error body", answer(503, nil, part{text: "full"}, hour), Shed, 0},
		{"silent body of another type", answer(200, http.Header{}, hour), Protocol, 0},
		{"endless tail", answer(200, nil, part{text: chat("a") + usage2 + done}, part{text: strings.Repeat(": x\n", 1<<16)}, hour), OK, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			r, _ := send(t, c.rt, "")
			if took := int64(time.Since(start).Seconds()); r.outcome != c.want || took != c.seconds {
				t.Errorf("%s: %s after %d s (%s), want %s after %d s", c.name, r.outcome, took, r.text, c.want, c.seconds)
			}
		})
	}
}

func make1000(p part) []part {
	out := make([]part, 1000)
	for i := range out {
		out[i] = p
	}
	return out
}

func TestSendFailures(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Outcome
	}{
		{errors.New("net/http: HTTP/1.x transport connection broken: malformed HTTP response \"SSH-2.0\""), Protocol},
		{textproto.ProtocolError("bad header"), Protocol},
		{io.EOF, Connect},
		{syscall.ECONNRESET, Connect},
	} {
		r, _ := send(t, roundTrip(func(*http.Request) (*http.Response, error) { return nil, c.err }), "")
		if r.outcome != c.want || r.text == "" {
			t.Errorf("%v: %s %q, want %s", c.err, r.outcome, r.text, c.want)
		}
	}
}

// TestNoSecretInTexts: servers and proxies echo what they were sent.
func TestNoSecretInTexts(t *testing.T) {
	const canary = "sk-canary-5a17"
	for _, rt := range []roundTrip{
		answer(401, nil, part{text: "bad key " + canary + " in Authorization: Bearer " + canary}),
		answer(200, nil, part{text: "event: error\n: key " + canary + "\n\n"}),
		answer(200, nil, part{text: "data: " + strings.Repeat("x", maxText-8) + canary + "\n\n"}),
		answer(200, nil, part{text: `data: {"error":"` + strings.Repeat("y", maxText-8) + canary + `"}` + "\n\n"}),
		func(*http.Request) (*http.Response, error) { return nil, errors.New("proxy says " + canary) },
	} {
		r, _ := send(t, rt, canary)
		if r.outcome == OK || r.text == "" || strings.Contains(r.text, "sk-can") {
			t.Errorf("%s: %q", r.outcome, r.text)
		}
	}
}

// TestTranscripts replays what Dynamo, vLLM and llama.cpp really sent.
func TestTranscripts(t *testing.T) {
	table, err := os.ReadFile("testdata/streams/want.tsv")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(table)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		file, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		file = filepath.Join("testdata/streams", file)
		e, r := exchanged(t, recorded(t, file), "")
		if r.outcome != Outcome(strings.Split(want, "\t")[0]) {
			t.Errorf("%s: %s (%s), want %s", file, r.outcome, r.text, want)
		}
		synctest.Test(t, func(t *testing.T) {
			slow, r := exchanged(t, dribble(recorded(t, file)), "")
			if got := summary(slow, r); got != want || slow.script.events != e.script.events {
				t.Errorf("%s: got %q (%s), want %q", file, got, r.text, want)
			}
		})
		n++
	}
	if files, _ := filepath.Glob("testdata/streams/*.http"); n != len(files) || n == 0 {
		t.Errorf("the table has %d rows for %d recordings", n, len(files))
	}
}

// summary is a row of want.tsv.
func summary(e *exchange, r reply) string {
	told := func(n int64, told bool) string {
		if !told {
			return "-"
		}
		return fmt.Sprint(n)
	}
	s, ttft := &e.script, ""
	if s.serverTTFT > 0 {
		ttft = fmt.Sprintf("%.3f", s.serverTTFT.Seconds()*1000)
	}
	return fmt.Sprintf("%s\t%d\t%d\t%d\t%s\t%d\t%s\t%s\t%s", r.outcome, len(s.times), 1+slices.Index(s.times, max(s.visible, 1)), r.tokens.Prompt, told(r.tokens.Cached, r.tokens.CachedTold),
		r.tokens.Completion, told(r.tokens.Reasoning, r.tokens.ReasoningTold), s.finishReason, ttft)
}

// dribble delivers an answer byte by byte, each a moment after the other.
func dribble(rt roundTrip) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := rt(r)
		if err == nil {
			resp.Body = slowBody{resp.Body}
		}
		return resp, err
	}
}

type slowBody struct{ io.ReadCloser }

func (b slowBody) Read(p []byte) (int, error) {
	time.Sleep(time.Microsecond)
	return b.ReadCloser.Read(p[:min(len(p), 1)])
}

// recorded answers with a recording. Most were written by a client that had
// removed the chunked framing; those recorded raw still have it.
func recorded(t *testing.T, file string) roundTrip {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := bytes.Index(b, []byte("\n# curl exit status"))
	if cut >= 0 {
		b = b[:cut]
	}
	head, body, _ := bytes.Cut(b, []byte("\r\n\r\n"))
	first, _, _ := bytes.Cut(body, []byte("\n"))
	if n, err := fmt.Sscanf(strings.TrimSpace(string(first)), "%x", new(int)); err == nil && n == 1 && !bytes.HasPrefix(body, []byte("data")) {
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(b)), nil)
		if err != nil {
			t.Fatal(err)
		}
		return func(*http.Request) (*http.Response, error) { return resp, nil }
	}
	statusLine, rest, _ := bytes.Cut(head, []byte("\r\n"))
	var status int
	if _, err := fmt.Sscanf(string(statusLine), "HTTP/1.1 %d", &status); err != nil {
		t.Fatal(file, err)
	}
	header, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(rest, "\r\n\r\n"...)))).ReadMIMEHeader()
	if err != nil {
		t.Fatal(file, err)
	}
	parts := []part{{text: string(body)}}
	if cut >= 0 {
		parts = append(parts, part{err: io.ErrUnexpectedEOF})
	}
	return answer(status, http.Header(header), parts...)
}
