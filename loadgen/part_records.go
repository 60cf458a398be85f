package loadgen

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// partVersion changes with the order or the meaning of what follows it.
const partVersion = 2

// MarshalBinary renders the records of a part.
func (p Part) MarshalBinary() ([]byte, error) {
	if p.record == nil {
		return nil, fmt.Errorf("a part without records cannot be rendered")
	}
	c := &codec{}
	p.code(c)
	return c.out, c.err
}

// UnmarshalBinary reads records. They are hostile: whatever could not have been
// recorded is an error, and memory stays in proportion to the bytes.
func (p *Part) UnmarshalBinary(b []byte) error {
	c := &codec{in: b, reading: true}
	own := Part{Name: p.Name, Offset: p.Offset, Uncertainty: p.Uncertainty, record: newShard(), errors: map[Outcome][]string{}}
	own.code(c)
	if c.err == nil && len(c.in) > 0 {
		c.err = errTrailing
	}
	if c.err == nil {
		c.err = own.plausible()
	}
	if c.err != nil {
		return fmt.Errorf("reading the records of a generator: %w", c.err)
	}
	*p = own
	return nil
}

// code writes or reads everything in order.
func (p *Part) code(c *codec) {
	version := int64(partVersion)
	c.number(&version, partVersion, partVersion)
	c.moment(&p.started)
	c.moment(&p.ended)
	streams := int64(p.streams)
	c.number(&streams, 1, 1<<20)
	p.streams = int(streams)
	c.course(&p.course)
	n := c.length(len(p.samples), sampleBytes, math.MaxInt32)
	if c.reading {
		p.samples = make([]sample, n)
	}
	before := int64(0)
	for i := range p.samples {
		if c.sample(&p.samples[i], before); c.err != nil {
			return
		}
		before = p.samples[i].sent
	}
	c.shard(p.record)
	c.examples(&p.errors)
	for _, f := range []*float64{&p.health.CPUShare, &p.health.RunQueueShare, &p.health.GCPauseMS} {
		c.float(f)
	}
	for _, n := range []*int64{&p.health.Dials, &p.health.SlowConnects, &p.health.DrainTimedOut} {
		c.number(n, 0, maxCount)
	}
	c.flag(&p.health.QuickACK)
	c.texts(&p.warnings)
	c.absences(&p.away)
}

func (c *codec) moment(t *time.Time) {
	ns := t.UnixNano()
	c.number(&ns, 0, math.MaxInt64/2)
	if c.reading {
		*t = time.Unix(0, ns)
	}
}

func (c *codec) course(w *course) {
	sent := int64(w.sent)
	c.number(&sent, 0, maxCount)
	w.sent = uint64(sent)
	c.flag(&w.capped)
	c.flag(&w.warmCapped)
	c.text(&w.reason, 16)
	if urgency(w.reason) < 0 {
		c.fail("an unknown reason to stop")
	}
	c.number(&w.from, 0, maxSpan)
	c.number(&w.until, 0, maxSpan)
}

// outcomes are numbered by their place.
var outcomes = [...]Outcome{OK, Truncated, InBand, HTTPStatus, Shed, Connect, Timeout, Cancelled, Protocol, Unfinished}

func (c *codec) outcome(o *Outcome) {
	i := int64(slices.Index(outcomes[:], *o))
	if c.number(&i, 0, int64(len(outcomes))-1); c.err == nil {
		*o = outcomes[max(i, 0)]
	}
}

// sampleBytes is the least that a sample takes.
const sampleBytes = 20

func (c *codec) sample(s *sample, before int64) {
	kind := int64(s.phase)
	c.number(&kind, 0, int64(topUp))
	s.phase = phase(kind)
	c.outcome(&s.outcome)
	c.after(&s.sent, before, 0, maxSpan)
	c.after(&s.wanted, s.sent, 0, maxSpan)
	c.after(&s.end, s.sent, 0, maxSpan)
	for _, d := range []*int64{&s.connect, &s.tls, &s.late} {
		c.number(d, -maxSpan, maxSpan)
	}
	c.number(&s.wait, -maxSpan, maxSpan)
	c.flag(&s.dialled)
	for _, t := range []*int64{&s.headers, &s.first, &s.second, &s.visible, &s.last} {
		c.maybe(t, s.sent, maxSpan)
	}
	t := &s.tokens
	for _, n := range []*int64{&t.Completion, &t.Prompt, &t.Cached, &t.Reasoning, &s.asked, &s.askedIn} {
		*n = min(max(*n, 0), maxUsage)
		c.number(n, 0, maxUsage)
	}
	c.flag(&t.CachedTold)
	c.flag(&t.ReasoningTold)
}

