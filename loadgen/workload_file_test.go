package loadgen

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestFileWorkload(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.jsonl")
	write := func(text string) WorkloadSpec {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return WorkloadSpec{Name: FromFile, File: file}
	}
	w, err := NewWorkload(write("{\"prompt\":\"a \\\"q\\\" <é>\",\"max_tokens\":5}\r\n\n{\"prompt\":\"b\",\"max_tokens\":6}"), Preflight{})
	if err != nil {
		t.Fatal(err)
	}
	b := w.bodies(&Config{Model: "m"})
	for i, want := range []struct {
		prompt string
		limit  int
	}{{`a "q" <é>`, 5}, {"b", 6}, {`a "q" <é>`, 5}} {
		ask := b.body(uint64(i))
		if m := parsed(t, ask.body); prompt(m) != want.prompt || m["max_completion_tokens"] != float64(want.limit) || ask.out != want.limit {
			t.Errorf("request %d: %v", i, m)
		}
	}
	if sum := w.Spec().FileSHA256; len(sum) != 64 {
		t.Errorf("digest %q", sum)
	}
	again := w.Spec()
	if _, err := NewWorkload(again, Preflight{}); err != nil {
		t.Errorf("the same file again: %v", err)
	}
	write(`{"prompt":"c","max_tokens":5}`)
	if _, err := NewWorkload(again, Preflight{}); !isBadInput(err) || !strings.Contains(err.Error(), "changed") {
		t.Errorf("a changed file: %v", err)
	}
	for text, want := range map[string]string{
		"":                                      "no prompts",
		"\n\n":                                  "no prompts",
		"{}":                                    "jsonl:1: ",
		`{"prompt":"a","max_tokens":1}` + "\nx": "jsonl:2: ",
		`{"prompt":"a","max_tokens":0}`:         "jsonl:1: ",
		`{"prompt":"","max_tokens":1}`:          "jsonl:1: ",
		`{"prompt":"a","max_tokens":1.5}`:       "jsonl:1: ",
		`{"prompt":"a","max_tokens":1,"n":2}`:   "jsonl:1: ",
		`{"prompt":"a","max_tokens":1}{}`:       "more than one",
		"[1]":                                   "jsonl:1: ",
		`{"prompt":"a"}`:                        "no output length",
		`{"max_tokens":1}`:                      "exactly one of prompt, text and messages, has 0",
		`{"prompt":"a","text":"b","max_tokens":1}`:                                    "has 2",
		`{"prompt":"a","max_tokens":1,"output_length":1}`:                             "name one",
		`{"prompt":"a","max_tokens":1048577}`:                                         "an output length of 1048577",
		`{"text":"a","type":"multi_turn","max_tokens":1}`:                             `type "multi_turn"`,
		`{"text":"a","delay":5,"max_tokens":1}`:                                       `unknown field "delay"`,
		`{"messages":[],"max_tokens":1}`:                                              "messages is empty",
		`{"messages":[{"content":"a"}],"max_tokens":1}`:                               "messages[0] has no role",
		`{"messages":[{"role":"user"}],"max_tokens":1}`:                               "content must be a string or an array",
		`{"messages":[{"role":"user","content":7}],"max_tokens":1}`:                   "content must be a string or an array",
		`{"messages":[{"role":"user","content":"a"},1],"max_tokens":1}`:               "messages[1]",
		`{"messages":{"role":"user","content":"a"},"max_tokens":1}`:                   "jsonl:1: ",
		"{\"prompt\":\"a\",\"max_tokens\":1}\n{\"prompt\":\"\xff\",\"max_tokens\":1}": "jsonl:2: the line is not UTF-8",
		"\n\n" + `{"prompt":"` + strings.Repeat("x", maxFileLine) + `"`:               "jsonl:3: the line is longer",
	} {
		if _, err := NewWorkload(write(text), Preflight{}); !isBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// TestFileForms: each form of a line becomes the request it stands for.
func TestFileForms(t *testing.T) {
	lines := []string{
		"\ufeff" + `{"prompt":"p"}`,
		`{"type":"single_turn","text":"t","output_length":3}`,
		`{"messages":[ {"role":"system","content":"s"}, {"role":"user","content":[{"type":"text","text":"u"}],"name":"n"} ],"max_tokens":4}`,
	}
	prompts, err := readPrompts(strings.NewReader(strings.Join(lines, "\n")), 9)
	if err != nil {
		t.Fatal(err)
	}
	w := &Workload{spec: WorkloadSpec{Name: FromFile, File: "w.jsonl"}, lines: prompts, limitField: modernLimit}
	b := w.bodies(&Config{Model: "m"})
	for i, want := range []string{
		`[{"role":"user","content":"p"}] 9`,
		`[{"role":"user","content":"t"}] 3`,
		`[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"u"}],"name":"n"}] 4`,
	} {
		ask := b.body(uint64(i))
		var got struct {
			Messages json.RawMessage
			Limit    json.RawMessage `json:"max_completion_tokens"`
		}
		if err := json.Unmarshal(ask.body, &got); err != nil {
			t.Fatal(err)
		}
		if s := string(got.Messages) + " " + string(got.Limit); s != want {
			t.Errorf("line %d: %s, want %s", i+1, s, want)
		}
	}
	if err := w.servable(Completions); !isBadInput(err) || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("messages on the completions endpoint: %v", err)
	}
	w.lines = prompts[:2]
	if err := w.servable(Completions); err != nil {
		t.Error(err)
	}
	body := parsed(t, w.bodies(&Config{Model: "m", Endpoint: Completions}).body(1).body)
	if body["prompt"] != "t" || body["max_tokens"] != 3.0 || body["messages"] != nil || body["max_completion_tokens"] != nil {
		t.Errorf("completions: %v", body)
	}
}

// TestFileIsUsedUpOnce: a campaign sends no line twice unless that was asked
// for; a run that cannot be made without is refused before it sends anything.
func TestFileIsUsedUpOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.jsonl")
	var text bytes.Buffer
	for range 100 {
		text.WriteString(`{"prompt":"a","max_tokens":2}` + "\n")
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(first uint64, kind RunKind, reuse bool) (r Result, err error) {
		spec := WorkloadSpec{Name: FromFile, File: file, ReusePrompts: reuse}
		w := workload(t, spec)
		synctest.Test(t, func(t *testing.T) {
			e := &engine{ttft: time.Millisecond, itl: time.Millisecond}
			dial, stop := e.serve()
			r, err = Run(t.Context(), Config{
				BaseURL: "http://engine", Model: "m", Dial: dial, Concurrency: 2, Kind: kind, FirstRequest: first, Workload: w,
				Limits: Limits{MinRequests: 40, MinDuration: 300 * time.Millisecond},
			})
			stop()
		})
		return r, err
	}
	for _, c := range []struct {
		first         uint64
		kind          RunKind
		reuse, refuse bool
	}{
		{0, Gate, false, false}, {53, Gate, false, false}, {54, Gate, false, true}, // 2 + 40 of 95
		{52, Steady, false, true}, {54, Gate, true, false}, {1 << 40, Gate, false, true},
	} {
		r, err := run(c.first, c.kind, c.reuse)
		switch {
		case c.refuse && (!isBadInput(err) || !strings.Contains(err.Error(), "--reuse-prompts") || r.All.Total() > 0):
			t.Errorf("%+v: %v after %d requests", c, err, r.All.Total())
		case !c.refuse && (err != nil || r.RepeatedPrompts != 0):
			t.Errorf("%+v: %v, %d repeated", c, err, r.RepeatedPrompts)
		}
	}
	// A steady run goes on for its time, whatever the file holds: that is told.
	r, err := run(0, Steady, false)
	if want := int64(r.NextRequest) - 95; err != nil || want <= 0 || r.RepeatedPrompts != want {
		t.Errorf("%v, %d repeated prompts, want %d", err, r.RepeatedPrompts, want)
	}
}

// FuzzPrompts: whatever a file holds, its prompts make bodies that are JSON
// with what was asked for, or the error begins with a line number.
func FuzzPrompts(f *testing.F) {
	f.Add(`{"prompt":"a","max_tokens":1}`, 0)
	f.Add(`{"text":"\u0000\"\\","output_length":7}`+"\n\n"+`{"prompt":"b"}`, 3)
	f.Add(`{"messages":[{"role":"user","content":"a"},{"role":"x","content":[]}],"max_tokens":2}`, 0)
	f.Add("\ufeff{}\r\n", 1)
	f.Fuzz(func(t *testing.T, text string, osl int) {
		if osl < 0 || osl > maxTokens {
			osl = 0
		}
		prompts, err := readPrompts(strings.NewReader(text), osl)
		if err != nil {
			line, _, ok := strings.Cut(err.Error(), ":")
			if !ok || strings.Trim(line, "0123456789") != "" {
				t.Errorf("no line in %q", err)
			}
			return
		}
		w := &Workload{spec: WorkloadSpec{Name: FromFile}, lines: prompts, limitField: modernLimit}
		b := w.bodies(&Config{Model: "m"})
		for i := range prompts {
			ask := b.body(uint64(i))
			if m := parsed(t, ask.body); m["max_completion_tokens"] != float64(ask.out) || ask.out < 1 || ask.out > maxTokens || len(m["messages"].([]any)) == 0 {
				t.Errorf("%s", ask.body)
			}
		}
	})
}
