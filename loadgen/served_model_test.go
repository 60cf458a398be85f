package loadgen

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// renaming answers as a host whose first chunk says a model.
type renaming struct{ said string }

func (n renaming) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return answer(200, http.Header{"Content-Type": {"application/json"}}, part{text: oneModel})(r)
	}
	first := strings.Replace(chat("a"), `"id":"x"`, `"id":"x"`+n.said, 1)
	return answer(200, nil, part{wait: time.Millisecond, text: `data: {"model":"","choices":[]}` + "\n\n" + first + chat("b") + finish + usage2 + done})(r)
}

// TestServedModel: an answer of another model than was asked for is told, once,
// and in fit words; loads do not look for it.
func TestServedModel(t *testing.T) {
	for said, want := range map[string]string{
		"":                           "",
		`,"model":"org/m"`:           "",
		`,"model":"org/other"`:       "org/other",
		`,"model":null`:              "",
		`,"model":7`:                 "",
		`,"model":"a\u001b\u202e b"`: "a b",
		`,"model":"sk-canary"`:       "[redacted]",
		`,"model":"` + strings.Repeat("x", 9999) + `"`: strings.Repeat("x", maxText),
	} {
		p := Preflight{Model: "org/m"}
		c, err := newClient(&Config{APIKey: "sk-canary", Limits: Limits{}.withDefaults(1)}, "http://engine", &clock{start: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		e := newExchange(t.Context(), c, renaming{said})
		if e.do([]byte(`{}`)); e.script.model != "" {
			t.Errorf("%.40s: looked for without need", said)
		}
		e.script.naming = true
		for range 3 {
			pr := &prober{p: &p, e: e, wait: startWaiting(nil)}
			pr.do([]byte(`{}`))
			pr.wait.end()
		}
		if p.ServedModel != want || len(p.Warnings) != min(len(want), 1) {
			t.Errorf("%.40s: %q, %q", said, p.ServedModel, p.Warnings)
		}
	}
}

// TestPreflightToldOfAnotherModel: the whole preflight keeps it.
func TestPreflightToldOfAnotherModel(t *testing.T) {
	for _, name := range []string{"org/m", "org/other"} {
		h := &host{engine: engine{ttft: 50 * time.Millisecond}, perWord: 1, says: fmt.Sprintf(`"model":%q,`, name)}
		preflight(t, h, "", aicr(t), func(p Preflight, err error) {
			told := p.ServedModel == name && len(p.Warnings) == 1 && strings.Contains(p.Warnings[0], name)
			if err != nil || told != (name != "org/m") || !told && (p.ServedModel != "" || len(p.Warnings) != 0) {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
		})
	}
}
