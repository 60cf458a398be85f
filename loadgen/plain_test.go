package loadgen

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/perfsweep/perfsweep/loadgen/internal/stream"
)

// What follows reads a whole stream as plainly as can be: lines, events, maps.
// It shares no code with the reader, only its definitions.

type plainEvent struct {
	data   string
	failed bool // named "error"
	atEnd  bool
}

// plainEvents is the SSE algorithm of the HTML standard on a whole text, with
// the deviations in the documentation of package stream.
func plainEvents(in string) []plainEvent {
	in = strings.TrimPrefix(in, "\xef\xbb\xbf")
	in = strings.ReplaceAll(strings.ReplaceAll(in, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(in, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var out []plainEvent
	var data []string
	failed := false
	for i, line := range append(lines, "") {
		if line == "" {
			if data != nil || failed {
				out = append(out, plainEvent{strings.Join(data, "\n"), failed, i == len(lines)})
			}
			data, failed = nil, false
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			data = append(data, value)
		case "event":
			failed = value == "error"
		}
	}
	return out
}

// plainReading is what must come of a stream.
type plainReading struct {
	outcome   Outcome
	tokens    []int64 // numbers of the events that carry output
	visible   int64
	usage     stream.Tokens
	hasUsage  bool
	finish    string
	ttft      time.Duration
	malformed int64
}

// plainState is a reading in progress.
type plainState struct {
	plainReading
	seen, finished  map[int]bool
	loose           []stream.Tokens // usage objects without a choice
	fault           Outcome
	done, aloneLast bool
}

// plainRead reads a stream that ended well or broke. It knows nothing of
// objects in which a name comes twice, whose meaning JSON leaves open.
func plainRead(in string, broken bool) (r plainReading, ambiguous bool) {
	s := plainState{seen: map[int]bool{0: true}, finished: map[int]bool{}}
	for n, ev := range plainEvents(in) {
		data := strings.TrimSpace(ev.data)
		switch {
		case s.done:
		case ev.failed:
			s.fail(InBand)
		case data == "":
		case data == "[DONE]":
			s.done = true
		case repeats(data):
			return r, true
		default:
			s.aloneLast = false
			s.chunk(data, int64(n+1), ev.atEnd)
		}
	}
	s.judge(broken)
	return s.plainReading, false
}

func (s *plainState) fail(o Outcome) {
	if s.fault == "" {
		s.fault = o
	}
}

// unreadable is the outcome of a chunk that makes no sense.
func (s *plainState) unreadable(atEnd bool) {
	if atEnd {
		s.fail(Truncated)
	}
	s.fail(Protocol)
}

func (s *plainState) chunk(data string, at int64, atEnd bool) {
	var chunk map[string]any
	d := json.NewDecoder(strings.NewReader(data))
	d.UseNumber()
	err := d.Decode(&chunk)
	if _, rest := d.Token(); err != nil || rest != io.EOF || chunk == nil {
		switch {
		case strings.HasPrefix(data, ":"):
			s.malformed++
		case strings.HasPrefix(strings.ToLower(data), "error"):
			s.fail(InBand)
		default:
			s.unreadable(atEnd)
		}
		return
	}
	choices, hasChoices := chunk["choices"].([]any)
	usage, hasUsage := chunk["usage"].(map[string]any)
	tokens, counted := plainUsage(usage)
	said := chunk["error"] != nil && chunk["error"] != false && chunk["error"] != "" || chunk["object"] == "error"
	message := filledText(chunk["message"]) || filledText(chunk["detail"])
	if said || message && !hasChoices && !hasUsage {
		s.fail(InBand)
	} else if hasUsage && !counted {
		s.unreadable(atEnd)
		return
	}
	thought, shown, objects := false, false, 0
	for _, c := range choices {
		if choice, ok := c.(map[string]any); ok {
			objects++
			t, v := s.choice(choice)
			thought, shown = thought || t, shown || v
		}
	}
	if thought || shown {
		s.tokens = append(s.tokens, at)
	}
	if shown && s.visible == 0 {
		s.visible = at
	}
	if t := plainTTFT(chunk["nvext"]); t > 0 {
		s.ttft = t
	}
	if hasUsage && counted {
		s.usage, s.hasUsage = tokens, true
		if objects == 0 {
			s.loose, s.aloneLast = append(s.loose, tokens), true
		}
	}
}

func (s *plainState) choice(choice map[string]any) (thought, shown bool) {
	index := plainIndex(choice["index"])
	s.seen[index] = true
	if reason, _ := choice["finish_reason"].(string); reason != "" {
		s.finished[index] = true
		if index == 0 && s.finish == "" {
			s.finish = reason
		}
		if !slices.Contains([]string{"stop", "length", "tool_calls", "function_call", "eos_token", "stop_sequence"}, reason) {
			s.fail(Unfinished)
		}
	}
	delta, _ := choice["delta"].(map[string]any)
	for _, v := range []any{delta["reasoning"], delta["reasoning_content"]} {
		thought = thought || filledText(v) || filledList(v)
	}
	for _, v := range []any{delta["content"], delta["refusal"]} {
		shown = shown || filledText(v) || filledList(v)
	}
	call, _ := delta["function_call"].(map[string]any)
	return thought, shown || filledText(choice["text"]) || filledList(delta["tool_calls"]) || len(call) > 0
}

func (s *plainState) judge(broken bool) {
	if len(s.seen) > 1 && len(s.loose) > 1 { // one for each choice
		s.usage = stream.Tokens{}
		for _, t := range s.loose {
			s.usage = s.usage.Plus(t)
		}
	}
	all := true
	for i := range s.seen {
		all = all && s.finished[i]
	}
	const most = 1 << 40
	u := s.usage
	switch {
	case s.fault != "":
		s.outcome = s.fault
	case !s.done && (broken || !all && !(s.aloneLast && len(s.finished) == 0)):
		s.outcome = Truncated
	case !s.hasUsage || u.Completion <= 0 || u.Prompt < 0 || u.Completion > most || u.Prompt > most:
		s.outcome = Protocol
	default:
		s.outcome = OK
	}
}

func filledText(v any) bool { s, ok := v.(string); return ok && s != "" }
func filledList(v any) bool { l, ok := v.([]any); return ok && len(l) > 0 }

// plainIndex takes anything but an integer above 0 for 0; those above 62 count
// as one.
func plainIndex(v any) int {
	n, _ := v.(json.Number)
	i, err := n.Int64()
	if err != nil {
		return 0
	}
	return int(min(max(i, 0), 63))
}

// plainUsage reads a usage object; ok is false when its totals are no integers.
func plainUsage(usage map[string]any) (t stream.Tokens, ok bool) {
	whole := func(v any) (int64, bool) {
		n, isNumber := v.(json.Number)
		i, err := n.Int64()
		return i, isNumber && err == nil
	}
	for name, to := range map[string]*int64{"prompt_tokens": &t.Prompt, "completion_tokens": &t.Completion} {
		if usage[name] == nil {
			continue
		}
		if *to, ok = whole(usage[name]); !ok {
			return stream.Tokens{}, false
		}
	}
	details, _ := usage["prompt_tokens_details"].(map[string]any)
	if n, told := whole(details["cached_tokens"]); told && n >= 0 {
		t.Cached, t.CachedTold = n, true
	}
	details, _ = usage["completion_tokens_details"].(map[string]any)
	if n, told := whole(details["reasoning_tokens"]); told && n >= 0 {
		t.Reasoning, t.ReasoningTold = n, true
	}
	return t, true
}

func plainTTFT(nvext any) time.Duration {
	ext, _ := nvext.(map[string]any)
	timing, _ := ext["timing"].(map[string]any)
	n, _ := timing["ttft_ms"].(json.Number)
	if ms, err := n.Float64(); err == nil && ms > 0 && ms < 24*3600*1000 {
		return time.Duration(ms * 1e6)
	}
	return 0
}

// repeats reports an object in which a name comes twice.
func repeats(data string) bool {
	d := json.NewDecoder(bytes.NewReader([]byte(data)))
	var open []map[string]bool // nil for an array
	name := false              // the next string is one
	for {
		tok, err := d.Token()
		if err != nil {
			return false
		}
		in := len(open) - 1
		switch tok {
		case json.Delim('{'):
			open, name = append(open, map[string]bool{}), true
			continue
		case json.Delim('['):
			open, name = append(open, nil), false
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:in]
			name = in > 0 && open[in-1] != nil
			continue
		}
		if s, ok := tok.(string); ok && name {
			if open[in][s] {
				return true
			}
			open[in][s], name = true, false
			continue
		}
		name = in >= 0 && open[in] != nil
	}
}
