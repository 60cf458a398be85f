package kneetest

import (
	"math"
	"math/rand/v2"
)

// draw holds what every family draws first: tokens/s per stream as n → 0 and
// the scale of the knee.
type draw struct {
	rng  *rand.Rand
	a, k float64
}

func (d draw) uniform(lo, hi float64) float64 { return uniform(d.rng, lo, hi) }

// capped is f up to k, and then a power law of slope e.
func capped(f func(float64) float64, k, e float64) func(float64) float64 {
	return func(n float64) float64 { return f(min(n, k)) * math.Pow(max(n, k)/k, e) }
}

// hyper is a hyperbola whose half-saturation is a drawn multiple of the knee.
func (d draw) hyper(lo, hi float64) func(float64) float64 {
	return hyperbola(d.a, d.k*d.uniform(lo, hi))
}

// design draws the families that the estimator was designed with.
func (d draw) design(f Family) Curve {
	k := d.k
	switch f {
	case Smooth:
		return Curve{X: hyperbola(d.a, k/4)}
	case LinearCap:
		return Curve{X: func(n float64) float64 { return d.a * min(n, k) }, Edge: k}
	case BatchCap:
		return Curve{X: capped(d.hyper(0.6, 3), k, 0), Edge: k}
	case Collapse:
		return Curve{X: capped(d.hyper(0.6, 6), k, -d.uniform(1, 2.5)), Edge: k}
	case Rising:
		return Curve{X: hyperbola(d.a, 512*d.uniform(1, 6))}
	case Flat:
		s := d.uniform(-0.06, 0.04)
		return Curve{X: func(n float64) float64 { return 1e4 * math.Pow(n, s) }}
	case TwoStage:
		n1, e1, g := k/d.uniform(3, 6), d.uniform(0.35, 0.55), d.uniform(0, 0.5)
		stage := capped(func(n float64) float64 { return d.a * n }, n1, e1)
		return Curve{X: capped(stage, k, -g), Edge: k}
	case SoftCap:
		p := d.uniform(1.5, 5)
		c := k / math.Pow(4, 1/p)
		return Curve{X: func(n float64) float64 { return d.a * n / math.Pow(1+math.Pow(n/c, p), 1/p) }}
	case Exponential:
		tau := k / 2.6604 // u/(e^u−1) = 0.2
		return Curve{X: func(n float64) float64 { return -d.a * tau * math.Expm1(-n/tau) }}
	case USL:
		s, peak := d.uniform(0, 0.01), k*d.uniform(1.1, 2)
		kappa := (1 - s) / (peak * peak)
		return Curve{X: func(n float64) float64 { return d.a * n / (1 + s*(n-1) + kappa*n*(n-1)) }}
	case Sigmoid:
		return d.sigmoid()
	}
	return Curve{}
}

func (d draw) sigmoid() Curve {
	f := d.hyper(0.8, 4)
	least, sharp, mid := d.uniform(0.1, 0.35), d.uniform(4, 10), d.k*d.uniform(1.2, 1.6)
	c := Curve{X: func(n float64) float64 {
		return f(n) * (least + (1-least)/(1+math.Pow(n/mid, sharp)))
	}}
	c.Edge = c.Knee(0.2)
	return c
}

// heldOut draws the families written after the estimator was frozen.
func (d draw) heldOut(f Family) Curve {
	k := d.k
	switch f {
	case Network:
		return Curve{X: network(d.a, d.uniform(10, 120))}
	case Cliff:
		h, low := d.hyper(0.8, 5), d.uniform(0.3, 0.6)
		return Curve{X: func(n float64) float64 {
			if n > k {
				return low * h(k)
			}
			return h(n)
		}, Edge: k}
	case LateCollapse:
		h, late, g := d.hyper(0.8, 5), k*d.uniform(1.5, 3), d.uniform(1, 2.5)
		return Curve{X: func(n float64) float64 {
			return h(min(n, k)) * math.Pow(max(n, late)/late, -g)
		}, Edge: k}
	case Creep:
		e := d.uniform(0.05, 0.12)
		return Curve{X: capped(d.hyper(0.8, 5), k, e), Edge: k}
	case LogRise:
		c := logUniform(d.rng, 0.3, 2.5)
		return Curve{X: func(n float64) float64 { return 1e3 * math.Log1p(n/c) }}
	case Stairs:
		return d.stairs()
	case SecondWind:
		first := k / d.uniform(4, 8)
		second := math.Sqrt(first * k)
		low, high := d.uniform(0.25, 0.45), d.uniform(0.6, 0.9)
		stage := capped(func(n float64) float64 { return d.a * n }, first, low)
		return Curve{X: capped(capped(stage, second, high), k, 0), Edge: k}
	}
	return Curve{}
}

// network is the exact mean value analysis of a closed network of a delay of
// ratio service times and one queueing server, interpolated in log-log.
func network(a, ratio float64) func(float64) float64 {
	x := make([]float64, reach+2)
	queue := 0.0
	for n := 1; n < len(x); n++ {
		r := 1 + queue
		x[n] = float64(n) / (ratio + r)
		queue = x[n] * r
	}
	return func(n float64) float64 {
		n = min(max(n, 1), reach)
		i := int(n)
		part := math.Log(n/float64(i)) / math.Log(float64(i+1)/float64(i))
		return a * math.Exp(math.Log(x[i])+part*math.Log(x[i+1]/x[i]))
	}
}

// stairs has buckets a factor apart, nearly flat inside, up to a cap.
func (d draw) stairs() Curve {
	step, top, offset := math.Log(d.uniform(1.6, 4)), logUniform(d.rng, 48, 300), d.rng.Float64()
	return Curve{X: func(n float64) float64 {
		bucket := math.Exp(math.Floor(math.Log(n)/step+offset) * step)
		return 100 * min(bucket, top) * (1 + 0.02*math.Log(n))
	}}
}
