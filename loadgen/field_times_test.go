package loadgen

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func timingFaults() []fieldCase {
	cases := []fieldCase{
		{id: "A25", report: "vllm-project/production-stack#873", name: "usage long after the last token",
			parts: []part{at(100, chat("a")), at(10, chat("b")), at(10, chat("c")), at(1, finish), at(279, usageOf("3")), at(1, done)},
			want:  "ok; 100 100 120 401 ms; 3 chunks; 3 - 3 tokens; length"},
		{id: "A26", report: "vllm-project/guidellm#737", name: "reasoning_content", parts: thinking(`"reasoning_content":"h"`, true),
			want: "ok; 80 2000 2000 2000 ms; 51 chunks; 3 - 51 tokens; "},
		{id: "A26", report: "kubernetes-sigs/inference-perf#559", name: "reasoning", parts: thinking(`"reasoning":"h","content":null`, true),
			want: "ok; 80 2000 2000 2000 ms; 51 chunks; 3 - 51 tokens; "},
		{id: "A26", report: "sgl-project/genai-bench#87", name: "both", parts: thinking(`"reasoning":"h","reasoning_content":"h","content":""`, true),
			want: "ok; 80 2000 2000 2000 ms; 51 chunks; 3 - 51 tokens; "},
		{id: "A26", report: "ray-project/llmperf#89", name: "reasoning only", parts: thinking(`"reasoning_content":"h"`, false),
			want: "ok; 80 - 1060 2000 ms; 50 chunks; 3 - 51 tokens; length"},
		{id: "A28", report: "sgl-project/sglang#33193", name: "four tokens a chunk",
			parts: append(steady(100, 10, 40, chat("abcd")), at(0, usageOf("40"), done)),
			want:  "ok; 100 100 460 460 ms; 10 chunks; 3 - 40 tokens; "},
		// Decoding it would give numbers of the compressor, so this differs from
		// clients that only mark them: compression is refused when asked, and
		// its answer is no measurement.
		{id: "A32", report: "Wei-Shaw/sub2api#4691", name: "compressed all the same", coding: "gzip",
			parts: []part{at(400, "\x1f\x8b\x08\x00")},
			want:  "protocol; - - - 400 ms; 0 chunks; 0 - 0 tokens; ", says: "compressed (gzip)"},
		{id: "A33", report: "kekzl/imp#754", name: "all in one burst",
			parts: []part{at(0, delta(`"role":"assistant"`)), at(1699, strings.Repeat(chat("a"), 250), usageOf("250"), done)},
			want:  "ok; 1699 1699 1699 1699 ms; 250 chunks; 3 - 250 tokens; ", says: "in one burst"},
		{id: "A34", report: "scouzi1966/maclocal-api#258", name: "a late first token and a late tail",
			parts: []part{at(5100, chat("a")), at(20, chat("b")), at(3000, usage2, done)},
			want:  "ok; 5100 5100 5120 8120 ms; 2 chunks; 3 - 2 tokens; "},
		{id: "A34", report: "paiml/realizar#172", name: "not streamed", kind: "application/json",
			parts: []part{at(400, `{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`)},
			want:  "protocol; - - - 400 ms; 0 chunks; 3 - 2 tokens; ", says: "instead of an event stream"},
	}
	for _, content := range []string{`,"content":""`, `,"content":null`, ""} {
		cases = append(cases, fieldCase{id: "A23", report: "vllm-project/vllm#15106", name: "a chunk with a role only" + content,
			parts: []part{at(5, delta(`"role":"assistant"`+content)), at(209, chat("a")), at(20, chat("b"), usage2, done)},
			want:  "ok; 214 214 234 234 ms; 2 chunks; 3 - 2 tokens; "})
	}
	return cases
}

