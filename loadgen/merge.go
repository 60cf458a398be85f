package loadgen

import (
	"fmt"
	"slices"
	"time"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// LoadPod is one of several generators that made a run together.
type LoadPod struct {
	Name     string `json:"name,omitempty"`
	Streams  int    `json:"streams"`
	Requests int64  `json:"requests"`
	// ClockOffsetMS is how far its clock was ahead of the coordinator's, known
	// to within ± ClockUncertaintyMS.
	ClockOffsetMS      float64 `json:"clock_offset_ms"`
	ClockUncertaintyMS float64 `json:"clock_uncertainty_ms"`
	CPUShare           float64 `json:"cpu_share,omitempty"`
	LagP99MS           float64 `json:"lag_p99_ms,omitempty"`
}

// MergeParts makes the result of a run from what its parts recorded; cfg is
// that of the whole run. All is put on one clock; percentiles come from all
// samples together, those of histograms from the sum of the histograms. The
// steady window reaches from the last part's begin to the first part's end. Of
// health, the worst part counts. The parts' samples are used up.
func MergeParts(cfg Config, parts []Part) (Result, error) {
	m, err := merge(&cfg, parts)
	if err != nil {
		return Result{}, err
	}
	r := summarize(m.control, m.samples, m.record)
	r.Started, r.Ended = m.started, m.ended
	r.NextRequest = cfg.FirstRequest
	for i := range parts {
		own := cfg
		own.Share = Share{Index: i, Of: len(parts)}
		if sent := parts[i].course.sent; sent > 0 {
			r.NextRequest = max(r.NextRequest, own.number(sent-1)+1)
			r.RepeatedPrompts += cfg.Workload.repeated(&own, sent)
		}
	}
	r.Warnings = append(r.Warnings, cfg.Workload.remarks(&r)...)
	r.Errors = m.errors
	if cfg.Transport == GoOpenAI {
		r.Warnings = append(r.Warnings, goOpenAIWarning)
	}
	r.environment(parts)
	r.suspended(m.away)
	if len(parts) > 1 {
		r.LoadPods, r.StartSpreadMS = m.pods, m.startSpread()
		r.Warnings = append(r.Warnings, m.apart(r.StartSpreadMS-float64(cfg.Limits.GateRamp)/nsPerMS)...)
	}
	return r, nil
}

// Above these, parts do not make one run well: AICR's protocol has a synchronised
// start, and the window of all parts is known no better than their clocks.
const wideStartMS, poorClockMS = 100, 20

// apart warns where parts were not as much together as they should be.
func (m *merged) apart(spreadMS float64) []string {
	var out []string
	if spreadMS > wideStartMS {
		out = append(out, fmt.Sprintf("the load generators began to measure within %.0f ms of each other: the start was not synchronised well", spreadMS))
	}
	for _, p := range m.pods {
		if p.ClockUncertaintyMS > poorClockMS {
			out = append(out, fmt.Sprintf("the clock of load generator %s is known to ± %.0f ms only: the start and the window are no better", p.Name, p.ClockUncertaintyMS))
		}
	}
	return out
}

// merged is a run on one clock, with what is needed to summarize it.
type merged struct {
	control        *control
	samples        []sample
	record         *shard
	started, ended time.Time
	errors         map[Outcome][]string
	pods           []LoadPod
	begins         []int64 // of the measured parts, by part
	away           []Suspension
}

func merge(cfg *Config, parts []Part) (*merged, error) {
	streams := 0
	for i := range parts {
		if parts[i].record == nil {
			return nil, fmt.Errorf("merging a run: part %d of %d recorded nothing", i+1, len(parts))
		}
		streams += parts[i].streams
	}
	if streams != cfg.Concurrency || len(parts) == 0 {
		return nil, fmt.Errorf("merging a run: its %s had %s together and the run has %d: a part is missing or is not of this run", plural.Of(len(parts), "part"), plural.Of(streams, "stream"), cfg.Concurrency)
	}
	m := &merged{control: &control{kind: cfg.Kind, streams: streams, objective: cfg.Objective}}
	for i := range parts {
		at := parts[i].started.Add(-parts[i].Offset)
		if i == 0 || at.Before(m.started) {
			m.started = at
		}
		if end := parts[i].ended.Add(-parts[i].Offset); end.After(m.ended) {
			m.ended = end
		}
	}
	for i := range parts {
		m.add(&parts[i], i)
	}
	return m, nil
}

// add takes one part in.
func (m *merged) add(p *Part, i int) {
	shift := int64(p.started.Add(-p.Offset).Sub(m.started))
	pod := LoadPod{
		Name: p.Name, Streams: p.streams, Requests: int64(len(p.samples)),
		ClockOffsetMS: float64(p.Offset) / nsPerMS, ClockUncertaintyMS: float64(p.Uncertainty) / nsPerMS,
		CPUShare: p.health.CPUShare,
	}
	if p.record.kernel > 0 {
		pod.LagP99MS = float64(p.record.lags.ValueAtQuantile(99)) / nsPerMS
	}
	m.pods = append(m.pods, pod)
	for _, a := range p.away {
		m.away = append(m.away, Suspension{StartS: float64(a.from+shift) / 1e9, LengthS: float64(a.length) / 1e9, LoadPod: p.Name})
	}
	for k := range p.samples {
		p.samples[k].shift(shift)
	}
	c := p.course
	m.begins = append(m.begins, c.from+shift)
	if i == 0 {
		c.from, c.until = c.from+shift, c.until+shift
		m.control.course = c
		m.samples = p.samples
		if m.record = p.record; shift != 0 {
			m.record = newShard()
			m.record.mergeAt(p.record, shift)
		}
	} else {
		m.control.join(c, shift)
		m.samples = append(m.samples, p.samples...)
		m.record.mergeAt(p.record, shift)
	}
	for o, texts := range p.errors {
		for _, t := range texts {
			if m.errors == nil {
				m.errors = map[Outcome][]string{}
			}
			if len(m.errors[o]) < errorsPerOutcome && !slices.Contains(m.errors[o], t) {
				m.errors[o] = append(m.errors[o], t)
			}
		}
	}
}

// join adds another part's course: the load is full while all parts hold theirs.
func (c *course) join(o course, shift int64) {
	c.sent += o.sent
	c.capped = c.capped || o.capped
	c.warmCapped = c.warmCapped || o.warmCapped
	c.from, c.until = max(c.from, o.from+shift), min(c.until, o.until+shift)
	if urgency(o.reason) > urgency(c.reason) {
		c.reason = o.reason
	}
}

// urgency orders the reasons for which parts end early: what one saw is why the
// others were stopped.
func urgency(reason string) int {
	return slices.Index([]string{"", stoppedByPeers, "errors", "silence", "cancelled"}, reason)
}

// shift moves a sample to another clock. A time that never came stays 0.
func (s *sample) shift(by int64) {
	s.wanted, s.sent, s.end = s.wanted+by, s.sent+by, s.end+by
	for _, t := range []*int64{&s.headers, &s.first, &s.second, &s.visible, &s.last} {
		if *t != 0 {
			*t += by
		}
	}
}

// mergeAt is merge for a shard whose clock began later, by less or more than
// whole bins: what was in one bin then lies in two, in proportion.
func (s *shard) mergeAt(o *shard, by int64) {
	bins := o.bins
	o.bins = nil
	s.merge(o)
	o.bins = bins
	for i := range bins {
		b, from := &bins[i], int64(i)*binWidth+by
		if b.tokens > 0 {
			next := float64((from%binWidth+binWidth)%binWidth) / float64(binWidth)
			s.at(from).tokens += b.tokens * (1 - next)
			s.at(from).good += b.good * (1 - next)
			if next > 0 {
				s.at(from + binWidth).tokens += b.tokens * next
				s.at(from + binWidth).good += b.good * next
			}
		}
		if b.first != 0 {
			s.saw(b.first + by)
			s.saw(b.last + by)
		}
	}
}

// saw notes an arrival in its bin.
func (s *shard) saw(t int64) {
	b := s.at(t)
	if b.first == 0 || t < b.first {
		b.first = t
	}
	b.last = max(b.last, t)
}

// environment adds what the machines and the connections of the parts told: the
// worst of each, and the warnings under the part's name.
func (r *Result) environment(parts []Part) {
	h := &r.Health
	h.QuickACK = true
	for i := range parts {
		p := &parts[i]
		h.CPUShare = max(h.CPUShare, p.health.CPUShare)
		h.RunQueueShare = max(h.RunQueueShare, p.health.RunQueueShare)
		h.GCPauseMS = max(h.GCPauseMS, p.health.GCPauseMS)
		h.Dials += p.health.Dials
		h.SlowConnects += p.health.SlowConnects
		h.DrainTimedOut += p.health.DrainTimedOut
		h.QuickACK = h.QuickACK && p.health.QuickACK
		h.KernelTime = h.KernelTime && p.record.stamped()
		for _, w := range p.warnings {
			if len(parts) > 1 {
				w = p.title(i, len(parts)) + ": " + w
			}
			r.Warnings = append(r.Warnings, w)
		}
	}
}

func (p *Part) title(i, of int) string {
	if p.Name != "" {
		return p.Name
	}
	return fmt.Sprintf("generator %d of %d", i+1, of)
}

// startSpread is how far apart the parts began to measure: in a gate run, whose
// start is synchronised, the first sends of all streams, else the parts.
func (m *merged) startSpread() float64 {
	begins := m.begins
	if m.control.kind == Gate {
		sends := sorted(m.samples, func(s *sample) int64 { return s.sent }, func(s *sample) bool { return s.phase == measured })
		begins = sends[:min(len(sends), m.control.streams)]
	}
	if len(begins) == 0 {
		return 0
	}
	return float64(slices.Max(begins)-slices.Min(begins)) / nsPerMS
}
