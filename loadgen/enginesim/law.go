package enginesim

import "math"

// fallFloor keeps a collapsed engine answering: a run at four times the edge
// must end some day.
const fallFloor = 0.05

// Streams per GPU between which a knee counts as one: what a sweep looks at.
const (
	kneeMin = 1.0
	kneeMax = 1024.0
)

// Throughput is the noise-free law: output tokens/s per GPU at n streams per
// GPU, at any answer length. Speed, a sick worker, lost workers and the GPUs'
// share of the frontend are in it, because it is the truth about what is
// served; stalls and broken streams are outages and are not. It is exact but
// for round-robin with a sick worker, where it is the limit for many streams
// and comes within some 3 %.
func (p Params) Throughput(n float64) float64 {
	if !(n > 0) {
		return 0
	}
	total := 0.0
	each := n * float64(p.GPUs) / float64(p.live())
	switch {
	case p.Sick != 1 && p.Router == RoundRobin:
		total = float64(p.live()) * p.sickShare(each)
	default:
		total = p.workerTokPerSec(each) * (float64(p.live()) - 1 + p.Sick)
	}
	if p.FrontendTokPerSec > 0 {
		total = min(total, p.FrontendTokPerSec)
	}
	return total * p.Speed / float64(p.GPUs)
}

// Knee is argmax ln X(n) − e·ln n of Throughput, exact to 1e-6; ok is false
// when the maximum is at an end of 1 to 1024 streams per GPU, so that a sweep
// would see only a rise or only a plateau. Speed does not move it.
func (p Params) Knee(e float64) (n float64, ok bool) {
	const steps = 4000
	span := math.Log(kneeMax / kneeMin)
	at := func(i float64) float64 { return kneeMin * math.Exp(span*i/steps) }
	tilt := func(i float64) float64 { return math.Log(p.Throughput(at(i))) - e*math.Log(at(i)) }
	best := 0
	for i := 1; i <= steps; i++ {
		if tilt(float64(i)) > tilt(float64(best)) {
			best = i
		}
	}
	if best == 0 || best == steps {
		return 0, false
	}
	// One maximum lies between the neighbours of the best step, a corner or
	// not; golden section halves either.
	lo, hi := float64(best-1), float64(best+1)
	for hi-lo > 1e-9 {
		third := (hi - lo) * (math.Sqrt(5) - 1) / 2
		if tilt(hi-third) >= tilt(lo+third) {
			hi = lo + third
		} else {
			lo = hi - third
		}
	}
	return at((lo + hi) / 2), true
}

// live is the number of workers that serve.
func (p Params) live() int { return p.GPUs*p.WorkersPerGPU - p.Lost }

// workerCap is the number of streams that one worker runs at a time.
func (p Params) workerCap() int {
	limit := math.MaxInt32
	if p.Slots > 0 {
		limit = p.Slots / p.WorkersPerGPU
	}
	if p.KVTokens > 0 && !p.Preempts {
		limit = min(limit, p.KVTokens/p.KVTokensPerStream/p.WorkersPerGPU)
	}
	return limit
}

// workerTokPerSec is one healthy worker with m requests, waiting ones included.
// Less than one request a worker means that some are idle: proportional.
func (p Params) workerTokPerSec(m float64) float64 {
	if m < 1 {
		return m * p.workerTokPerSec(1)
	}
	m = min(m, float64(p.workerCap()))
	w := float64(p.WorkersPerGPU)
	return p.gpuTokPerSec(m*w) / w
}

// gpuTokPerSec is one GPU that runs n streams, before any cap.
func (p Params) gpuTokPerSec(n float64) float64 {
	rising := n
	if p.Edge > 0 {
		rising = min(rising, p.Edge)
	}
	bent := 1.0
	if p.Bend > 0 && rising > p.Bend {
		bent = math.Pow(rising/p.Bend, p.BendSlope)
		rising = p.Bend
	}
	x := bent * rising / (p.StepS + p.StepPerStreamS*rising)
	if p.Edge > 0 && n > p.Edge {
		x *= max(fallFloor, math.Pow(p.Edge/n, p.FallExponent))
	}
	return x
}

// sickShare is the throughput of every worker when round-robin gives each the
// same number of requests while one of them is slow: requests pile up there
// until f·X(sick) = X(healthy).
func (p Params) sickShare(each float64) float64 {
	healthy := float64(p.live() - 1)
	sick := bisect(each, each*float64(p.live()), func(m float64) bool {
		return m+healthy*p.inverse(p.Sick*p.workerTokPerSec(m), m) > each*float64(p.live())
	})
	return p.Sick * p.workerTokPerSec(sick)
}

// inverse is the number of requests up to most at which a healthy worker serves x.
func (p Params) inverse(x, most float64) float64 {
	return bisect(0, most, func(m float64) bool { return p.workerTokPerSec(m) >= x })
}

// bisect is the least value in [lo, hi] from which on reached holds.
func bisect(lo, hi float64, reached func(float64) bool) float64 {
	for range 60 {
		mid := (lo + hi) / 2
		if reached(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
