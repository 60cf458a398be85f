package observe

import (
	"math"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// cacheFull holds when the KV cache is full and costs something: requests are
// preempted, or wait although the batch has room.
func cacheFull(v *seen) (o opinion) {
	full, told, preempted := 0, 0, 0.0
	fullest, average := 0.0, 0.0
	for _, w := range v.workers {
		preempted += w.Stats[Preemptions].Delta
		if kv, ok := w.Stats.told(KVUsage); ok {
			told++
			fullest, average = max(fullest, kv.Max), max(average, kv.Mean)
			if kv.Max >= fullCache && kv.Mean >= mostlyFull {
				full++
			}
		}
	}
	if told == 0 || 2*full < told {
		return o
	}
	waits := v.queues() && v.fullBatches() == 0
	if preempted == 0 && !waits {
		return o
	}
	o.say("the KV cache is %.0f %% full (%.0f %% on average) on %d of %s", 100*fullest, 100*average, full, plural.Of(told, "worker"))
	if preempted > 0 {
		o.say("%s %s preempted", plural.Of(preempted, "request"), plural.Verb(preempted, "was", "were"))
	}
	o.say("%s", v.placesLine())
	if v.cap > 0 {
		o.say("a worker may run %.0f", v.cap)
	}
	o.say("%s", v.gainLine())
	v.stillRises(&o)
	return o.decided()
}

// fullBatches counts workers that run what they may.
func (v *seen) fullBatches() int {
	n := 0
	for _, w := range v.workers {
		if v.atCap(w) {
			n++
		}
	}
	return n
}

// stillRises speaks against any limit: more streams brought much more.
func (v *seen) stillRises(o *opinion) {
	if _, to, _, hasTo := v.gain(); hasTo && to >= clearlyRises {
		o.but("throughput still rises beyond this level (elasticity %.2f)", to)
	}
}

// batchFull holds when most workers run what they may and others wait, with
// room in the KV cache.
func batchFull(v *seen) (o opinion) {
	atCap, ceiling, roomy := 0, 0, true
	told := false
	for _, w := range v.workers {
		kv, ok := w.Stats.told(KVUsage)
		told = told || ok
		roomy = roomy && kv.Mean < freeCache
		switch {
		case v.atCap(w):
			atCap++
		case w.atOwnCeiling():
			ceiling++
		}
	}
	if !v.queues() || 2*(atCap+ceiling) <= len(v.workers) {
		return o
	}
	o.say("%s", v.placesLine())
	if atCap > 0 {
		o.say("%d of %s %s at least %.0f %% of %s cap of %.0f",
			atCap, plural.Of(len(v.workers), "worker"), plural.Verb(atCap, "runs", "run"), 100*fullBatch, plural.Verb(atCap, "its", "their"), v.cap)
	}
	if ceiling > 0 {
		o.say("%d of %s never %s while others wait", ceiling, plural.Of(len(v.workers), "worker"), plural.Verb(ceiling, "runs more than it does", "run more than they do"))
	}
	o.say("%s", v.gainLine())
	switch {
	case !roomy:
		o.but("the KV cache is nearly full, and nothing was preempted")
	case !told && atCap == 0:
		o.but("no page tells of the KV cache or of the batch cap, so either may hold them")
	case atCap == 0 && v.cap > 0:
		o.but("the frontend tells a cap of %.0f, which none of them reaches", v.cap)
	}
	if b := v.below; b != nil && look([]Level{*b}, 0).queues() {
		if was, is := itlMS(b), itlMS(&v.Level); was > 0 && is > slower*was {
			o.but("the time per token rose from %.1f to %.1f ms between two full batches", was, is)
		}
	}
	v.stillRises(&o)
	if v.holds() {
		o.say("%.1f streams are neither running nor waiting in the engines", v.held())
	}
	return o.decided()
}

// frontendFull holds when streams are neither running nor waiting and the
// frontend's own stages take longer than they did. Its time in the queue of the
// request plane and the busy ratio of its threads are not asked: neither moved
// at saturation on a real frontend.
func frontendFull(v *seen) (o opinion) {
	if !v.holds() {
		return o
	}
	o.say("%.1f of %.1f streams are neither running nor waiting in the engines (%.1f run, %.1f wait, %.1f wait in the router)",
		v.held(), v.streams, v.running, v.waiting, v.pending)
	grew, known := 0, false
	for _, s := range stages() {
		is, ok := s.mean(v.Span.Frontend)
		if !ok {
			continue
		}
		known = true
		switch was, ok := v.stageBelow(s); {
		case is < stageFloorMS:
		case ok && is >= stageGrowth*was:
			o.say("%s takes %.1f ms a request, %.2f ms at %s", s.what, is, was, plural.Of(v.lowest.Client.Streams, "stream"))
			grew++
		case !ok && is >= 0.1*v.Client.TTFTP50MS && v.Client.TTFTP50MS > 0:
			o.say("%s takes %.1f ms of the %.0f ms to a first token", s.what, is, v.Client.TTFTP50MS)
			grew++
		}
	}
	if stalls := v.Span.Frontend[LoopStalls].Delta; stalls > 0 && grew > 0 {
		o.say("the frontend's event loop stood still %s", plural.Of(stalls, "time"))
	}
	if queue, ok := v.Span.Frontend.told(LoopQueue); ok && queue.Mean >= 1 && grew > 0 {
		o.say("%s %s in the frontend's own queues", plural.Of(queue.Mean, "task"), plural.Verb(queue.Mean, "waits", "wait"))
	}
	if active, n := v.overGPUs(SMActive); n > 0 && active < idleSMs && grew > 0 {
		o.say("the SMs of %s were active for %.0f %% of the time", plural.Of(n, "GPU"), 100*active)
	}
	o.say("%s", v.gainLine())
	if grew == 0 {
		if known {
			o.but("no stage of the frontend takes longer than with few streams")
		} else {
			o.but("no page tells how long the frontend's stages take")
		}
	}
	if active, ok := v.Span.Frontend.told(Active); ok && active.Mean < (1-heldShare)*v.streams-2 {
		o.but("the frontend has %.1f of them in its hands: the others are between it and this tool", active.Mean)
	}
	// Where the streams are is where they wait (Little's law). A few of them always
	// wait for the step that an engine is in, the more the faster requests come.
	if n := v.waiting + v.pending; v.queues() && n > heldShare*v.held() {
		o.but("%.1f wait for an engine", n)
	}
	v.stillRises(&o)
	return o.decided()
}

// stage is a part of a request's way through the frontend.
type stage struct {
	what   string
	sum, n Metric
}

func stages() []stage {
	return []stage{
		{"preprocessing", PreprocessSum, PreprocessN},
		{"handing a request to a worker", SendSum, SendN},
	}
}

// mean is in milliseconds.
func (s stage) mean(of Stats) (float64, bool) {
	n := of[s.n].Delta
	if n <= 0 {
		return 0, false
	}
	return 1000 * of[s.sum].Delta / n, true
}

// stageBelow is a stage's time at the lowest comparable level.
func (v *seen) stageBelow(s stage) (float64, bool) {
	if v.lowest == nil {
		return 0, false
	}
	return s.mean(v.lowest.Span.Frontend)
}

// busy holds when the streams are in the engines, all run, and there is room
// for more of them.
func (v *seen) busy() bool {
	return !v.holds() && !v.queues() && 2*v.fullBatches() <= len(v.workers)
}

// computeFull holds when everything runs, tokens come the slower the more run,
// and more streams bring little.
func computeFull(v *seen) (o opinion) {
	rising, known := v.rises()
	if !v.busy() || !known || rising {
		return o
	}
	o.say("%s, and there is room for more", v.placesLine())
	o.say("%s", v.gainLine())
	from, to, hasFrom, hasTo := v.gain()
	if was := v.reference(); was != nil {
		a, b := itlMS(was), itlMS(&v.Level)
		switch more := float64(v.Client.Streams) / float64(was.Client.Streams); {
		case a <= 0 || b <= 0:
			o.but("the time per token is not known")
		case more > 1 && b < a*math.Sqrt(more), more < 1 && b > a*math.Sqrt(more):
			o.but("the time per token went from %.1f to %.1f ms for %.1f times the streams: it should rise with them", a, b, more)
		default:
			o.say("the time per token goes with the streams: %.1f ms at %d, %.1f ms at %d", a, was.Client.Streams, b, v.Client.Streams)
		}
	}
	v.engineRoom(&o)
	if hasFrom && from < -slightFall || hasTo && to < -slightFall {
		o.but("throughput falls with more streams, which busy engines alone do not explain")
	}
	if hasFrom && hasTo && to >= clearlyRises {
		o.but("throughput rises again beyond this level (elasticity %.2f)", to)
	}
	return o.decided()
}

// engineRoom is what GPUs and their hosts say of engines that are held to be busy.
func (v *seen) engineRoom(o *opinion) {
	if active, n := v.overGPUs(SMActive); n > 0 && active < idleSMs {
		o.but("the SMs of %s were active for %.0f %% of the time: the GPUs are not what is busy", plural.Of(n, "GPU"), 100*active)
	} else if n > 0 {
		o.say("the SMs of %s were active for %.0f %% of the time", plural.Of(n, "GPU"), 100*active)
	}
	if capped, n := v.overGPUs(PowerCap); n > 0 && capped >= cappedMost {
		o.say("the power limit held their clocks for %.0f %% of the time", 100*capped)
	}
	for _, line := range v.Span.Node.pressed("a server's node") {
		o.but("%s", line)
	}
}

// slightFall is how far throughput may fall between two levels by noise.
const slightFall = 0.1

// reference is the level whose time per token this one's is compared with: the
// next below, or above the lowest.
func (v *seen) reference() *Level {
	if v.below != nil {
		return v.below
	}
	return v.above
}

// roomLeft holds when nothing saturates: everything runs, and throughput rose
// clearly up to here.
func roomLeft(v *seen) (o opinion) {
	slope, known := v.slope()
	if v.holds() || v.queues() || !known || slope < clearlyRises {
		return o
	}
	o.say("%s", v.placesLine())
	o.say("%s", v.gainLine())
	return o.decided()
}
