package knee

import "github.com/perfsweep/perfsweep/internal/exact"

// grid holds every candidate of every family on the measured levels. The
// families are linear in all but one or two parameters (Golub & Pereyra 1973,
// separable least squares), so a candidate is a vector and a fit is a dot
// product: nothing has to converge, and the bootstrap only pays for new dots.
type grid struct {
	x, w     []float64
	sumW     float64
	line     column // ln n: LIN, and what SB bends away from
	h        []float64
	hyp      []column
	k        []float64
	drop     []column // max(ln n − ln k, 0), one for each k
	caps     []cap2
	corners  []corner
	q        []float64
	lnC      []float64
	stages   []column // min(ln n, t), one for each corner of TWO
	t        []float64
	pairs    []stagePair
	stepK    float64 // spacings, within which a winner is refined
	stepH    float64
	stepC    float64
	stepT    float64
	maxParam int // most parameters that this many levels and runs can carry
}

// column is a vector over the levels, weighted and centred so that its dot
// with any y is the weighted covariance.
type column struct {
	v  []float64
	vv float64
}

// cap2 is a cap at k[ik] on a rise with h[ih]; ih < 0 is the linear rise.
type cap2 struct {
	column
	ih, ik int
	drop   float64 // its dot with the drop column of k
}

// corner is a smooth corner at lnC[ic] of sharpness q[iq].
type corner struct {
	column
	ic, iq int
	line   float64 // its dot with the line column
}

// logSteps returns n logarithms from lo to hi.
func logSteps(lo, hi float64, n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		if n > 1 {
			s[i] = lo + (hi-lo)*float64(i)/float64(n-1)
		} else {
			s[i] = lo
		}
	}
	return s
}

// octaveSteps counts the grid points at perOctave an octave over a ratio.
func octaveSteps(ratio, perOctave float64) int { return 1 + int(perOctave*exact.Log2(ratio)) }

func spacing(s []float64) float64 {
	if len(s) < 2 {
		return 0
	}
	return s[1] - s[0]
}

// minTwoStageLevels is the least number of levels on which TWO is tried.
const minTwoStageLevels = 8

func newGrid(levels []*level) *grid {
	g := &grid{}
	for _, l := range levels {
		g.x = append(g.x, exact.Log(float64(l.n)))
		g.w = append(g.w, l.kept())
		g.sumW += l.kept()
	}
	m := len(levels)
	lo, hi := float64(levels[0].n), float64(levels[m-1].n)
	g.maxParam = m - 1
	if g.sumW < 1.5*float64(m) {
		g.maxParam = m - 2
	}
	g.line = g.column(func(x float64) float64 { return x })

	g.h = logSteps(exact.Log(lo/2), exact.Log(8*hi), 28)
	g.stepH = spacing(g.h)
	for _, h := range g.h {
		g.hyp = append(g.hyp, g.column(func(x float64) float64 { return hyperbola(x, h) }))
	}
	k := logSteps(exact.Log(lo), exact.Log(hi), octaveSteps(hi/lo, 8))
	g.stepK = spacing(k)
	g.addCaps(k)

	g.lnC = logSteps(exact.Log(lo), exact.Log(2*hi), octaveSteps(2*hi/lo, 6))
	g.stepC = spacing(g.lnC)
	g.q = []float64{1, 1.4, 2, 2.8, 4, 6, 10}
	g.addCorners()
	if m >= minTwoStageLevels {
		g.addStages(k)
	}
	return g
}

// column centres f over the levels.
func (g *grid) column(f func(x float64) float64) column {
	v := make([]float64, len(g.x))
	var bar float64
	for i, x := range g.x {
		v[i] = f(x)
		bar += float64(g.w[i] * v[i])
	}
	bar /= g.sumW
	var vv float64
	for i := range v {
		d := v[i] - bar
		v[i] = g.w[i] * d
		vv += float64(v[i] * d)
	}
	return column{v, vv}
}

// cross is the weighted covariance of two columns.
func (g *grid) cross(a, b column) float64 {
	var s float64
	for i, v := range a.v {
		s += v * b.v[i] / g.w[i]
	}
	return s
}

func dot(a, b []float64) float64 {
	var s float64
	b = b[:len(a)]
	for i, v := range a {
		s += float64(v * b[i])
	}
	return s
}

// addCaps adds every rise with every inner k, the linear rises last, as
// LCAP/HCAP and LRET/HRET share them.
func (g *grid) addCaps(k []float64) {
	if len(k) < 3 {
		return
	}
	g.k = k[1 : len(k)-1]
	for _, lnK := range g.k {
		g.drop = append(g.drop, g.column(func(x float64) float64 { return max(x-lnK, 0) }))
	}
	for ih := -1; ih < len(g.h); ih++ {
		m := model{family: lcap}
		if ih >= 0 {
			m = model{family: hcap, lnH: g.h[ih]}
		}
		for ik, lnK := range g.k {
			m.lnK = lnK
			c := g.column(m.at)
			g.caps = append(g.caps, cap2{c, ih, ik, g.cross(c, g.drop[ik])})
		}
	}
}

func (g *grid) addCorners() {
	for iq, q := range g.q {
		for ic, lnC := range g.lnC {
			c := g.column(func(x float64) float64 { return softplus(q*(x-lnC)) / q })
			g.corners = append(g.corners, corner{c, ic, iq, g.cross(c, g.line)})
		}
	}
}
