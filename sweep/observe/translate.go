package observe

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// maxSubjects bounds the engines and GPUs of one page.
const maxSubjects = 4096

// maxValue bounds a value, so that no sum of them leaves the numbers that JSON
// has; nothing that is read comes near it.
const maxValue = 1e18

// Translate reads a page in the Prometheus text format and says it in the one
// vocabulary. Of a page with several models only the series of the given one
// count, and those that name none; "" means all. Frontends before Dynamo 1.0
// write model names in lower case, so that case does not matter. The page is
// hostile: what is not finite, negative or out of its range is left out.
func Translate(page []byte, source, modelName string) (Snapshot, error) {
	return newTranslation(source, modelName).page(page)
}

// subject is what a reading is about.
type subject struct {
	scope scope
	name  string
}

// told is a value with the preference of the word that told it.
type told struct {
	value  float64
	prefer int
}

// translation reads the pages of one source, one after another. A server writes
// the same series each time, and what they are about stays the same: the parser
// and the vocabulary are asked again when a series is another than before, and
// else only the values are read. That takes a tenth of the memory, which a
// client with a small heap would have to collect all the time.
type translation struct {
	source, model string
	parser        expfmt.TextParser
	lines, before samples // of this page, and of the one that was worked out
	meaning
	values map[subject]map[Metric]told
}

func newTranslation(source, modelName string) *translation {
	return &translation{
		source: source, model: modelName, values: map[subject]map[Metric]told{},
		parser: expfmt.NewTextParser(model.UTF8Validation), // the zero value panics
	}
}

// errFormat is without the parser's words, which quote the page.
var errFormat = errors.New("the page is not in the Prometheus text format")

// page reads one page.
func (t *translation) page(page []byte) (Snapshot, error) {
	if err := t.lines.scan(page); err != nil {
		return Snapshot{}, err
	}
	if !t.lines.sameSeries(&t.before) || !t.read() {
		t.before.forget()
		if err := t.workOut(); err != nil {
			return Snapshot{}, err
		}
		t.lines, t.before = t.before, t.lines
	}
	if err := t.tell(); err != nil {
		return Snapshot{}, err
	}
	return t.snapshot(), nil
}

// read takes the values out of the lines; false leaves it to the parser to say
// what is wrong with one.
func (t *translation) read() bool {
	for i := range t.numbers {
		text := t.lines.value(i)
		v, err := strconv.ParseFloat(string(text), 64)
		if err != nil || bytes.ContainsAny(text, "pP_") { // which the format does not have
			return false
		}
		t.numbers[i] = v
	}
	return true
}

// tell puts the values where they belong.
func (t *translation) tell() error {
	for _, r := range t.values {
		clear(r)
	}
	for i := range t.uses {
		u := &t.uses[i]
		v := u.value
		if u.line >= 0 {
			v = t.numbers[u.line]
		}
		if u.word.form == mask {
			t.clockReasons(u.about, u.word, v)
		} else if v, ok := u.word.read(v); ok {
			t.put(u.about, u.word, u.metric, v)
		}
		if len(t.values) > maxSubjects {
			return fmt.Errorf("more than %d engines and GPUs on one page", maxSubjects)
		}
	}
	return nil
}

// read checks a value. Nothing in the vocabulary can be negative.
func (w word) read(v float64) (float64, bool) {
	switch {
	case !(v >= 0 && v <= maxValue):
		return 0, false
	case w.form == share && v > 1.01: // a percentage, or nonsense
		return 0, false
	case w.form == share:
		return min(v, 1), true
	case w.form == setting && (v < 1 || v > math.MaxInt32 || v != math.Trunc(v)):
		return 0, false
	}
	return v, true
}

func (t *translation) put(s subject, w word, m Metric, v float64) {
	r := t.values[s]
	if r == nil {
		r = map[Metric]told{}
		t.values[s] = r
	}
	old, was := r[m]
	switch {
	case !was || w.prefer < old.prefer:
	case w.prefer > old.prefer:
		return
	case w.fold == sum:
		v += old.value
	default:
		v = max(v, old.value)
	}
	r[m] = told{v, w.prefer}
}

// Bits of clock event reasons (NVML, nvmlClocksEventReasons). Those left out,
// such as idle, are no fault.
const (
	softPowerCap = 0x4
	heldDown     = 0x8 | 0x20 | 0x40 | 0x80 // hardware slowdown, heat seen by software, by hardware, power brake
)

func (t *translation) clockReasons(s subject, w word, v float64) {
	if !(v >= 0 && v < 1<<53) {
		return
	}
	bit := func(of uint64) float64 {
		if uint64(v)&of != 0 {
			return 1
		}
		return 0
	}
	t.put(s, w, Throttle, bit(heldDown))
	t.put(s, w, PowerCap, bit(softPowerCap))
}

// snapshot sorts what was told by what it is about.
func (t *translation) snapshot() Snapshot {
	s := Snapshot{Source: t.source}
	whole := map[string]Reading{}
	for of, values := range t.values {
		if len(values) == 0 { // of an earlier page, or nonsense
			continue
		}
		r := make(Reading, len(values))
		for m, v := range values {
			r[m] = v.value
		}
		switch of.scope {
		case ofFrontend:
			s.Frontend = r
		case ofNode:
			s.Node = r
		case ofGPU:
			s.GPUs = put(s.GPUs, of.name, r)
		case ofWorker:
			whole[of.name] = r
		default:
			s.Engines = put(s.Engines, of.name, r)
		}
	}
	spread(&s, whole)
	for _, r := range s.Engines {
		deriveTokens(r)
	}
	t.gather(&s)
	return s
}

func put(m map[string]Reading, name string, r Reading) map[string]Reading {
	if m == nil {
		m = map[string]Reading{}
	}
	m[name] = r
	return m
}