func (c *codec) shard(s *shard) {
	c.histogram(&s.gaps)
	c.histogram(&s.lags)
	o := &s.odd
	for _, n := range []*int64{
		&s.maxLag, &s.clamped, &s.events, &s.reads, &s.kernel,
		&o.ok, &o.noDone, &o.noFinish, &o.byUsage, &o.deformed, &o.fell, &o.choices,
	} {
		c.number(n, 0, maxSpan*1000)
	}
	n := c.length(len(s.bins), 3, maxSpan/binWidth)
	if c.reading {
		s.bins = make([]bin, n)
	}
	for i := range s.bins {
		if c.bin(&s.bins[i], int64(i)*binWidth); c.err != nil {
			return
		}
	}
}

func (c *codec) bin(b *bin, from int64) {
	tokens, good, seen := b.tokens > 0, b.good > 0, b.first != 0
	if c.flag(&tokens); tokens {
		c.float(&b.tokens)
	}
	if c.flag(&good); good {
		c.float(&b.good)
	}
	if c.flag(&seen); seen {
		c.after(&b.first, from, from, from+binWidth-1)
		c.after(&b.last, from, b.first, from+binWidth-1)
	}
}

// histogram tells the buckets that are not empty.
func (c *codec) histogram(h **hdr.Histogram) {
	all := (*h).Export()
	filled := 0
	for _, n := range all.Counts {
		filled += int(one(n > 0))
	}
	filled = c.length(filled, 2, int64(len(all.Counts)))
	at := int64(-1)
	for range filled {
		next, count := at+1, int64(0)
		for !c.reading && all.Counts[next] == 0 {
			next++
		}
		if c.after(&next, at, at+1, int64(len(all.Counts))-1); c.err != nil {
			return
		}
		if !c.reading {
			count = all.Counts[next]
		}
		if c.number(&count, 1, maxCount); c.err != nil {
			return
		}
		all.Counts[next], at = count, next
	}
	if c.reading {
		*h = hdr.Import(all)
	}
}

// examples are the error texts by outcome.
func (c *codec) examples(all *map[Outcome][]string) {
	n := c.length(len(*all), 2, int64(len(outcomes)))
	keys := slices.Sorted(maps.Keys(*all))
	for i := range n {
		var o Outcome
		var texts []string
		if !c.reading {
			o = keys[i]
			texts = (*all)[o]
		}
		c.outcome(&o)
		if c.texts(&texts); c.err != nil {
			return
		}
		if c.reading {
			(*all)[o] = texts[:min(len(texts), errorsPerOutcome)]
		}
	}
}

// absences are when the generator did not run. A machine may sleep for longer
// than any run takes.
func (c *codec) absences(list *[]absence) {
	n := c.length(len(*list), 2, maxAbsences)
	if c.reading && n > 0 {
		*list = make([]absence, n)
	}
	for i := range n {
		c.number(&(*list)[i].from, 0, maxSpan)
		c.number(&(*list)[i].length, leastAbsence, maxSpan*1000)
	}
}

// plausible checks what no single value tells: that the parts of the records
// are of one run.
func (p *Part) plausible() error {
	tokens, spread := 0.0, 0.0
	for i := range p.samples {
		s := &p.samples[i]
		if s.ok() && (s.tokens.Completion < 1 || s.tokens.Completion > s.asked) {
			return fmt.Errorf("an answer of %s where %d %s asked for", plural.Of(s.tokens.Completion, "token"), s.asked, plural.Verb(s.asked, "was", "were"))
		}
		if s.end < s.sent {
			return fmt.Errorf("an answer that ended before its request was sent")
		}
		if s.ok() {
			tokens += float64(s.tokens.Completion)
		}
	}
	for i := range p.record.bins {
		b := &p.record.bins[i]
		if spread += b.tokens; b.good > b.tokens*(1+1e-9) {
			return fmt.Errorf("more good tokens than tokens")
		}
	}
	if math.Abs(spread-tokens) > 1e-6*tokens+1e-6 {
		return fmt.Errorf("%s over time where the answers had %.0f", plural.Of(spread, "token"), tokens)
	}
	if p.course.sent != uint64(len(p.samples)) {
		return fmt.Errorf("%s sent and %d recorded", plural.Of(p.course.sent, "request"), len(p.samples))
	}
	if p.ended.Before(p.started) || p.ended.Sub(p.started) > time.Duration(maxSpan) {
		return fmt.Errorf("a run of %v", p.ended.Sub(p.started))
	}
	return nil
}
