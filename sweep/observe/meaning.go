package observe

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// meaning is what the series of a page are about.
type meaning struct {
	frontend bool              // a page of Dynamo's frontend
	pageID   string            // the one worker whose page it is
	facts    map[string]string // those that labels tell
	uses     []use
	numbers  []float64 // the values of the lines
}

// use is one thing that a series says.
type use struct {
	line   int     // whose value it is
	value  float64 // it, where line is -1: a label had it
	word   word
	metric Metric
	about  subject
}

// workOut has the page parsed and looks up what its series mean.
func (t *translation) workOut() error {
	families, err := t.parser.TextToMetricFamilies(bytes.NewReader(t.lines.text))
	if err != nil {
		return errFormat
	}
	clear(t.values)
	t.meaning = meaning{frontend: isFrontend(families), facts: map[string]string{}, numbers: make([]float64, len(t.lines.ends))}
	t.pageID = t.onlyID(families)
	where := t.lines.byName()
	words := vocabulary()
	for _, name := range slices.Sorted(maps.Keys(families)) { // facts must not depend on a map's order
		all := families[name].GetMetric()
		if len(all) != len(where[name]) {
			return errFormat
		}
		seen := map[string]bool{}
		for i, m := range all {
			line := where[name][i]
			t.numbers[line] = m.GetUntyped().GetValue()
			// A page has each series once. Of one that stands there again the first
			// counts, as it does for Prometheus: parts of a sum must not count twice.
			if key := seriesKey(m); !seen[key] {
				seen[key] = true
				t.series(words[name], m, line)
			}
		}
	}
	return nil
}

// seriesKey tells the series of one name apart, in whatever order their labels are.
func seriesKey(m *dto.Metric) string {
	var all []string
	for _, l := range m.GetLabel() {
		all = append(all, strconv.Quote(l.GetName())+"="+strconv.Quote(l.GetValue()))
	}
	slices.Sort(all)
	return strings.Join(all, ",")
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
func (t *translation) series(words []word, m *dto.Metric, line int) {
	for _, name := range []string{"model", "model_name"} {
		if of := label(m, name); t.model != "" && of != "" && !strings.EqualFold(of, t.model) {
			return
		}
	}
	for _, w := range words {
		if w.label != "" && label(m, w.label) != w.value {
			continue
		}
		if w.form == info {
			t.info(w, m)
			continue
		}
		t.identify(w, m)
		t.uses = append(t.uses, use{line: line, word: w, metric: w.metric, about: t.subject(w, m)})
	}
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
