package knee

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/perfsweep/perfsweep/internal/exact"
)

// resample is the stratified residual bootstrap: the 5 % and 95 % quantiles,
// over redrawn level centres, of what is reported. That is the knee of the
// model, selected again, unless no model may speak: then it is the tilted
// argmax, of whose noise the models' knees say nothing. It ignores model error
// and level spacing, which interval adds.
func resample(g *grid, j *judged, opt Options, status Status) (lo, hi float64) {
	rng := rand.New(rand.NewPCG(opt.Seed, 0x6b6e6565)) // "knee"
	s := assumedNoise
	if j.pool.df > 0 {
		s = math.Sqrt(max(j.pool.ss, 1e-8) / j.pool.df)
	}
	d, y := g.newDots(), make([]float64, len(j.y))
	knees := make([]float64, opt.Bootstrap)
	for b := range knees {
		for i, center := range j.y {
			se := centerSE
			if status == Ambiguous && g.w[i] <= 2 { // the median of two is their mean
				se = 1
			}
			y[i] = center + rng.NormFloat64()*se*s/math.Sqrt(g.w[i])
		}
		if status == Ambiguous {
			knees[b] = j.n(j.tiltedArgmax(y))
			continue
		}
		f, p := g.best(y, j.pool.ss, d)
		knees[b] = min(max(g.model(f, p).knee(j.e), j.n(0)), j.n(j.last()))
	}
	slices.Sort(knees)
	return quantile(knees, 0.05), quantile(knees, 0.95)
}

// tiltedArgmax is the index of the level at which y − e·ln n is largest.
func (j *judged) tiltedArgmax(y []float64) (top int) {
	best := math.Inf(-1)
	for i, v := range y {
		if tilt := v - float64(j.e*exact.Log(j.n(i))); tilt > best {
			top, best = i, tilt
		}
	}
	return top
}

// quantile interpolates linearly between sorted values.
func quantile(sorted []float64, p float64) float64 {
	at := float64(p * float64(len(sorted)-1))
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}

// interval is F1: the union of what spans gives.
func (j *judged) interval(lo, hi, knee float64, status Status) (low, high float64, parts []Span) {
	low, high = knee, knee
	parts = j.spans(lo, hi, knee, status)
	for _, p := range parts {
		low, high = min(low, p.Low), max(high, p.High)
	}
	return low, high, parts
}

// spans are the bootstrap, the knee with the levels around it, and, unless
// latency decided, the tilted argmax level and the one after it. Where the
// argmax stands in for a knee, that of a staircase is the jump below it, so the
// bootstrap then begins at the level before. A TTFT step
// that is too small to be an edge on its own still widens it: on half-octave
// ladders the ×3 rule misses edges in the upper half of a step, and without
// this the interval of a plateau with rising TTFT covered only 3 of 4 knees.
func (j *judged) spans(lo, hi, knee float64, status Status) []Span {
	around := Span{"the measured levels around the knee", min(lo, knee), max(hi, knee)}
	for _, l := range j.measure {
		if n := float64(l.n); n <= knee/1.03 {
			around.Low = n
		}
	}
	for _, l := range slices.Backward(j.measure) {
		if n := float64(l.n); n >= knee*1.03 {
			around.High = n
		}
	}
	redrawn := Span{"bootstrap, 5 % to 95 %", lo, hi}
	if status == Ambiguous {
		redrawn = Span{"bootstrap of the tilted argmax, 5 % to 95 %, from the level before", j.before(lo), hi}
	}
	parts := []Span{redrawn, around}
	if weak := float64(latencyEdge(j.fitted, 1)); weak > 0 && weak < knee {
		parts = append(parts, Span{"from a sustained TTFT step, however small", weak, knee})
	}
	if status != LatencyLimited {
		top := j.fitted[j.top].n
		parts = append(parts, Span{"the tilted argmax and the level after it", float64(top), float64(j.after(top))})
	}
	return parts
}
