package loadgen

import (
	"encoding/json"
	"errors"
	"regexp"
	"testing"
	"time"
)

func TestPlainJSON(t *testing.T) {
	type inner struct {
		N  int       `json:"n"`
		U  *uint64   `json:"u"`
		At time.Time `json:"at"`
	}
	type outer struct {
		Name  string             `json:"name"`
		Share float64            `json:"share"`
		On    bool               `json:"on"`
		In    inner              `json:"in"`
		List  []inner            `json:"list"`
		Map   map[string]float64 `json:"map"`
	}
	goNames := regexp.MustCompile(`Go |struct|float64|int\b|uint|json:|map\[|loadgen|unmarshal|Time\.|2006`)
	for text, want := range map[string]string{
		`{"name":1}`:                  "name is a number where a string belongs",
		`{"share":"x"}`:               "share is a string where a number belongs",
		`{"share":1e999}`:             "share is 1e999, which is no number of its range; a number belongs there",
		`{"on":[]}`:                   "on is an array where true or false belongs",
		`{"in":{"n":1.5}}`:            "in.n is 1.5, which is no number of its range; a whole number belongs there",
		`{"in":{"u":-3}}`:             "in.u is -3, which is no number of its range; a whole number of at least 0 belongs there",
		`{"in":true}`:                 "in is true or false where an object belongs",
		`{"list":{}}`:                 "list is an object where an array belongs",
		`{"map":["b"]}`:               "map is an array where an object belongs",
		`[]`:                          "an array where an object belongs",
		`{"in":{"at":"noon"}}`:        `"noon" is no date such as 2026-11-30T12:00:00Z`,
		`{"in":{"at":7}}`:             "a date is no text such as 2026-11-30T12:00:00Z",
		`{"name":"x"}`:                "",
		`{"in":{"at":"2026-13-01T"}}`: `"2026-13-01T" is no date such as 2026-11-30T12:00:00Z`,
	} {
		var v outer
		err := json.Unmarshal([]byte(text), &v)
		got := PlainJSON(err)
		switch {
		case want == "" && got != nil, want != "" && (got == nil || got.Error() != want):
			t.Errorf("%s: %v, want %q", text, got, want)
		case got != nil && (goNames.MatchString(got.Error()) || !errors.Is(got, err)):
			t.Errorf("%s: %v", text, got)
		}
	}
	if err := errors.New("else"); PlainJSON(err) != err {
		t.Error("another error was changed")
	}
}
