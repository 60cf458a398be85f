package loadgen

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// seen is what a transport made of an answer.
type seen struct {
	outcome Outcome
	chunks  int
	tokens  int64
	text    string // part of the error's text
}

func (w seen) check(t *testing.T, who string, r reply, chunks int) {
	t.Helper()
	if r.outcome != w.outcome || chunks != w.chunks || r.tokens.Completion != w.tokens || !strings.Contains(r.text, w.text) {
		t.Errorf("%s: %s with %d chunks, %d tokens, %q; want %+v", who, r.outcome, chunks, r.tokens.Completion, r.text, w)
	}
}

// via makes one request through a transport.
func via(t *testing.T, kind TransportKind, rt http.RoundTripper) (reply, []int64) {
	t.Helper()
	cfg := Config{Transport: kind, Model: "m", Limits: Limits{}.withDefaults(1)}
	c, err := newClient(&cfg, "http://engine", &clock{start: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	e := newExchange(t.Context(), c, rt)
	r := e.do([]byte(`{}`))
	return r, e.script.times
}

func events(status int, body string) roundTrip { return answer(status, nil, part{text: body}) }

const (
	justAB   = `{"message":"worker lost","type":"server_error","code":500}`
	twoWords = "data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"a\"}}]}\n\n"
)

// TestGoOpenAIDiffers is the table of what is known of go-openai v1.43.0's
// reader: for each fault, the bytes of a server, what this package makes of
// them and what go-openai does. A row that turns equal means that the library
// has changed. Its faults in requests, connections and headers have tests of
// their own below.
func TestGoOpenAIDiffers(t *testing.T) {
	ab, whole := chat("a")+chat("b"), finish+usage2+done
	fault := "data: {\"error\":" + justAB + "}\n\n"
	failed, silent := seen{outcome: InBand, text: "worker lost"}, seen{outcome: OK}
	empty := seen{outcome: Protocol, text: "unexpected end of JSON input"}
	json := http.Header{"Content-Type": {"application/json"}}
	for name, c := range map[string]struct {
		server         roundTrip
		native, openai seen
	}{
		"F1 a broken stream is a success":       {events(200, ab), seen{Truncated, 2, 0, "without [DONE]"}, seen{OK, 2, 0, ""}},
		"F2 the last line without its end":      {events(200, ab+finish+strings.TrimSpace(usage2)), seen{OK, 2, 2, ""}, seen{OK, 2, 0, ""}},
		"F2 an error as the whole body":         {answer(200, json, part{text: `{"error":` + justAB + `}`}), failed, silent},
		"F3 status 204":                         {events(204, ""), seen{outcome: HTTPStatus}, silent},
		"F3 status 304":                         {events(304, ""), seen{outcome: HTTPStatus}, silent},
		"F4 an error event":                     {events(200, "event: error\n"+fault), failed, empty},
		"F4 an error after a comment":           {events(200, ": ping\n\n"+fault), failed, empty},
		"F4 an error that is a text":            {events(200, "data: {\"error\":\"worker lost\"}\n\n"+done), failed, empty},
		"F4 an error without a message":         {events(200, "data: {\"error\":{\"code\":500}}\n\n"+done), seen{outcome: InBand}, empty},
		"F5 a space before the key":             {events(200, "data: { \"error\":"+justAB+"}\n\n"+done), failed, silent},
		"F5 the key is not the first":           {events(200, "data: {\"id\":\"x\",\"error\":"+justAB+"}\n\n"+done), failed, silent},
		"F5 the old form of vLLM":               {events(200, "data: {\"object\":\"error\",\"message\":\"worker lost\",\"code\":500}\n\n"+done), failed, silent},
		"F6 an error event with a comment only": {events(200, chat("a")+"event: error\n: worker lost\n\n"+done), seen{InBand, 1, 0, "worker lost"}, seen{OK, 1, 0, ""}},
		"F6 an end on a stopped context":        {events(200, chat("a")), seen{Truncated, 1, 0, ""}, seen{OK, 1, 0, ""}},
		"F7 151 comments before a token":        {events(200, strings.Repeat(": ping\n\n", 151)+ab+whole), seen{OK, 2, 2, ""}, seen{Protocol, 0, 0, "too many empty messages"}},
		"F7 150 comments are borne":             {events(200, strings.Repeat(": ping\n\n", 150)+ab+whole), seen{OK, 2, 2, ""}, seen{OK, 2, 2, ""}},
		"F8 reasoning under vLLM's name":        {events(200, strings.Replace(ab, "content", "reasoning", 1)+whole), seen{OK, 2, 2, ""}, seen{OK, 1, 2, ""}},
		"F14 created is a float":                {events(200, strings.Replace(ab, `"id"`, `"created":1.5,"id"`, 1)+whole), seen{OK, 2, 2, ""}, seen{Protocol, 0, 0, "created"}},
		"F14 an event of two data lines":        {events(200, twoWords+chat("b")+whole), seen{OK, 2, 2, ""}, empty},
		"F14 line ends of CR":                   {events(200, strings.ReplaceAll(ab+whole, "\n", "\r")), seen{OK, 2, 2, ""}, silent},
		"F14 line ends of CR LF are borne":      {events(200, strings.ReplaceAll(ab+whole, "\n", "\r\n")), seen{OK, 2, 2, ""}, seen{OK, 2, 2, ""}},
		"F14 a byte order mark":                 {events(200, "\xef\xbb\xbf"+ab+whole), seen{OK, 2, 2, ""}, seen{OK, 1, 2, ""}},
		"F14 an empty data line":                {events(200, "data:\n\n"+ab+whole), seen{OK, 2, 2, ""}, empty},
		"F15 Retry-After": {
			answer(503, http.Header{"Retry-After": {"7"}}, part{text: `{"detail":"busy"}`}),
			seen{Shed, 0, 0, "Retry-After 7: busy"}, seen{Shed, 0, 0, "%!s(<nil>)"},
		},
		"a whole stream": {events(200, ab+whole), seen{OK, 2, 2, ""}, seen{OK, 2, 2, ""}},
		"an error both know": {
			events(200, chat("a")+fault), seen{InBand, 1, 0, "worker lost"}, seen{InBand, 1, 0, "worker lost"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, times := via(t, Native, c.server)
			c.native.check(t, "native", r, len(times))
			r, times = via(t, GoOpenAI, c.server)
			c.openai.check(t, "go-openai", r, len(times))
		})
	}
}

// TestGoOpenAITimes: F8 in numbers. A first token that is reasoning under vLLM's
// name is seen by the native transport only.
func TestGoOpenAITimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reasoning := strings.Replace(chat("a"), "content", "reasoning", 1)
		server := answer(200, nil,
			part{wait: 80 * time.Millisecond, text: reasoning}, part{wait: time.Second, text: chat("b")}, part{text: finish + usage2 + done})
		for kind, want := range map[TransportKind]time.Duration{Native: 80 * time.Millisecond, GoOpenAI: 1080 * time.Millisecond} {
			if r, _ := via(t, kind, server); r.ttft() != int64(want) {
				t.Errorf("%s: TTFT %v, want %v", kind, time.Duration(r.ttft()), want)
			}
		}
	})
}
