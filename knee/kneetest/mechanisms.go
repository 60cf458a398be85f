package kneetest

import (
	"math"
)

// The families of mechanism: each follows from what a part of a serving stack
// does, and nothing was tuned on any of them.
const (
	// ChunkedPrefill: prefill shares the steps with decoding, a budget of
	// tokens a step; as the budget fills up, requests wait for their prefill.
	ChunkedPrefill Family = "chunked prefill"
	// Preemption: past the KV capacity sequences are preempted and computed
	// again; what is wasted grows with the overload and levels off.
	Preemption Family = "KV preemption"
	// Tokenizer: one process tokenizes and streams for all; it queues near its
	// ceiling, and slows down with its queue.
	Tokenizer Family = "tokenizer"
	// PowerCap: above a power limit the clock follows the cube root of power.
	PowerCap Family = "power cap"
	// Padding: a batch is padded to the next captured size, so a step takes as
	// long as for the largest batch of its size class.
	Padding Family = "batch padding"
	// MixedPool: two kinds of workers behind a router that keeps their loads
	// equal; the kind with less KV memory is full first.
	MixedPool Family = "mixed pool"
	// Speculation: drafted tokens are free while the engine is bound by memory
	// and are paid for when it is not; acceptance falls with the batch.
	Speculation Family = "speculative decoding"
	// Hashing: a router sends each prompt to the worker of its prefix; the
	// popular worker is full first, and in a closed loop all wait for it.
	Hashing Family = "prefix hashing"
)

// Mechanisms lists these families.
func Mechanisms() []Family {
	return []Family{ChunkedPrefill, Preemption, Tokenizer, PowerCap, Padding, MixedPool, Speculation, Hashing}
}

// mechanism draws a family of mechanism, scaled so that its knee is at k.
func (d draw) mechanism(f Family) Curve {
	switch f {
	case ChunkedPrefill:
		return d.at(d.chunkedPrefill())
	case Preemption:
		return d.preemption()
	case Tokenizer:
		return d.at(d.tokenizer())
	case PowerCap:
		return d.powerCap()
	case Padding:
		return d.padding()
	case MixedPool:
		return d.mixedPool()
	case Speculation:
		return d.at(d.speculation())
	case Hashing:
		return d.at(d.hashing())
	}
	return Curve{}
}

// at stretches a law of any scale so that its knee comes to lie at k. The
// edge, given in the law's own scale, moves with it.
func (d draw) at(x func(n float64) float64, edge float64) Curve {
	table := tabulate(x)
	by := Curve{X: table}.Knee(0.2) / d.k
	return Curve{X: func(n float64) float64 { return d.a * table(n*by) }, Edge: edge / by}
}

// tabulate interpolates a law in log-log between 24 points an octave, because
// some laws are solved for at every point.
func tabulate(x func(n float64) float64) func(float64) float64 {
	const perOctave, octaves = 24, 21 // 1/16 to 2^17
	lnX := make([]float64, perOctave*octaves+1)
	for i := range lnX {
		lnX[i] = math.Log(x(math.Exp2(float64(i)/perOctave - 4)))
	}
	return func(n float64) float64 {
		at := min(max((math.Log2(n)+4)*perOctave, 0), perOctave*octaves-1)
		i := int(at)
		return math.Exp(lnX[i] + (at-float64(i))*(lnX[i+1]-lnX[i]))
	}
}

