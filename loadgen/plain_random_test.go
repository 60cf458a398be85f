package loadgen

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// pick returns one of several, the first of them most often.
func pick(r *rand.Rand, first string, others ...string) string {
	if i := r.IntN(2 * len(others)); i < len(others) {
		return others[i]
	}
	return first
}

// some joins each of the parts with a probability of a half, in any order.
func some(r *rand.Rand, parts ...string) string {
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	var out []string
	for _, p := range parts {
		if r.IntN(2) == 0 {
			out = append(out, p)
		}
	}
	return strings.Join(out, ",")
}

func randomText(r *rand.Rand) string {
	return pick(r, `"a"`, `""`, `null`, `"\""`, `"\\"`, `"\u00e9\n"`, `"中"`, `"}]}"`, `"\"content\":\"x\""`, `["a"]`, `[]`, `{}`, `7`, `"a`, `"\x"`, "\"\t\"", "\"\xff\"")
}

func randomChoice(r *rand.Rand) string {
	delta := some(r, `"role":"assistant"`, `"content":`+randomText(r), `"reasoning":`+randomText(r), `"reasoning_content":`+randomText(r),
		`"refusal":`+randomText(r), `"tool_calls":`+pick(r, `[]`, `null`, `[{"index":0,"function":{"arguments":"{"}}]`), `"function_call":`+pick(r, `null`, `{}`, `{"name":"f"}`))
	return `{` + some(r, `"index":`+pick(r, "0", "1", "2", "-1", "1.5", `"1"`, "null", "99", "1e3", "true"), `"finish_reason":`+pick(r, "null", `"stop"`, `"length"`, `"error"`, `"st\u006fp"`, `"\u0061bort"`, `""`, "{}", "0"),
		`"delta":`+pick(r, `{`+delta+`}`, `null`, `[]`, `"x"`), `"text":`+randomText(r), `"logprobs":`+pick(r, `null`, `{"content":[{"token":"a"}],"text":"x"}`)) + `}`
}

func randomUsage(r *rand.Rand) string {
	n := func() string { return pick(r, "3", "0", "9", "-1", "null", `"4"`, "2.5", "1e2", "99999999999999") }
	return `{` + some(r, `"prompt_tokens":`+n(), `"completion_tokens":`+n(), `"completion_tokens_details":`+pick(r, `{"reasoning_tokens":`+n()+`}`, "null", "[]"),
		`"prompt_tokens_details":`+pick(r, `{"cached_tokens":`+n()+`}`, "null", `{}`)) + `}`
}

// randomPayload is a chunk, or something that a server sends in its place.
func randomPayload(r *rand.Rand) string {
	plain := `{"id":"x","choices":[{"index":0,"delta":{"content":` + randomText(r) + `},"finish_reason":null}],"model":"m"}`
	choices := randomChoice(r)
	if r.IntN(4) == 0 {
		choices += "," + randomChoice(r)
	}
	wild := `{` + some(r, `"choices":`+pick(r, `[`+choices+`]`, `[]`, `null`, `{}`), `"usage":`+pick(r, randomUsage(r), `null`, `[]`), `"id":"x"`, `"object":`+pick(r, `"chat.completion.chunk"`, `"error"`),
		`"nvext":`+pick(r, `{"timing":{"ttft_ms":6.5}}`, `null`, `{"content":"a","timing":[]}`)) + `}`
	ending := pick(r, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`, `[DONE]`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"abort"}]}`)
	odd := pick(r, `[DONE]`, ``, ` `, `: ping`, `error: x`, `ERROR`, `hello`, `null`, `[]`, `{"error":{"message":"m"}}`, `{"error":null,"choices":[]}`, `{"message":"m"}`, `{"detail":"d","choices":[]}`,
		plain+"x", plain[:len(plain)/2], plain+plain, strings.Repeat(`{"a":`, 40)+`1`+strings.Repeat(`}`, 40))
	return pick(r, plain, wild, ending, odd)
}

// randomStream is a stream as no server would send one, but much like those
// that some do.
func randomStream(r *rand.Rand) string {
	var out strings.Builder
	end := pick(r, "\n", "\r\n", "\r")
	for range r.IntN(12) {
		out.WriteString(pick(r, "", "event: error"+end, "event: x"+end, ": c"+end, "id: 1"+end, end, "retry: 1"+end, "data"+end, ":"+end+end, "event: error"+end+": why"+end+end))
		payload := randomPayload(r)
		if i := strings.IndexAny(payload, ",:"); i > 0 && r.IntN(10) == 0 { // over two lines
			payload = payload[:i+1] + end + "data:" + payload[i+1:]
		}
		out.WriteString(pick(r, "data: ", "data:", "data:  ") + payload + pick(r, end+end, end, "", end+" "+end))
	}
	return pick(r, "", "\xef\xbb\xbf") + out.String() + pick(r, "", "data: [DONE]"+end+end, "data: [DONE]", end)
}

// TestReadersAgreeOnRandom is FuzzReaders with streams that are nearly right.
func TestReadersAgreeOnRandom(t *testing.T) {
	outcomes := map[Outcome]int{}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		in, broken := randomStream(r), r.IntN(4) == 0
		agree(t, in, 1+r.IntN(64), broken)
		if reading, ambiguous := plainRead(in, broken); !ambiguous {
			outcomes[reading.outcome]++
		}
	}
	for _, o := range []Outcome{OK, Truncated, InBand, Unfinished, Protocol} {
		if outcomes[o] < 25 {
			t.Errorf("only %d streams are %s: %v", outcomes[o], o, outcomes)
		}
	}
}

// FuzzRandomReaders tries more of them than a test has time for.
func FuzzRandomReaders(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		agree(t, randomStream(r), 1+r.IntN(64), r.IntN(4) == 0)
	})
}
