package loadgen

import (
	"slices"
	"strings"
	"testing"
)

// TestNotes: what is odd about a stream that counts as OK is said, and what
// every answer of a server does alike is not.
func TestNotes(t *testing.T) {
	normal := chat("a") + finish + usage2 + done
	second := chat("a") + strings.Replace(chat("b"), `"index":0`, `"index":1`, 1)
	for _, c := range []struct {
		name    string
		streams []string
		want    []string // parts of the warnings, in order
	}{
		{"normal", []string{normal, normal}, nil},
		{"never [DONE]", []string{chat("a") + finish + usage2, chat("a") + finish + usage2}, nil},
		{"[DONE] at times", []string{chat("a") + finish + usage2, normal}, []string{"1 of 2 answers ended without [DONE]"}},
		{"finish_reason at times", []string{chat("a") + usage2 + done, normal}, []string{"1 of 2 answers had no finish_reason"}},
		{"usage ends them", []string{chat("a") + usage2, chat("a") + usage2}, []string{"2 of 2 answers had neither"}},
		{"usage falls", []string{strings.Replace(chat("a"), "}]}", `}],"usage":{"completion_tokens":9}}`, 1) + usage2 + done}, []string{"1 of 1 answer counted fewer"}},
		{"another choice", []string{second + usage2 + done}, []string{"more than the one choice"}},
		{"a choice with fewer tokens than the other", []string{second + usageOf("9") + usageOf("4") + done}, []string{"more than the one choice"}},
		{"wrapped comments", []string{"data: : x\n\ndata: : x\n\n" + normal}, []string{"2 events were comments"}},
		{"failures are no oddities", []string{"data: : x\n\n" + chat("a"), "event: error\n\n"}, []string{"1 event was a comment"}},
	} {
		var all notes
		for _, in := range c.streams {
			e, r := exchanged(t, answer(200, nil, part{text: in}), "")
			all.add(e.script.notes(r.outcome))
		}
		got := all.warnings()
		if !slices.EqualFunc(got, c.want, strings.Contains) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
