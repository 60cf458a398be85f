package loadgen

import (
	"io"
	"strings"
)

func framingFaults() []fieldCase {
	three := chat("a") + chat("b") + usage2 + done
	line := func(n int) string { // a data line of n bytes
		empty := strings.TrimSuffix(chat(""), "\n\n")
		return strings.TrimSuffix(chat(strings.Repeat("x", n-len(empty))), "\n")
	}
	cases := []fieldCase{
		{id: "A01", report: "modelscope/ms-swift#10086", name: "comments before data",
			parts: []part{at(50, ": keep-alive\n\n: keep-alive\n\n"), at(850, chat("a"), ": ping\n\n", usage2, done)},
			want:  "ok; 900 900 900 900 ms; 1 chunks; 3 - 2 tokens; "},
		{id: "A03", report: "omnigent-ai/omnigent#1474", name: "empty data as heartbeat",
			parts: []part{at(1, chat("a"), "data:\n\ndata: \n\ndata:   \n\n"), at(5, chat("b"), usage2, done)},
			want:  "ok; 1 1 6 6 ms; 2 chunks; 3 - 2 tokens; "},
		{id: "A05", report: "sgl-project/genai-bench#159", name: "no space after the colon",
			parts: []part{at(1, strings.ReplaceAll(three, "data: ", "data:"))},
			want:  "ok; 1 1 1 1 ms; 2 chunks; 3 - 2 tokens; "},
		{id: "A05", report: "openai/openai-python#498", name: "with and without, and two",
			parts: []part{at(1, "data:", chat("a")[6:], chat("b"), "data:", usage2[5:], "data:  [DONE]\n\n")},
			want:  "ok; 1 1 1 1 ms; 2 chunks; 3 - 2 tokens; "},
		{id: "A06", report: "earendil-works/pi#9037", name: "CRLF",
			parts: []part{at(1, strings.ReplaceAll(chat("a"), "\n", "\r\n")), at(2, strings.ReplaceAll(chat("b")+usage2+done, "\n", "\r\n"))},
			want:  "ok; 1 1 3 3 ms; 2 chunks; 3 - 2 tokens; "},
		// The blank line of a CR stream is known to be over with its CR, be the
		// next byte a LF or not: an event never waits for the one after it.
		{id: "A06", report: "earendil-works/pi#9037", name: "lone CR",
			parts: []part{at(1, strings.ReplaceAll(chat("a"), "\n", "\r")), at(2, strings.ReplaceAll(chat("b")+usage2+done, "\n", "\r"))},
			want:  "ok; 1 1 3 3 ms; 2 chunks; 3 - 2 tokens; "},
		{id: "A06", report: "miruamel/xuan#194", name: "10,000 events with CRLF",
			parts: []part{at(1, strings.ReplaceAll(strings.Repeat(chat("a"), 10_000)+usageOf("10000")+done, "\n", "\r\n"))},
			want:  "ok; 1 1 1 1 ms; 10000 chunks; 3 - 10000 tokens; ", says: "in one burst"},
		{id: "A08", report: "ai-dynamo/aiperf#368", name: "two events in a read, one in two",
			parts: []part{at(30, chat("a"), chat("b"), usage2), at(10, "data: [DO"), at(5, "NE]\n\n")},
			want:  "ok; 30 30 30 45 ms; 2 chunks; 3 - 2 tokens; "},
		{id: "A09", report: "vllm-project/vllm#38717", name: "characters of several bytes",
			parts: []part{at(1, chat("中")), at(1, chat("😀"), usage2, done)},
			want:  "ok; 1 1 2 2 ms; 2 chunks; 3 - 2 tokens; "},
		{id: "A12", report: "openai/openai-go#368", name: "a line without end",
			parts: []part{at(1, "data: ", strings.Repeat("x", 64<<20))},
			want:  "protocol; - - - 1 ms; 0 chunks; 0 - 0 tokens; ", says: "longer than 16 MiB"},
		{id: "A13", report: "BerriAI/litellm#40260", name: "an end without a sign of one",
			parts: []part{at(1, chat("a"), chat("b"))},
			want:  "truncated; 1 1 1 1 ms; 2 chunks; 0 - 0 tokens; ", says: "ended without [DONE]"},
		{id: "A15", report: "darshi1337/apogee#139", name: "no blank line at the end",
			parts: []part{at(1, chat("a"), usage2, "data: [DONE]")},
			want:  "ok; 1 1 1 1 ms; 1 chunks; 3 - 2 tokens; "},
		{id: "A15", report: "darshi1337/apogee#139", name: "one line end at the end",
			parts: []part{at(1, chat("a"), usage2, "data: [DONE]\n")},
			want:  "ok; 1 1 1 1 ms; 1 chunks; 3 - 2 tokens; "},
		{id: "A15", report: "darshi1337/apogee#139", name: "half an object at the end",
			parts: []part{at(1, chat("a"), `data: {"choices":[{"del`)},
			want:  "truncated; 1 1 1 1 ms; 1 chunks; 0 - 0 tokens; ", says: "inside a chunk"},
	}
	// 5,000 lines that are no data, over a minute.
	for _, noise := range []string{"\n", ": ping\n\n"} {
		c := fieldCase{id: "A04", report: "sashabaranov/go-openai#71", name: "much noise before data", want: "ok; 60000 60000 60000 60000 ms; 1 chunks; 3 - 2 tokens; "}
		for range 50 {
			c.parts = append(c.parts, at(1200, strings.Repeat(noise, 100)))
		}
		c.parts = append(c.parts, at(0, chat("a"), usage2, done))
		cases = append(cases, c)
	}
	for _, n := range []int{65_535, 65_536, 65_537, 1<<20 + 1, 4 << 20} {
		cases = append(cases, fieldCase{id: "A12", report: "cloudwego/hertz#1441", name: "a long line",
			parts: []part{at(1, line(n), "\n", usage2, done)},
			want:  "ok; 1 1 1 1 ms; 1 chunks; 3 - 2 tokens; "})
	}
	return cases
}

