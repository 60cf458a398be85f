// Package kneetest draws throughput-against-concurrency curves whose knee is
// known, for tests of estimators and planners.
//
// The shapes are models of public behaviour, not measurements: smooth
// saturation, caps, collapses, two-stage and staircase curves, and curves
// without a knee. A run adds log-normal noise, a TTFT model with queueing past
// the edge, and optionally stalls.
package kneetest

import (
	"math"
	"math/rand/v2"
)

// Family names a shape.
type Family string

// The families. A–H were used while the estimator was designed; P–S are
// outside its model set; W–V and the rest were written after it was frozen.
const (
	Smooth       Family = "A"      // hyperbola
	LinearCap    Family = "B"      // linear, then a hard cap
	BatchCap     Family = "B2"     // hyperbola, then a hard cap
	Collapse     Family = "C"      // cap, then a power-law fall
	Rising       Family = "E"      // not saturated within 512
	Flat         Family = "F"      // saturated from the first level
	TwoStage     Family = "H"      // a frontend ceiling, then the engine's cap
	SoftCap      Family = "P"      // p-norm corner
	Exponential  Family = "X"      // exponential approach
	USL          Family = "U"      // universal scalability law, retrograde
	Sigmoid      Family = "S"      // hyperbola times a sigmoid collapse
	Network      Family = "W"      // delay and one queueing server, exact MVA
	Cliff        Family = "Z"      // cliff to 0.3–0.6 of the peak, then flat
	LateCollapse Family = "Y"      // cap, plateau, late collapse
	Creep        Family = "V"      // cap, then a creep of elasticity 0.05–0.12
	LogRise      Family = "log"    // X = A ln(1+n/c)
	Stairs       Family = "stairs" // batch-size buckets
	SecondWind   Family = "2nd"    // a stage of low slope, then a steeper one, then a cap
)

// Curve is one drawn curve.
type Curve struct {
	Family Family
	// X is the noise-free throughput per GPU.
	X func(n float64) float64
	// Edge is the last healthy concurrency for TTFT; 0 = none.
	Edge float64
}

// reach is how far the truth is searched: beyond every level a test measures.
const reach = 1 << 15

// Knee is the truth: the tilted argmax, argmax ln X − e·ln n, on n ≥ 1. A flat
// curve gives 1, a curve that is not saturated by n_max something above it.
func (c Curve) Knee(e float64) float64 {
	const steps = 8000
	tilt := func(x float64) float64 { return math.Log(c.X(math.Exp(x))) - e*x }
	width := math.Log(reach) / steps
	best, at := math.Inf(-1), 0.0
	for i := range steps + 1 {
		if t := tilt(width * float64(i)); t > best {
			best, at = t, width*float64(i)
		}
	}
	lo, hi := max(at-width, 0), at+width
	for range 200 { // ternary: the tilt has one peak within a cell
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if tilt(a) < tilt(b) {
			lo = a
		} else {
			hi = b
		}
	}
	return math.Exp((lo + hi) / 2)
}

// Past reports whether n lies beyond the curve's edge (within 2 %).
func (c Curve) Past(n float64) bool { return c.Edge > 0 && n > 1.02*c.Edge }

func uniform(rng *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

func logUniform(rng *rand.Rand, lo, hi float64) float64 {
	return math.Exp(uniform(rng, math.Log(lo), math.Log(hi)))
}

func hyperbola(a, h float64) func(float64) float64 {
	return func(n float64) float64 { return a * n * h / (n + h) }
}

// New draws the parameters of a curve. Knees of kneed families are log-uniform
// in 24..200 concurrent requests per GPU.
func New(f Family, rng *rand.Rand) Curve {
	d := draw{rng: rng, a: math.Pow(10, uniform(rng, 1.5, 2.3)), k: logUniform(rng, 24, 200)}
	c := d.design(f)
	if c.X == nil {
		c = d.heldOut(f)
	}
	if c.X == nil {
		c = d.mechanism(f)
	}
	if c.X == nil {
		panic("kneetest: unknown family " + string(f))
	}
	c.Family = f
	return c
}

// GB300 is the curve through the two public points of 4 GPUs: 21,197 tok/s per
// GPU at 128 per GPU and 5,192 at 256, with an edge between them.
func GB300(edge float64) Curve {
	const h = 250.0
	f := hyperbola(21197/(128*h/(128+h)), h)
	g := math.Log(f(edge)/5192) / math.Log(256/edge)
	return Curve{"GB300", func(n float64) float64 {
		return f(min(n, edge)) * math.Pow(max(n, edge)/edge, -g)
	}, edge}
}
