package observe

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
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
	lines, err := knownLines(page)
	if err != nil {
		return Snapshot{}, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation) // the zero value panics
	families, err := parser.TextToMetricFamilies(bytes.NewReader(lines))
	if err != nil { // its words quote the page
		return Snapshot{}, errors.New("the page is not in the Prometheus text format")
	}
	t := &translation{
		source: source, model: modelName,
		frontend: isFrontend(families), values: map[subject]map[Metric]told{}, facts: map[string]string{},
	}
	t.pageID = t.onlyID(families)
	words := vocabulary()
	for _, name := range slices.Sorted(maps.Keys(families)) { // facts must not depend on a map's order
		for _, m := range families[name].GetMetric() {
			if err := t.series(words[name], m); err != nil {
				return Snapshot{}, err
			}
		}
	}
	return t.snapshot(), nil
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

type translation struct {
	source, model string
	frontend      bool   // a page of Dynamo's frontend
	pageID        string // the one worker whose page it is
	values        map[subject]map[Metric]told
	facts         map[string]string
}

func isFrontend(families map[string]*dto.MetricFamily) bool {
	for name := range families {
		if strings.HasPrefix(name, "dynamo_frontend_") {
			return true
		}
	}
	return false
}

// onlyID is the id of the worker that wrote the page: engines do not know the
// id that Dynamo's runtime gave them, but share its page.
func (t *translation) onlyID(families map[string]*dto.MetricFamily) string {
	if t.frontend {
		return ""
	}
	only := ""
	for name, f := range families {
		if !strings.HasPrefix(name, "dynamo_component_") || name == routerWorker {
			continue
		}
		for _, m := range f.GetMetric() {
			id, ok := WorkerID(label(m, "worker_id"), 16)
			if !ok {
				continue
			}
			if only != "" && only != id {
				return ""
			}
			only = id
		}
	}
	return only
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// series takes one series in every meaning that its name has.
func (t *translation) series(words []word, m *dto.Metric) error {
	for _, name := range []string{"model", "model_name"} {
		if of := label(m, name); t.model != "" && of != "" && !strings.EqualFold(of, t.model) {
			return nil
		}
	}
	v := m.GetUntyped().GetValue()
	for _, w := range words {
		if w.label != "" && label(m, w.label) != w.value {
			continue
		}
		if w.form == info {
			t.info(w, m)
			continue
		}
		t.identify(w, m)
		s := t.subject(w, m)
		if w.form == mask {
			t.clockReasons(s, w, v)
			continue
		}
		if v, ok := w.read(v); ok {
			t.put(s, w, w.metric, v)
		}
	}
	if len(t.values) > maxSubjects {
		return fmt.Errorf("more than %d engines and GPUs on one page", maxSubjects)
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

// subject names what a series is about.
func (t *translation) subject(w word, m *dto.Metric) subject {
	switch w.scope {
	case ofGPU:
		return subject{ofGPU, t.gpuName(m)}
	case ofNode:
		return subject{ofNode, ""}
	case ofEngine, ofWorker:
		if t.frontend && strings.HasPrefix(w.name, "dynamo_component_") {
			return subject{ofFrontend, ""} // of the frontend's own process
		}
	default:
		return subject{ofFrontend, ""}
	}
	base := 10
	if w.hex {
		base = 16
	}
	id, ok := WorkerID(label(m, "worker_id"), base)
	if !ok {
		id = t.pageID
	}
	if id == "" {
		id = t.source
	}
	rank := label(m, "dp_rank")
	if rank == "" {
		rank = label(m, "engine")
	}
	if w.scope == ofWorker || rank == "" {
		return subject{ofWorker, id}
	}
	return subject{ofEngine, engineName(id, rank, id != t.source)}
}

// gpuName is the UUID, with the instance of a divided GPU; exporters can be
// told to leave the UUID out.
func (t *translation) gpuName(m *dto.Metric) string {
	name, ok := plainName(label(m, "UUID"))
	if !ok {
		host, _ := plainName(label(m, "Hostname"))
		if host == "" {
			host = t.source
		}
		gpu, _ := plainName(label(m, "gpu"))
		name = host + "/" + gpu
	}
	if part, ok := plainName(label(m, "GPU_I_ID")); ok {
		name += "/" + part
	}
	return name
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
