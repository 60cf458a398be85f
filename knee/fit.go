package knee

import (
	"math"

	"github.com/perfsweep/perfsweep/internal/exact"
)

// modelFloor is the relative error of any closed form; without it the most
// flexible family wins wherever the noise is below 1 %.
const modelFloor = 0.01

// tie is the least difference in a sum of squares that is not rounding. Along a
// ridge, where levels do not tell two parameters apart, the first candidate
// wins, whatever the scale of the input.
const tie = 1e-9

// pick is the best candidate of one family for one y.
type pick struct {
	rss  float64
	at   int // index into the family's candidates
	fall float64
	mid  float64
}

// dots are what y contributes to every candidate, reused between replicates.
type dots struct {
	drop, stages []float64
}

func (g *grid) newDots() *dots {
	return &dots{make([]float64, len(g.drop)), make([]float64, len(g.stages))}
}

// best fits every family to the level centres y and returns the winner by
// AICc, with the residual sum of squares of the levels. pure is the sum of
// squares within levels.
func (g *grid) best(y []float64, pure float64, d *dots) (family int, p pick) {
	picks := g.fitAll(y, d)
	winner, least := flat, math.Inf(1)
	for f := range families {
		if score, why := g.score(f, picks[f].rss, pure); why == "" && score < least {
			winner, least = f, score
		}
	}
	return winner, picks[winner]
}

// score is the AICc of a family by its residual sum of squares, or why the
// family is not in the running.
func (g *grid) score(family int, rss, pure float64) (aicc float64, why string) {
	n, free := g.sumW, freeParams(family)
	q := float64(free + 1)
	switch {
	case math.IsInf(rss, 1):
		return 0, "no candidate of it can be fitted to these levels"
	case free > g.maxParam:
		return 0, "more parameters than these levels and runs can carry"
	case n-q-1 <= 0:
		return 0, "too few runs for its AICc"
	}
	ss := max(rss, 0) + pure + float64(modelFloor*modelFloor*n)
	return float64(n*exact.Log(ss/n)) + 2*q + 2*q*(q+1)/(n-q-1), ""
}

func (g *grid) fitAll(y []float64, d *dots) (picks [families]pick) {
	for f := range picks {
		picks[f].rss = math.Inf(1)
	}
	var bar, yy float64
	for i, v := range y {
		bar += float64(g.w[i] * v)
	}
	bar /= g.sumW
	for i, v := range y {
		yy += float64(g.w[i] * (v - bar) * (v - bar))
	}
	yl := dot(g.line.v, y)
	picks[flat].rss = yy
	picks[lin].rss = yy - 2*yl + g.line.vv
	for i, c := range g.hyp {
		picks[hyp].take(pick{rss: yy - 2*dot(c.v, y) + c.vv, at: i})
	}
	g.fitCaps(y, yy, d, &picks)
	g.fitCorners(y, yy, yl, &picks)
	g.fitStages(y, yy, yl, d, &picks)
	return picks
}

func (p *pick) take(o pick) {
	if o.rss < p.rss-tie {
		*p = o
	}
}

func (g *grid) fitCaps(y []float64, yy float64, d *dots, picks *[families]pick) {
	for i, c := range g.drop {
		d.drop[i] = dot(c.v, y)
	}
	for i := range g.caps {
		c := &g.caps[i]
		cap, ret := hcap, hret
		if c.ih < 0 {
			cap, ret = lcap, lret
		}
		rss := yy - 2*dot(c.v, y) + c.vv
		picks[cap].take(pick{rss: rss, at: i})
		dd := g.drop[c.ik].vv
		along := d.drop[c.ik] - c.drop // the residual's dot with the drop
		fall := 0.0
		if dd > 1e-9 {
			fall = min(max(-along/dd, 0), maxFall)
		}
		picks[ret].take(pick{rss: rss + float64(2*fall*along) + float64(fall*fall*dd), at: i, fall: fall})
	}
}

func (g *grid) fitCorners(y []float64, yy, yl float64, picks *[families]pick) {
	base := yy - 2*yl + g.line.vv // y − ln n, which the corner bends down
	for i := range g.corners {
		c := &g.corners[i]
		along := dot(c.v, y) - c.line
		bend := 1.0
		if c.vv > 1e-9 {
			bend = min(max(-along/c.vv, 1), 1+maxSBFall)
		}
		picks[sb0].take(pick{rss: base + 2*along + c.vv, at: i})
		picks[sbr].take(pick{rss: base + float64(2*bend*along) + float64(bend*bend*c.vv), at: i, fall: bend - 1})
	}
}

func (g *grid) fitStages(y []float64, yy, yl float64, d *dots, picks *[families]pick) {
	for i, c := range g.stages {
		d.stages[i] = dot(c.v, y)
	}
	for i, p := range g.pairs {
		yf, yj := d.stages[p.i], d.stages[p.j]
		if rss, mid, fall, ok := p.solve(yy, yf, yj-yf, yl-yj); ok {
			picks[two].take(pick{rss: rss, at: i, mid: mid, fall: fall})
		}
	}
}

// model turns a pick into a model; lnA is left to level.
func (g *grid) model(family int, p pick) model {
	m := model{family: family, fall: p.fall}
	switch family {
	case hyp:
		m.lnH = g.h[p.at]
	case lcap, hcap, lret, hret:
		c := g.caps[p.at]
		m.lnK = g.k[c.ik]
		if c.ih >= 0 {
			m.lnH = g.h[c.ih]
		}
	case sb0, sbr:
		c := g.corners[p.at]
		m.lnC, m.q = g.lnC[c.ic], g.q[c.iq]
	case two:
		c := g.pairs[p.at]
		m.t1, m.t2, m.middle = g.t[c.i], g.t[c.j], p.mid
	}
	return m
}

// level sets lnA to its least-squares value for y.
func (g *grid) level(m *model, y []float64) {
	m.lnA = 0
	var sum float64
	for i, x := range g.x {
		sum += float64(g.w[i] * (y[i] - m.at(x)))
	}
	m.lnA = sum / g.sumW
}
