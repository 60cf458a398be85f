package loadgen

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// fieldCase is one failure that users of other load generators have met, with
// a public report of it: what the server sends and when, and what must come of
// it. Where a report has no usage one is added, without which nothing is OK.
type fieldCase struct {
	id, report, name string
	status           int    // 0 = 200
	kind             string // content type, "" = an event stream
	coding           string
	parts            []part
	// want is the outcome; the arrivals in ms of the first token, the first
	// visible one, the last and the end, "-" for never; the token-bearing
	// chunks; prompt, cached and output tokens; and the finish_reason.
	want string
	says string // part of what the user is told, "" = nothing at all
}

// elsewhere says which test has the cases that are not about one stream.
var elsewhere = map[string]string{
	"B02": "TestPreflightRefusedField",
	"B05": "TestBatchedChunks", // nothing is tokenised here: tokens are the server's count
	"B08": "TestPreflightServersWithLimits",
}

// at is what the server sends so many ms after what it sent before.
func at(ms int, text ...string) part {
	return part{wait: time.Duration(ms) * time.Millisecond, text: strings.Join(text, "")}
}

// delta is a chunk of choice 0 with the given members in its delta.
func delta(members string) string {
	return `data: {"id":"x","choices":[{"index":0,"delta":{` + members + `},"finish_reason":null}]}` + "\n\n"
}

// TestField runs every case whole, byte by byte, and split at each boundary.
func TestField(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range slices.Concat(framingFaults(), payloadFaults(), timingFaults(), countingFaults()) {
		synctest.Test(t, func(t *testing.T) {
			for _, parts := range cuts(c.parts, random) {
				if got, said := c.run(t, parts); got != c.want || !strings.Contains(said, c.says) || (said == "") != (c.says == "") {
					t.Errorf("%s %s (%s), in %d reads: got\n%s\nwant\n%s\nsaid %q, want %q", c.id, c.name, c.report, len(parts), got, c.want, said, c.says)
					return
				}
			}
		})
	}
}

// run makes the request and renders what was measured and said.
func (c *fieldCase) run(t *testing.T, parts []part) (got, said string) {
	t.Helper()
	header := http.Header{"Content-Type": {"text/event-stream"}}
	if c.kind != "" {
		header.Set("Content-Type", c.kind)
	}
	if c.coding != "" {
		header.Set("Content-Encoding", c.coding)
	}
	e, r := exchanged(t, answer(max(c.status, 200), header, parts...), "")
	ms := func(at int64) string {
		if at == 0 {
			return "-"
		}
		return fmt.Sprintf("%g", float64(at-r.sent)/1e6)
	}
	cached := "-"
	if r.tokens.CachedTold {
		cached = fmt.Sprint(r.tokens.Cached)
	}
	s := &e.script
	got = fmt.Sprintf("%s; %s %s %s %s ms; %d chunks; %d %s %d tokens; %s", r.outcome,
		ms(r.first), ms(s.visible), ms(r.last), ms(r.end), len(s.times), r.tokens.Prompt, cached, r.tokens.Completion, s.finishReason)
	if r.outcome != OK {
		said = r.text
	}
	m := sample{marks: r.marks, phase: measured, outcome: r.outcome, tokens: r.tokens}
	shard := &shard{odd: s.notes(r.outcome)}
	good := slices.DeleteFunc([]sample{m}, func(m sample) bool { return !m.ok() })
	return got, said + strings.Join(oddities(good, shard), "; ")
}

// cuts are the ways in which the bytes may come: as sent, each part cut in two
// at every place, and byte by byte. Of long ones a sample must do.
func cuts(parts []part, random *rand.Rand) [][]part {
	size := 0
	for _, p := range parts {
		size += len(p.text)
	}
	out := [][]part{parts}
	if size > 8<<20 {
		return out
	}
	for k, p := range parts {
		places := random.Perm(max(len(p.text)-1, 0))
		if size > 4<<10 {
			places = places[:min(len(places), 1+64*len(p.text)/size)]
		}
		if size > 64<<10 {
			places = places[:min(len(places), 2)]
		}
		for _, i := range places {
			halves := []part{{wait: p.wait, text: p.text[:i+1]}, {text: p.text[i+1:]}}
			out = append(out, slices.Concat(parts[:k], halves, parts[k+1:]))
		}
	}
	if size <= 64<<10 {
		var bytewise []part
		for _, p := range parts {
			for i := range len(p.text) {
				bytewise = append(bytewise, part{text: p.text[i : i+1]})
			}
			if p.err != nil {
				bytewise = append(bytewise, p)
			} else {
				bytewise[len(bytewise)-len(p.text)].wait = p.wait
			}
		}
		out = append(out, bytewise)
	}
	return out
}

// TestFieldIsComplete: every case of the log that this table was made from has
// a row, or a test that exists.
func TestFieldIsComplete(t *testing.T) {
	rows := map[string]bool{}
	for _, c := range slices.Concat(framingFaults(), payloadFaults(), timingFaults(), countingFaults()) {
		if c.report == "" || c.name == "" || c.want == "" {
			t.Errorf("%s %s is not filled in", c.id, c.name)
		}
		rows[c.id] = true
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(b)
	}
	ids := strings.Fields("A01 A03 A04 A05 A06 A08 A09 A12 A13 A14 A15 A16 A18 A20 A21 A23 A25 A26 A28 A30 A32 A33 A34 A35 A37 A38 " +
		"B01 B02 B03 B05 B07 B08 B09 B12")
	for _, id := range ids {
		test, other := elsewhere[id]
		if other && !strings.Contains(tests.String(), "\nfunc "+test+"(") {
			t.Errorf("%s is said to be in %s, which does not exist", id, test)
		}
		if !rows[id] && !other {
			t.Errorf("%s is tested nowhere", id)
		}
		delete(rows, id)
	}
	for id := range rows {
		t.Errorf("%s is not a case of the log", id)
	}
}
