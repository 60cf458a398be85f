package knee

import "math"

const (
	refineRounds = 4
	goldenSteps  = 24
	// refineGain is the least relative gain of a move: along a ridge, where
	// the data do not tell parameters apart, the grid's answer stays.
	refineGain = 1e-6
)

// axis is one nonlinear parameter with the neighbourhood it may move in.
type axis struct {
	value  *float64
	lo, hi float64
}

// refine moves the nonlinear parameters of the winner between the grid points
// around it (cyclic golden section), the linear ones following in closed form.
// It never looks further than one grid step, so it corrects the spacing of the
// grid and cannot change the answer.
func (g *grid) refine(m model, y []float64, pure float64) model {
	base := pure + modelFloor*modelFloor*g.sumW
	best := base + g.profile(&m, y)
	for range refineRounds {
		start := best
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
		if best > start*(1-refineGain) {
			break
		}
	}
	return m
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
	a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fa, fb := f(a), f(b)
	for range goldenSteps {
		if fa < fb {
			hi, b, fb = b, a, fa
			a = hi - ratio*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + ratio*(hi-lo)
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
	}
	g.level(m, y)
	var rss float64
	for i, x := range g.x {
		r := y[i] - m.at(x)
		rss += g.w[i] * r * r
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
