package enginesim

import (
	"math"
	"slices"
)

// epochMin is the shortest life of a noise level. A level is drawn when a
// request finds the engine idle, that is, at the start of a run; streams that
// are locked in phase also leave it idle for an instant at each wave.
const epochMin = 2.0

// pace sets every worker's speed after a change of load.
func (e *engine) pace() {
	total := 0.0
	for _, w := range e.workers {
		w.rate = w.speed * e.workerLaw(len(w.running))
		total += w.rate
	}
	e.frontend = 1
	if e.p.FrontendTokPerSec > 0 && total > e.p.FrontendTokPerSec {
		e.frontend = e.p.FrontendTokPerSec / total
	}
	for _, w := range e.workers {
		if m := len(w.running); m > 0 {
			w.rate *= e.frontend * e.p.Speed * e.level / float64(m)
		}
	}
	e.overload = slices.ContainsFunc(e.workers, func(w *worker) bool { return len(w.running) > 0 && e.own(w) < 1 })
}

func (e *engine) workerLaw(m int) float64 {
	for len(e.law) <= m {
		e.law = append(e.law, e.p.workerTokPerSec(float64(len(e.law))))
	}
	return e.law[m]
}

// renew draws a new noise level, at most one each epochMin.
func (e *engine) renew() {
	if e.epoch > 0 && e.now-e.epochStart < epochMin {
		return
	}
	e.epoch++
	e.epochStart = e.now
	e.level = math.Exp(e.p.Noise * normal(e.p.Seed, forLevel, e.epoch))
}

// excess is the share of a stream's time that an edge or a frontend ceiling
// costs at this moment.
func (e *engine) excess(w *worker) float64 {
	left := e.frontend
	if e.pastEdge(w) {
		m, edge := len(w.running), e.p.Edge/float64(e.p.WorkersPerGPU)
		left *= e.workerLaw(m) / float64(m) * edge / e.p.workerTokPerSec(edge)
	}
	return 1 - left
}

func (e *engine) pastEdge(w *worker) bool {
	return e.p.Edge > 0 && float64(len(w.running)*e.p.WorkersPerGPU) > e.p.Edge
}
