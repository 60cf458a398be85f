package knee

import (
	"math"

	"github.com/perfsweep/perfsweep/internal/exact"
)

const (
	refineRounds = 4
	goldenSteps  = 24
	// refineGain is the least relative gain of a move: along a ridge, where
	// the data do not tell parameters apart, the grid's answer stays.
	refineGain = 1e-6
	// maxMove is the spacing of K on the grid, in octaves.
	maxMove = 1.0 / 8
)

// axis is one nonlinear parameter with the neighbourhood it may move in.
type axis struct {
	value  *float64
	lo, hi float64
}

// refine moves the nonlinear parameters of the winner between the grid points
// around it (cyclic golden section), the linear ones following in closed form.
// It corrects the spacing of the grid and must not change the answer, so the
// knee moves by at most maxMove.
func (g *grid) refine(m model, y []float64, pure, e float64) model {
	start := m
	base := pure + float64(modelFloor*modelFloor*g.sumW)
	best := base + g.profile(&m, y)
	for range refineRounds {
		before := best
		for _, a := range g.axes(&m) {
			was := *a.value
			*a.value = golden(a.lo, a.hi, func(v float64) float64 {
				*a.value = v
				return g.profile(&m, y)
			})
			if ss := base + g.profile(&m, y); ss < best*(1-refineGain) {
				best = ss
			} else {
				*a.value = was
				g.profile(&m, y)
			}
		}
		if best > before*(1-refineGain) {
			break
		}
	}
	return g.moveWithin(start, m, y, e)
}

// moveWithin goes from one model towards another until the knee has moved by
// maxMove, or all the way.
func (g *grid) moveWithin(from, to model, y []float64, e float64) model {
	at := func(part float64) (model, bool) {
		m := to
		for _, p := range []struct{ v, from *float64 }{
			{&m.lnH, &from.lnH}, {&m.lnK, &from.lnK}, {&m.lnC, &from.lnC}, {&m.q, &from.q}, {&m.t1, &from.t1}, {&m.t2, &from.t2},
		} {
			*p.v = *p.from + float64(part*(*p.v-*p.from))
		}
		g.profile(&m, y)
		k := m.knee(e)
		return m, k == from.knee(e) || math.Abs(exact.Log2(k/from.knee(e))) <= maxMove
	}
	if m, ok := at(1); ok {
		return m
	}
	lo, hi := 0.0, 1.0
	for range goldenSteps {
		mid := (lo + hi) / 2
		if _, ok := at(mid); ok {
			lo = mid
		} else {
			hi = mid
		}
	}
	m, _ := at(lo)
	return m
}

// centerRidge moves the last corner to the geometric middle of the grid points
// that fit equally well: a single level past it cannot tell a late steep fall
// from an early gentle one, and rounding must not.
func (g *grid) centerRidge(m *model, y []float64) {
	if corner, lo, hi := g.ridge(m, y); corner != nil {
		*corner = (lo + hi) / 2
		g.profile(m, y)
	}
}

