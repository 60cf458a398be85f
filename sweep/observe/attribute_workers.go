package observe

import (
	"slices"
	"strings"

	"github.com/perfsweep/perfsweep/internal/plural"
)

// Bounds of run gate V7 (knee.md §8), and what makes a ratio of small counts
// more than chance.
const (
	maxShare     = 1.25 // of completed requests, most over median
	maxLoad      = 2.0  // of requests in flight, most over median
	minLoadGap   = 4.0  // requests
	minCompleted = 30
	chanceSD     = 3.0 // standard deviations of a count
)

// gone holds when a worker left or began anew while the level ran.
func gone(v *seen) (o opinion) {
	for _, w := range v.Span.Workers {
		if w.Left {
			o.say("worker %s left during the run", w.called())
			o.workers = append(o.workers, w.ID)
		}
		if w.Restarted {
			o.say("worker %s restarted during the run", w.called())
			o.workers = append(o.workers, w.ID)
		}
	}
	if len(o.evidence) == 0 {
		return o
	}
	return o.decided()
}

// uneven holds when one worker is the limit: one is missing, it stood still
// while others went on, it queues while others have room, it is slower at the
// same load, or it gets more than its part. Where the streams are not in the
// engines no worker is the limit, and what they do differs by how a busy frontend
// hands requests out: shares are not compared then.
func uneven(v *seen) (o opinion) {
	checks := []func(*seen, *opinion){missing, silent, crowded, slow, overloaded}
	if v.holds() {
		checks = checks[:3]
	}
	for _, check := range checks {
		check(v, &o)
		if len(o.evidence) > 0 {
			slices.Sort(o.workers)
			o.workers = slices.Compact(o.workers)
			return o.decided()
		}
	}
	return o
}

// called is a worker's id with the page that is its own: the id is what a router
// knows, the address what an engineer can reach.
func (w Worker) called() string {
	if w.Page == "" {
		return w.ID
	}
	return w.ID + " (" + w.Page + ")"
}

func (v *seen) called(ids []string) []string {
	out := slices.Clone(ids)
	for i, id := range out {
		for _, w := range v.Span.Workers {
			if w.ID == id {
				out[i] = w.called()
			}
		}
	}
	return out
}

func missing(v *seen, o *opinion) {
	// One whose page is not watched would hold some of the streams.
	if n := v.Workers; n > len(v.workers) && !v.holds() {
		o.say("%d of %s %s all of the load: %s", len(v.workers), plural.Of(n, "worker"), plural.Verb(len(v.workers), "serves, and it holds", "serve, and they hold"), v.placesLine())
	}
}

func silent(v *seen, o *opinion) {
	for _, e := range v.Span.Events {
		if e.Kind == WorkerSilence {
			o.say("no token of worker %s for %.1f s from second %.1f on, while others went on", join(v.called(e.Workers)), e.LengthS, e.StartS)
			o.workers = append(o.workers, e.Workers...)
		}
	}
}

// crowded: the field's case was one worker at its cap of 1,022 with 151 waiting
// beside seven that ran 16 to 366 (NVIDIA/aicr, inference-perf-fluctuation).
func crowded(v *seen, o *opinion) {
	for _, w := range v.workers {
		if !w.backsUp() || w.Stats[Waiting].Mean < 2 {
			continue
		}
		for _, other := range v.workers {
			if other.ID != w.ID && v.hasRoom(other, w) {
				o.say("worker %s runs %.1f with %.1f waiting, while worker %s runs %.1f with %.1f waiting and has room",
					w.called(), w.Stats[Running].Mean, w.Stats[Waiting].Mean, other.called(), other.Stats[Running].Mean, other.Stats[Waiting].Mean)
				o.workers = append(o.workers, w.ID)
				break
			}
		}
	}
}

// hasRoom holds for a worker without a queue that runs clearly less than it
// may; where no cap is told, or one that it has passed, clearly less than what
// it was seen to run, or than the other runs.
func (v *seen) hasRoom(w, than Worker) bool {
	r := w.Stats[Running]
	if w.Stats[Waiting].Mean >= max(1, queueShare*r.Mean) {
		return false
	}
	limit := v.batchCap(w)
	if limit < r.Max {
		limit = max(r.Max, than.Stats[Running].Mean)
	}
	return r.Mean < fullBatch*limit
}

// slow: a worker makes fewer tokens than the others at no less load.
func slow(v *seen, o *opinion) {
	for i, w := range v.workers {
		others := slices.Concat(v.workers[:i:i], v.workers[i+1:])
		if len(others) == 0 {
			return
		}
		for _, m := range tokenMetrics() {
			own, ok := w.Stats[m]
			typical, all := medianOf(others, func(w Worker) (float64, bool) { s, ok := w.Stats[m]; return s.Delta, ok })
			if !ok || !all {
				continue
			}
			load, _ := medianOf(others, func(w Worker) (float64, bool) { return w.load(), true })
			if enough(w, others) && typical > slower*own.Delta && w.load() >= load/slower {
				o.say("worker %s made %s with %.1f requests on it, the others %.0f with %.1f (median)",
					w.called(), plural.Of(own.Delta, "token"), w.load(), typical, load)
				o.workers = append(o.workers, w.ID)
			}
			break
		}
	}
}

// enough holds when so many requests were done that lengths average out.
func enough(w Worker, others []Worker) bool {
	done := func(w Worker) (float64, bool) {
		for _, m := range []Metric{Requests, EngineTTFTN} {
			if s, ok := w.Stats[m]; ok {
				return s.Delta, true
			}
		}
		return 0, false
	}
	typical, all := medianOf(others, done)
	own, ok := done(w)
	return ok && all && typical >= minCompleted && own > 0
}

// overloaded is V7: shares of requests in flight, and of completed ones where
// throughput has stopped to rise.
func overloaded(v *seen, o *opinion) {
	if len(v.workers) < 2 {
		return
	}
	rising, known := v.rises()
	for i, w := range v.workers {
		others := slices.Concat(v.workers[:i:i], v.workers[i+1:])
		load, _ := medianOf(others, func(w Worker) (float64, bool) { return w.load(), true })
		if w.load() >= maxLoad*load && w.load() >= load+minLoadGap {
			o.say("worker %s holds %.1f requests, the others %.1f (median)", w.called(), w.load(), load)
			o.workers = append(o.workers, w.ID)
			continue
		}
		own, ok := w.Stats[Requests]
		typical, all := medianOf(others, func(w Worker) (float64, bool) { s, ok := w.Stats[Requests]; return s.Delta, ok })
		if ok && all && known && !rising && typical >= minCompleted && own.Delta >= maxShare*typical && beyondChance(own.Delta, typical) {
			o.say("worker %s did %s, the others %.0f (median)", w.called(), plural.Of(own.Delta, "request"), typical)
			o.workers = append(o.workers, w.ID)
		}
	}
}

// beyondChance compares two counts: their difference has the variance of both.
func beyondChance(a, b float64) bool { return (a-b)*(a-b) > chanceSD*chanceSD*(a+b) }

// medianOf is the median of what workers tell; all is false if one does not.
func medianOf(workers []Worker, value func(Worker) (float64, bool)) (m float64, all bool) {
	var vs []float64
	for _, w := range workers {
		v, ok := value(w)
		if !ok {
			return 0, false
		}
		vs = append(vs, v)
	}
	return median(vs), true
}

func join(names []string) string { return strings.Join(names, ", ") }
