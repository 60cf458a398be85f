package observe

import (
	"fmt"
	"math"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// Thresholds of the rules. Those of running, waiting and held are from the
// tables of a real frontend with mocker workers: at a full batch the gauges
// read 0.93 to 0.98 of the cap, below it 1 request in 20 waits for its prefill,
// and running + waiting is within 8 % of the streams.
const (
	minScrapes   = 3    // fewer are no mean
	fullBatch    = 0.9  // of the cap
	queueShare   = 0.1  // waiting per running from which on there is a queue
	fullCache    = 0.95 // at its fullest
	mostlyFull   = 0.85 // on average
	freeCache    = 0.9
	heldShare    = 0.15 // of the streams, neither running nor waiting
	foreignShare = 0.15 // more in the engines than was sent
	risesFrom    = 0.2  // d ln X / d ln n: the knee is where it falls below
	clearlyRises = 0.3
	slower       = 1.25 // a ratio that is no noise
	stageGrowth  = 3.0
	stageFloorMS = 1.0
)

// seen is a level with what the rules ask of it.
type seen struct {
	Level
	below, above *Level // neighbours that can be compared; nil at the ends
	lowest       *Level // of those below
	workers      []Worker
	streams      float64 // in flight as the client saw it, or asked for
	running      float64
	waiting      float64 // in the engines
	pending      float64 // in the router's own queue
	cap          float64 // batch cap of one worker, 0 = not told
	remarks      []string
}

func look(levels []Level, i int) *seen {
	v := &seen{Level: levels[i]}
	for j := range levels {
		l := &levels[j]
		switch {
		case clientBound(&seen{Level: *l}).verdict != no || len(globalEvents(*l)) > 0 || l.Client.OutputTokPerSec <= 0:
		case l.Client.Streams < v.Client.Streams:
			v.below = l
			if v.lowest == nil {
				v.lowest = l
			}
		case l.Client.Streams > v.Client.Streams && v.above == nil:
			v.above = l
		}
	}
	v.streams = v.Client.InFlight
	if v.streams <= 0 {
		v.streams = float64(v.Client.Streams)
	}
	for _, w := range v.Span.Workers {
		if running, ok := w.Stats.told(Running); ok {
			v.workers = append(v.workers, w)
			v.running += running.Mean
			v.waiting += w.Stats[Waiting].Mean
		}
	}
	v.pending = v.Span.Frontend[RouterPending].Mean
	if s, ok := v.Span.Frontend[MaxNumSeqs]; ok {
		v.cap = s.Max
	}
	v.remarks = v.hardware()
	return v
}

// told is a metric that was scraped often enough for a mean.
func (s Stats) told(m Metric) (Stat, bool) {
	v, ok := s[m]
	return v, ok && v.N >= minScrapes
}

// inEngines is every request that the servers account for behind the frontend:
// the router's own queue is a part (with it, waiting moves out of the engines).
func (v *seen) inEngines() float64 { return v.running + v.waiting + v.pending }

// held is how many streams are neither running nor waiting.
func (v *seen) held() float64 { return v.streams - v.inEngines() }

func (v *seen) holds() bool { return v.held() >= max(2, heldShare*v.streams) }

// queues holds when more wait than a prefill's turn explains.
func (v *seen) queues() bool {
	return v.waiting+v.pending > max(1, 0.5*float64(len(v.workers)), queueShare*v.running)
}

// batchCap is the cap of one worker; 0 = not told.
func (v *seen) batchCap(w Worker) float64 {
	if own, ok := w.Stats[MaxNumSeqs]; ok {
		return own.Max
	}
	return v.cap
}

// atCap holds for a worker that runs what it may.
func (v *seen) atCap(w Worker) bool {
	limit := v.batchCap(w)
	return limit > 0 && w.Stats[Running].Mean >= fullBatch*limit
}

// atOwnCeiling holds for a worker that never runs more while others wait: where
// workers differ, the frontend tells the cap of one of them only.
func (w Worker) atOwnCeiling() bool {
	r := w.Stats[Running]
	return w.backsUp() && r.Mean >= fullBatch*r.Max
}

// backsUp holds for a worker with a queue.
func (w Worker) backsUp() bool {
	return w.Stats[Waiting].Mean >= max(1, queueShare*w.Stats[Running].Mean)
}

func (w Worker) load() float64 { return w.Stats[Running].Mean + w.Stats[Waiting].Mean }

// elasticity is d ln X / d ln n between two levels.
func elasticity(a, b *Level) float64 {
	return math.Log(b.Client.OutputTokPerSec/a.Client.OutputTokPerSec) /
		math.Log(float64(b.Client.Streams)/float64(a.Client.Streams))
}

// gain is the elasticity up to this level and beyond it.
func (v *seen) gain() (from, to float64, hasFrom, hasTo bool) {
	if v.Client.OutputTokPerSec <= 0 {
		return 0, 0, false, false
	}
	if v.below != nil {
		from, hasFrom = elasticity(v.below, &v.Level), true
	}
	if v.above != nil {
		to, hasTo = elasticity(&v.Level, v.above), true
	}
	return from, to, hasFrom, hasTo
}

// slope is the gain up to this level, or from it on where it is the lowest;
// known is false where there is no neighbour.
func (v *seen) slope() (slope float64, known bool) {
	from, to, hasFrom, hasTo := v.gain()
	if hasFrom {
		return from, true
	}
	return to, hasTo
}

// rises says whether throughput still rises as it does below a knee. Between
// that and a clear rise lies what noise makes of a knee, and neither is said.
func (v *seen) rises() (rising, known bool) {
	slope, known := v.slope()
	return known && slope >= risesFrom, known
}

// itlMS is the time per token as the client saw it, or the engines.
func itlMS(l *Level) float64 {
	if l.Client.ITLMeanMS > 0 {
		return l.Client.ITLMeanMS
	}
	total, n := 0.0, 0.0
	for _, w := range l.Span.Workers {
		total, n = total+w.Stats[EngineITLSum].Delta, n+w.Stats[EngineITLN].Delta
	}
	if n > 0 {
		return 1000 * total / n
	}
	return 0
}

func (v *seen) gainLine() string {
	from, to, hasFrom, hasTo := v.gain()
	switch {
	case hasFrom && hasTo:
		return fmt.Sprintf("throughput %.0f tok/s: %+.0f %% for %+.0f %% streams up to here, %+.0f %% for %+.0f %% beyond (elasticity %.2f, then %.2f)",
			v.Client.OutputTokPerSec, growth(v.below.Client.OutputTokPerSec, v.Client.OutputTokPerSec), growth(float64(v.below.Client.Streams), float64(v.Client.Streams)),
			growth(v.Client.OutputTokPerSec, v.above.Client.OutputTokPerSec), growth(float64(v.Client.Streams), float64(v.above.Client.Streams)), from, to)
	case hasFrom:
		return fmt.Sprintf("throughput %.0f tok/s: %+.0f %% for %+.0f %% streams up to here (elasticity %.2f)",
			v.Client.OutputTokPerSec, growth(v.below.Client.OutputTokPerSec, v.Client.OutputTokPerSec), growth(float64(v.below.Client.Streams), float64(v.Client.Streams)), from)
	case hasTo:
		return fmt.Sprintf("throughput %.0f tok/s: %+.0f %% for %+.0f %% streams beyond (elasticity %.2f)",
			v.Client.OutputTokPerSec, growth(v.Client.OutputTokPerSec, v.above.Client.OutputTokPerSec), growth(float64(v.Client.Streams), float64(v.above.Client.Streams)), to)
	}
	return fmt.Sprintf("throughput %.0f tok/s, with no other level to compare", v.Client.OutputTokPerSec)
}

func growth(from, to float64) float64 { return 100 * (to/from - 1) }

func (v *seen) placesLine() string {
	s := fmt.Sprintf("of %.1f streams %.1f run and %.1f wait on %s", v.streams, v.running, v.waiting, plural.Of(len(v.workers), "worker"))
	if v.pending > 0 {
		s += fmt.Sprintf(", %.1f wait in the router", v.pending)
	}
	return s
}

// summary is what is known of a level that no rule fits.
func (v *seen) summary() []string {
	lines := []string{"no rule fits", v.placesLine(), v.gainLine()}
	if v.cap > 0 {
		lines = append(lines, fmt.Sprintf("a worker runs %.0f at most", v.cap))
	}
	return lines
}