// ridge returns the last corner of m and the range in which it fits equally
// well; nil where the family has no free fall.
func (g *grid) ridge(m *model, y []float64) (corner *float64, lo, hi float64) {
	corner, grid := g.lastCorner(m)
	if corner == nil {
		return nil, 0, 0
	}
	at := *corner
	lo, hi, least := at, at, g.profile(m, y)
	for _, v := range grid {
		*corner = v
		if g.profile(m, y) <= least+tie {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	*corner = at
	return corner, lo, hi
}

// lastCorner is the corner before a free fall, with its candidates.
func (g *grid) lastCorner(m *model) (corner *float64, grid []float64) {
	switch m.family {
	case lret, hret:
		return &m.lnK, g.k
	case two:
		first := m.t1 + float64(1.5*g.stepT)
		i := 0
		for i < len(g.t) && g.t[i] < first {
			i++
		}
		return &m.t2, g.t[i:]
	}
	return nil, nil
}

// axes lists the nonlinear parameters of m. Each call starts a neighbourhood
// from the point reached, but never beyond the grid.
func (g *grid) axes(m *model) []axis {
	around := func(v *float64, step, lo, hi float64) axis {
		return axis{v, max(*v-step, lo), min(*v+step, hi)}
	}
	first, last := g.x[0], g.x[len(g.x)-1]
	h := func() axis { return around(&m.lnH, g.stepH, g.h[0], g.h[len(g.h)-1]) }
	k := func() axis { return around(&m.lnK, g.stepK, first, last) }
	switch m.family {
	case hyp:
		return []axis{h()}
	case lcap, lret:
		return []axis{k()}
	case hcliff:
		return []axis{h()}
	case hcap, hret:
		return []axis{h(), k()}
	case sb0, sbr:
		q := axis{&m.q, g.q[0], g.q[len(g.q)-1]}
		for i, v := range g.q {
			if v < m.q {
				q.lo = v
			}
			if w := g.q[len(g.q)-1-i]; w > m.q {
				q.hi = w
			}
		}
		return []axis{around(&m.lnC, g.stepC, first, last+math.Ln2), q}
	case two:
		return []axis{
			around(&m.t1, g.stepT, first, m.t2-g.stepT),
			around(&m.t2, g.stepT, m.t1+g.stepT, last),
		}
	}
	return nil
}

// golden minimises f on [lo, hi].
func golden(lo, hi float64, f func(float64) float64) float64 {
	const ratio = 0.6180339887498949
	a, b := hi-float64(ratio*(hi-lo)), lo+float64(ratio*(hi-lo))
	fa, fb := f(a), f(b)
	for range goldenSteps {
		if fa < fb {
			hi, b, fb = b, a, fa
			a = hi - float64(ratio*(hi-lo))
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + float64(ratio*(hi-lo))
			fb = f(b)
		}
	}
	return (lo + hi) / 2
}

// profile sets the linear parameters of m to their least-squares values at its
// nonlinear ones and returns the residual sum of squares of the levels.
func (g *grid) profile(m *model, y []float64) float64 {
	m.lnA = 0
	switch m.family {
	case lret, hret:
		g.profileFall(m, y, 0, maxFall, func(x float64) float64 { return max(x-m.lnK, 0) })
	case sbr:
		g.profileFall(m, y, 0, maxSBFall, func(x float64) float64 { return softplus(m.q*(x-m.lnC)) / m.q })
	case two:
		if !g.profileStages(m, y) {
			return math.Inf(1)
		}
	case lcliff, hcliff:
		g.profileFall(m, y, 0, maxDepth, func(x float64) float64 { return past(x, m.lnK) })
	case bend:
		if !g.profileBend(m, y) {
			return math.Inf(1)
		}
	}
	g.level(m, y)
	var rss float64
	for i, x := range g.x {
		r := y[i] - m.at(x)
		rss += float64(g.w[i] * r * r)
	}
	return rss
}

// profileFall fits the slope of −extra, clipped to [lo, hi].
func (g *grid) profileFall(m *model, y []float64, lo, hi float64, extra func(float64) float64) {
	m.fall = 0
	base, e := g.column(m.at), g.column(extra)
	if e.vv <= 1e-9 {
		return
	}
	along := dot(e.v, y) - g.cross(base, e)
	m.fall = min(max(-along/e.vv, lo), hi)
}

func (g *grid) profileStages(m *model, y []float64) bool {
	m.middle, m.fall = 0, 0
	f := g.column(func(x float64) float64 { return min(x, m.t1) })
	mid := g.column(func(x float64) float64 { return min(max(x, m.t1), m.t2) - m.t1 })
	drop := g.column(func(x float64) float64 { return max(x-m.t2, 0) })
	p := stagePair{
		ff: f.vv, fm: g.cross(f, mid), fr: g.cross(f, drop),
		mm: mid.vv, mr: g.cross(mid, drop), rr: drop.vv,
	}
	_, middle, fall, ok := p.solve(0, dot(f.v, y), dot(mid.v, y), dot(drop.v, y))
	m.middle, m.fall = middle, fall
	return ok
}