// solve finds where an increasing f reaches n between lo and hi.
func solve(f func(v float64) float64, n, lo, hi float64) float64 {
	for range 60 {
		mid := (lo + hi) / 2
		if f(mid) < n {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// chunkedPrefill: m sequences decode and need m·ISL/OSL prefill tokens a step
// of a budget; near the budget a prefill waits as in an M/D/1 queue.
func (d draw) chunkedPrefill() (x func(n float64) float64, edge float64) {
	const most = 256 // sequences that decode when the budget is full
	h, steps, outputs := most*d.uniform(0.5, 3), d.uniform(1, 8), d.uniform(128, 512)
	population := func(m float64) float64 {
		full := m / most
		return m * (1 + steps*(1+full/(2*(1-full)))/outputs)
	}
	engine := hyperbola(1, h)
	return func(n float64) float64 {
		return engine(solve(population, n, 0, most*(1-1e-9)))
	}, most
}

// preemption: past the capacity a share of up to waste of all work is done
// twice.
func (d draw) preemption() Curve {
	rise, waste, spread := d.hyper(0.6, 5), d.uniform(0.1, 0.45), d.uniform(0.1, 0.8)
	return Curve{X: func(n float64) float64 {
		over := max(n/d.k-1, 0)
		return rise(min(n, d.k)) * (1 - waste*(1-math.Exp(-over/spread)))
	}, Edge: d.k}
}

// tokenizer: a single server of ceiling c beside an engine, open-loop queueing
// at it, its service slower by drag for each request that waits.
func (d draw) tokenizer() (x func(n float64) float64, edge float64) {
	const h = 300
	engine, drag := hyperbola(1, h), d.uniform(0, 0.001)
	c := engine(h * d.uniform(0.3, 2))
	waiting := func(rate float64) float64 { return rate / c / (1 - rate/c) }
	population := func(m float64) float64 { return m + waiting(engine(m)) }
	top := solve(engine, c*(1-1e-9), 0, 100*h)
	return func(n float64) float64 {
		m := solve(population, n, 0, top)
		return engine(m) / (1 + drag*(n-m))
	}, top
}

// powerCap: power rises with utilization; at the cap the clock gives way.
func (d draw) powerCap() Curve {
	h := d.k * d.uniform(1, 4)
	idle, at := d.uniform(0.2, 0.4), d.k*d.uniform(0.3, 0.8)
	use := func(n float64) float64 { return idle + (1-idle)*n/(n+h) }
	rise, limit := hyperbola(d.a, h), use(at)
	c := Curve{X: func(n float64) float64 {
		return rise(min(n, d.k)) * math.Cbrt(min(limit/use(min(n, d.k)), 1))
	}}
	c.Edge = d.k
	return c
}

// padding: classes of equal ratio; within one a step takes as long as for its
// largest batch.
func (d draw) padding() Curve {
	ratio, offset, h := d.uniform(1.15, 2), d.rng.Float64(), d.k*d.uniform(0.3, 2)
	return Curve{X: func(n float64) float64 {
		m := min(n, d.k)
		class := math.Log(m)/math.Log(ratio) + offset
		padded := math.Exp((math.Ceil(class-1e-9) - offset) * math.Log(ratio))
		return d.a * m / (1 + min(padded, d.k)/h)
	}, Edge: d.k}
}

// mixedPool: a share of the workers holds fewer sequences and is faster or
// slower; each worker gets the same load.
func (d draw) mixedPool() Curve {
	share, small, speed := d.uniform(0.25, 0.75), d.k*d.uniform(0.3, 0.8), d.uniform(0.6, 1.5)
	big, little := capped(d.hyper(0.8, 4), d.k, 0), capped(d.hyper(0.8, 4), small, 0)
	c := Curve{X: func(n float64) float64 { return (1-share)*big(n) + share*speed*little(n) }}
	c.Edge = small // its requests wait from there on
	return c
}

// speculation: depth drafted tokens a step, of which fewer are accepted as the
// batch takes the drafting budget; past a batch size drafting is switched off.
func (d draw) speculation() (x func(n float64) float64, edge float64) {
	const h, most = 128, 256
	depth, gain, fade := d.uniform(2, 5), d.uniform(0.8, 2), d.uniform(16, 96)
	off := d.uniform(24, 160)
	plain := hyperbola(1, h)
	return func(n float64) float64 {
		m := min(n, most)
		accepted := gain / (1 + m/fade)
		drafted := m * (1 + accepted) / (1 + m*(1+depth/4)/h)
		if m > off {
			return max(plain(m), drafted)
		}
		return drafted
	}, most
}

// hashing: eight workers with shares of the requests between even and skewed;
// in a closed loop every worker has the throughput of its share.
func (d draw) hashing() (x func(n float64) float64, edge float64) {
	const workers, h, most = 8, 200, 160
	skew := d.uniform(0.1, 0.5)
	share, sum := make([]float64, workers), 0.0
	for i := range share {
		share[i] = math.Exp(skew * d.rng.NormFloat64())
		sum += share[i]
	}
	worst := 0.0
	for i := range share {
		share[i] /= sum / workers
		worst = max(worst, share[i])
	}
	engine := hyperbola(1, h)
	top := engine(most) / worst
	population := func(rate float64) float64 {
		all := 0.0
		for _, s := range share {
			r := rate * s
			all += r * h / (h - r)
		}
		return all / workers
	}
	full := population(top)
	return func(n float64) float64 {
		if n >= full {
			return top
		}
		return solve(population, n, 0, top)
	}, full
}
