package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/knee/kneetest"
)

// events writes a stream as go test -json does.
func events(t *testing.T, all ...event) io.Reader {
	t.Helper()
	var b strings.Builder
	for _, e := range all {
		if err := json.NewEncoder(&b).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	return strings.NewReader(b.String())
}

func row(t *testing.T, c kneetest.Claim) event {
	t.Helper()
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return event{Action: "attr", Package: "p", Test: "TestAccept", Key: kneetest.RowAttr, Value: string(raw)}
}

func TestTable(t *testing.T) {
	met := kneetest.Claim{Row: "A2", What: "within half an octave", Bound: kneetest.AtLeast, Target: 0.9, Value: 0.97, Worst: 0.95, N: 500, Verdict: kneetest.Met}
	missed := kneetest.Claim{Row: "A1", What: "within an octave", Bound: kneetest.AtLeast, Target: 0.95, Value: 0.9, Verdict: kneetest.Missed}
	other := event{Action: "attr", Package: "p", Test: "TestAccept", Key: "else", Value: "x"}
	output := event{Action: "output", Package: "p", Test: "TestAccept", Output: "    what went wrong\n"}
	end := func(action string) event {
		return event{Action: action, Package: "p", Test: "TestAccept", Elapsed: 1.5}
	}
	for _, c := range []struct {
		name string
		in   io.Reader
		code int
		want []string
		not  string
	}{
		{"met", events(t, row(t, met), other, output, end("pass")), 0, []string{"A2", "≥ 0.9", "0.97", "500", "1 targets: 1 met", "pass p TestAccept 1.5 s"}, "what went wrong"},
		{"missed", events(t, row(t, met), row(t, missed), output, end("fail")), 1, []string{"MISSED", "what went wrong", "1 missed;"}, ""},
		{"no row", events(t, end("pass")), 1, []string{"not one row"}, ""},
		{"not JSON", io.MultiReader(strings.NewReader("go: no such package\n"), events(t, row(t, met))), 0, []string{"go: no such package"}, ""},
		{"damaged row", events(t, event{Action: "attr", Key: kneetest.RowAttr, Value: "{"}), 1, []string{"a row of"}, ""},
	} {
		var out strings.Builder
		if code := run(c.in, &out, &out); code != c.code {
			t.Errorf("%s: exit %d, want %d", c.name, code, c.code)
		}
		for _, w := range c.want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s: no %q in\n%s", c.name, w, &out)
			}
		}
		if c.not != "" && strings.Contains(out.String(), c.not) {
			t.Errorf("%s: %q in\n%s", c.name, c.not, &out)
		}
	}
}

// Rows come in the order of their numbers, whatever test was first.
func TestRowsAreSorted(t *testing.T) {
	var out strings.Builder
	a := kneetest.Claim{Row: "A10", What: "later", Verdict: kneetest.NoTarget}
	b := kneetest.Claim{Row: "A2", What: "earlier", Verdict: kneetest.NoTarget}
	run(events(t, row(t, a), row(t, b)), &out, &out)
	if s := out.String(); strings.Index(s, "earlier") > strings.Index(s, "later") || !strings.Contains(s, "2 figures without a target") {
		t.Error(s)
	}
}