func countingFaults() []fieldCase {
	counted := func(text, usage string) string {
		return strings.Replace(chat(text), "}]}", `}],"usage":`+usage+`}`, 1)
	}
	var running, null []part
	for i := range 100 {
		running = append(running, at(20, counted("a", fmt.Sprintf(`{"prompt_tokens":3,"completion_tokens":%d}`, i+1))))
		null = append(null, at(20, counted("a", "null")))
	}
	last := counted("a", `{"prompt_tokens":3,"completion_tokens":100}`)
	return []fieldCase{
		// A count of chunks is never taken for tokens, nor what was asked for.
		{id: "B01", report: "vllm-project/guidellm#743", name: "no usage",
			parts: append(steady(20, 20, 20, chat("a")), at(0, finish, done)),
			want:  "protocol; 20 20 400 400 ms; 20 chunks; 0 - 0 tokens; length", says: "no usage"},
		{id: "B03", report: "vllm-project/vllm#46652", name: "running totals", parts: append(running[:100:100], at(0, finish, done)),
			want: "ok; 20 20 2000 2000 ms; 100 chunks; 3 - 100 tokens; length"},
		{id: "B03", report: "vllm-project/vllm#28183", name: "null but once", parts: append(null[:99:99], at(20, last, finish, done)),
			want: "ok; 20 20 2000 2000 ms; 100 chunks; 3 - 100 tokens; length"},
		{id: "B03", report: "vllm-project/vllm#46652", name: "a total that falls", parts: append(running[:100:100], at(0, usageOf("7"), done)),
			want: "ok; 20 20 2000 2000 ms; 100 chunks; 3 - 7 tokens; ", says: "fewer output tokens"},
		{id: "B05", report: "kubernetes-sigs/inference-perf#566", name: "ten tokens, 20 ms apart",
			parts: append(steady(20, 10, 20, chat("a")), at(0, usageOf("10"), done)),
			want:  "ok; 20 20 200 200 ms; 10 chunks; 3 - 10 tokens; "},
		{id: "B07", report: "vllm-project/vllm#44708", name: "more prompt tokens than asked for",
			parts: []part{at(1, chat("a"), strings.Replace(usage2, `t_tokens":3`, `t_tokens":1127`, 1), done)},
			want:  "ok; 1 1 1 1 ms; 1 chunks; 1127 - 2 tokens; "},
		{id: "B09", report: "tenstorrent/vllm#344", name: "an answer that stops early",
			parts: append(steady(1, 16, 1, chat("a")), at(0, strings.Replace(finish, "length", "stop", 1), usageOf("16"), done)),
			want:  "ok; 1 1 16 16 ms; 16 chunks; 3 - 16 tokens; stop"},
		{id: "B12", report: "vllm-project/vllm#53920", name: "a cached prompt",
			parts: []part{at(1, chat("a"), `data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":992}}}`+"\n\n", done)},
			want:  "ok; 1 1 1 1 ms; 1 chunks; 1000 992 2 tokens; "},
		{id: "B12", report: "vllm-project/vllm#53920", name: "none cached, and told so",
			parts: []part{at(1, chat("a"), `data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":2,"prompt_tokens_details":{"audio_tokens":null,"cached_tokens":0}}}`+"\n\n", done)},
			want:  "ok; 1 1 1 1 ms; 1 chunks; 1000 0 2 tokens; "},
	}
}

// steady is n equal chunks, the first after so many ms and the others with the
// same gap.
func steady(first, n, gap int, chunk string) []part {
	out := []part{at(first, chunk)}
	for range n - 1 {
		out = append(out, at(gap, chunk))
	}
	return out
}

// thinking is 50 chunks of reasoning from 80 ms on, and at 2 s an answer or
// the end of what was allowed.
func thinking(members string, answers bool) []part {
	out := steady(80, 50, 20, delta(members))
	if answers {
		return append(out, at(940, chat("a"), usageOf("51"), done))
	}
	return append(out, at(940, finish, usageOf("51"), done))
}

// TestPreflightRefusedField: a server that does not take stream_options is
// told of before any load, in its own words.
func TestPreflightRefusedField(t *testing.T) {
	const words = "Extra inputs are not permitted: stream_options"
	_, r := exchanged(t, answer(http.StatusBadRequest, nil, at(0, `{"error":{"message":"`+words+`"}}`)), "")
	if err := probeFailure(r); r.outcome != HTTPStatus || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "tokens are counted from usage") {
		t.Errorf("%s: %v", r.outcome, err)
	}
}

// TestAsksForAPlainStream: a proxy that may compress holds tokens back to do so
// (A32).
func TestAsksForAPlainStream(t *testing.T) {
	var got http.Header
	exchanged(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		got = r.Header
		return answer(200, nil, at(0, chat("a"), usage2, done))(r)
	}), "")
	if got.Get("Accept-Encoding") != "identity" || got.Get("Accept") != "text/event-stream" {
		t.Errorf("sent %v", got)
	}
}