func payloadFaults() []fieldCase {
	second := strings.NewReplacer(`"index":0`, `"index":1`)
	return []fieldCase{
		{id: "A14", report: "earendil-works/pi#8460", name: "a finish_reason, no [DONE]",
			parts: []part{at(1, chat("a"), finish, usage2)},
			want:  "ok; 1 1 1 1 ms; 1 chunks; 3 - 2 tokens; length"},
		{id: "A14", report: "abetlen/llama-cpp-python#133", name: "[DONE], no finish_reason",
			parts: []part{at(1, chat("a"), usage2, done)},
			want:  "ok; 1 1 1 1 ms; 1 chunks; 3 - 2 tokens; "},
		{id: "A14", report: "earendil-works/pi#8460", name: "usage and no more",
			parts: []part{at(1, chat("a"), usage2)},
			want:  "ok; 1 1 1 1 ms; 1 chunks; 3 - 2 tokens; ", says: "neither a finish_reason nor [DONE]"},
		{id: "A14", report: "earendil-works/pi#8460", name: "usage, and then more",
			parts: []part{at(1, chat("a"), usage2, chat("b"))},
			want:  "truncated; 1 1 1 1 ms; 2 chunks; 3 - 2 tokens; ", says: "ended without"},
		{id: "A16", report: "vllm-project/guidellm#743", name: "an error object, then [DONE]",
			parts: []part{at(1, `data: {"error":{"message":"late","type":"GatewayTimeout","code":504}}`+"\n\n", done)},
			want:  "in_band_error; - - - 1 ms; 0 chunks; 0 - 0 tokens; ", says: "504: late"},
		{id: "A18", report: "tugot17/tokenomics#16", name: "an error event with JSON",
			parts: []part{at(1, chat("a"), chat("b"), "event: error\ndata: {\"message\":\"worker lost\"}\n\n")},
			want:  "in_band_error; 1 1 1 1 ms; 2 chunks; 0 - 0 tokens; ", says: "worker lost"},
		{id: "A18", report: "ai-dynamo/aiperf#1076", name: "an error event with text",
			parts: []part{at(1, "event: error\ndata: too many requests\n\n")},
			want:  "in_band_error; - - - 1 ms; 0 chunks; 0 - 0 tokens; ", says: "too many requests"},
		{id: "A20", report: "matsonj/eval-connections#11", name: "a JSON error under 200", kind: "application/json",
			parts: []part{at(1, `{"error":{"message":"no capacity"}}`)},
			want:  "in_band_error; - - - 1 ms; 0 chunks; 0 - 0 tokens; ", says: "no capacity"},
		{id: "A20", report: "matsonj/eval-connections#11", name: "a whole completion", kind: "application/json",
			parts: []part{at(1, `{"object":"chat.completion","choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`)},
			want:  "protocol; - - - 1 ms; 0 chunks; 3 - 2 tokens; ", says: "instead of an event stream"},
		{id: "A20", report: "nashsu/llm_wiki#619", name: "a login page", kind: "text/html",
			parts: []part{at(1, "<html>log in</html>")},
			want:  "protocol; - - - 1 ms; 0 chunks; 0 - 0 tokens; ", says: "<html>log in</html>"},
		{id: "A20", report: "nashsu/llm_wiki#619", name: "the way to a login page", status: 302, kind: "text/html",
			parts: []part{at(1, "moved")},
			want:  "http_status; - - - 1 ms; 0 chunks; 0 - 0 tokens; ", says: "moved"},
		{id: "A21", report: "microsoft/semantic-kernel#3650", name: "a first chunk without choices",
			parts: []part{at(1, `data: {"id":"","object":"","model":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]}`+"\n\n"), at(1, delta(`"role":"assistant"`)), at(1, chat("a"), usage2, done)},
			want:  "ok; 3 3 3 3 ms; 1 chunks; 3 - 2 tokens; "},
		// One choice is asked for; the stream is over when each that came is.
		{id: "A30", report: "sgl-project/sglang#8417", name: "the second choice ends first, the first twice",
			parts: []part{at(1, chat("a"), second.Replace(chat("b"))), at(1, second.Replace(finish), chat("c")), at(1, finish, finish, usageOf("3"))},
			want:  "ok; 1 1 2 3 ms; 3 chunks; 3 - 3 tokens; length", says: "more than the one choice"},
		{id: "A30", report: "BerriAI/litellm#15962", name: "the first choice never ends",
			parts: []part{at(1, chat("a"), second.Replace(chat("b"))), at(1, second.Replace(finish), chat("c"), usageOf("3"))},
			want:  "truncated; 1 1 2 2 ms; 3 chunks; 3 - 3 tokens; ", says: "finish_reason of each choice"},
		{id: "A35", report: "ai-dynamo/dynamo#8674", name: "the reason in a comment",
			parts: []part{at(1, "event: error\n: unspecified error\n\n")},
			want:  "in_band_error; - - - 1 ms; 0 chunks; 0 - 0 tokens; ", says: "unspecified error"},
		{id: "A35", report: "ai-dynamo/dynamo#8674", name: "the reason in a comment after 5 tokens",
			parts: []part{at(1, strings.Repeat(chat("a"), 5)), at(1, "event: error\n: unspecified error\n\n")},
			want:  "in_band_error; 1 1 1 2 ms; 5 chunks; 0 - 0 tokens; ", says: "unspecified error"},
		{id: "A35", report: "ai-dynamo/dynamo#8674", name: "closed inside a chunk of HTTP",
			parts: []part{at(1, chat("a")), {err: io.ErrUnexpectedEOF}},
			want:  "truncated; 1 1 1 1 ms; 1 chunks; 0 - 0 tokens; ", says: "the connection broke"},
		{id: "A37", report: "mnfst/llm-gateway#2053", name: "comments wrapped as data",
			parts: []part{at(1, strings.Repeat("data: : PROCESSING\n\n", 3)), at(1, chat("a"), usage2, done)},
			want:  "ok; 2 2 2 2 ms; 1 chunks; 3 - 2 tokens; ", says: "3 events were comments"},
		{id: "A38", report: "lucasjinreal/Crane#121", name: "the error as text",
			parts: []part{at(1, chat("a"), chat("b"), "data: error: out of KV blocks\n\n")},
			want:  "in_band_error; 1 1 1 1 ms; 2 chunks; 0 - 0 tokens; ", says: "out of KV blocks"},
	}
}
