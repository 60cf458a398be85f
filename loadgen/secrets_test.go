package loadgen

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// TestNoPartOfASecret: no bound cuts a secret so that its beginning is shown,
// and no quoting hides one from redaction.
func TestNoPartOfASecret(t *testing.T) {
	const canary = `sk-"canary"\<5a17>-` + "ü" + `-and-more`
	quoted, _ := json.Marshal(canary)
	inner := string(quoted[1 : len(quoted)-1])
	event := func(data string) roundTrip { return answer(200, nil, part{text: "data: " + data + "\n\n"}) }
	for name, rt := range map[string]func(pad string) roundTrip{
		"a chunk that is none": func(pad string) roundTrip { return event("{" + pad + canary) },
		"a finish_reason": func(pad string) roundTrip {
			return event(`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"` + pad + inner + `"}]}`)
		},
		"an error's JSON": func(pad string) roundTrip { return event(`{"error":{"key":"` + pad + inner + `"}}`) },
		"a comment": func(pad string) roundTrip {
			return answer(200, nil, part{text: "event: error\n: " + pad + canary + "\n\n"})
		},
		"a body": func(pad string) roundTrip { return answer(500, nil, part{text: pad + canary}) },
		"a content type": func(pad string) roundTrip {
			return answer(200, map[string][]string{"Content-Type": {"x/" + pad + canary}}, part{text: "x"})
		},
	} {
		for n := range 1100 {
			for _, fill := range []string{"x", " "} {
				e, r := exchanged(t, rt(strings.Repeat(fill, n)), canary)
				for _, shown := range []string{r.text, cleanText(e.script.finishReason, e.secrets...)} {
					if strings.Contains(shown, "sk-") {
						t.Fatalf("%s, %d × %q before it: %q", name, n, fill, shown)
					}
				}
			}
		}
	}
}

// TestNoPartOfASecretInAHead is the same for answers that are not HTTP.
func TestNoPartOfASecretInAHead(t *testing.T) {
	const canary = `sk-"canary"\<5a17>-and-more`
	for _, pad := range []int{0, 50, 70, 76, 80, 200, 240} {
		for _, form := range []string{"%s\r\n\r\n", "HTTP/1.1 200 OK\r\n%s\r\n\r\n", "HTTP/1.1 200 OK\r\nA: \x01%s\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n"} {
			base, stop := raw(t, func(c net.Conn) {
				_, _ = c.Read(make([]byte, 4096))
				_, _ = io.WriteString(c, fmt.Sprintf(form, strings.Repeat("x", pad)+canary))
			})
			r, err := Run(t.Context(), Config{
				BaseURL: base, Model: "m", APIKey: canary, Concurrency: 1, Kind: Gate, Workload: workload(t, tokens(1, 0)),
				Limits: Limits{MinRequests: 1, WarmUpRequests: -1},
			})
			stop()
			for _, texts := range r.Errors {
				if err != nil || strings.Contains(texts[0], "sk-") {
					t.Errorf("%d before it, %q: %v, %q", pad, form, err, texts)
				}
			}
			if r.All[OK] > 0 || r.All.Total() != 1 {
				t.Errorf("%v", r.All)
			}
		}
	}
}

// TestStatusWithoutWords: an error status without a body has no open end.
func TestStatusWithoutWords(t *testing.T) {
	rt := answer(500, map[string][]string{"Retry-After": {"3"}})
	if r, _ := send(t, rt, ""); r.text != "status Internal Server Error: Retry-After 3" {
		t.Errorf("%q", r.text)
	}
	if r, _ := send(t, answer(500, map[string][]string{}), ""); r.text != "status Internal Server Error" {
		t.Errorf("%q", r.text)
	}
}
