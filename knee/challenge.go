package knee

import "math"

const (
	// maxDepth bounds ln of the part that a cliff leaves.
	maxDepth = 6.0
	// minDepth is the least cliff that is one: 10 %, where a collapse begins.
	minDepth = 0.105
	// minRise is the number of levels on the rise that a cliff needs.
	minRise = 3
	// clearly is the least difference of AICc that is not rounding.
	clearly = 1e-6
)

// challenge is a model that asks for the place of the winner of the ten, which
// were compared on their grid of candidates: it says only where the knee is,
// never whether there is one.
type challenge struct {
	model
	rss  float64
	aicc float64
	// why says why the model was not asked, "" if it was.
	why string
}

// challengers fits the models outside of the ten.
//
// A cliff between two levels leaves the rise below it whole. The ten can only
// fall along a power law, and put the corner far below the last good level
// where the curve stands still after the cliff. All that is known of the corner
// is the step, so its middle is the answer.
//
// A curve that bends slowly over many octaves (X = ln(1+n)) has no corner at
// all. TWO then wins with two, and its knee is the last of them.
func (j *judged) challengers(g *grid) []challenge {
	out := []challenge{j.cliff(g, lcliff), j.cliff(g, hcliff), j.bend(g)}
	for i := range out {
		if c := &out[i]; c.why == "" {
			c.aicc, c.why = g.score(c.family, c.rss, j.pool.ss)
		}
	}
	return out
}

func (j *judged) bend(g *grid) challenge {
	c := challenge{model: model{family: bend}}
	c.rss = g.profile(&c.model, j.y)
	if k := c.knee(j.e); math.IsInf(c.rss, 1) || !(k > j.n(0) && k < j.n(j.last()) && j.agrees(k)) {
		c.why = "it does not bend around the tilted argmax"
	}
	return c
}

// cliff fits a rise that ends within the step after the tilted argmax.
func (j *judged) cliff(g *grid, family int) challenge {
	c := challenge{model: model{family: family}, rss: math.Inf(1), why: "asked only where a cap or a fall wins with a knee no higher than the tilted argmax"}
	falls := j.model.family >= lcap && j.model.family <= hret
	if !falls || j.top < minRise-1 || j.top == j.last() || !(j.knee <= j.n(j.top)*slack) {
		return c
	}
	heights := []float64{0}
	if family == hcliff {
		heights = g.h
	}
	for _, h := range heights {
		m := model{family: family, lnH: h, lnK: (g.x[j.top] + g.x[j.top+1]) / 2}
		if rss := g.profile(&m, j.y); rss < c.rss-tie {
			c.model, c.rss = m, rss
		}
	}
	c.model, c.why = g.refine(c.model, j.y, j.pool.ss, j.e), ""
	c.rss = g.profile(&c.model, j.y)
	if at := j.top; c.at(g.x[at])-c.at(g.x[at+1]) < minDepth { // a cap falls too, but only back to the top
		c.why = "there is no cliff after the tilted argmax"
	}
	return c
}

// closeCall is the difference of AICc within which the spacing of the grid may
// have decided between families.
const closeCall = 60.0

// challenge returns the challenger with the lowest AICc, nil where none is
// better than the refined winner of the ten. The others of the ten challenge too, once
// all are refined: a corner that the grid misses by half its spacing costs more
// than the noise of a quiet machine.
func (j *judged) challenge(g *grid, winner model) *challenge {
	least, _ := g.score(winner.family, g.profile(&winner, j.y), j.pool.ss)
	var better *challenge
	for _, c := range append(j.refined(g), j.challengers(g)...) {
		if c.why == "" && c.aicc < least-clearly {
			least, better = c.aicc, &c
		}
	}
	return better
}

// refined are the other families of the ten, each refined.
func (j *judged) refined(g *grid) []challenge {
	picks := g.fitAll(j.y, g.newDots())
	limit, _ := g.score(j.model.family, j.rss, j.pool.ss)
	var out []challenge
	for f := hyp; f < families; f++ {
		score, why := g.score(f, picks[f].rss, j.pool.ss)
		if f == j.model.family || why != "" || score > limit+closeCall {
			continue
		}
		m := g.model(f, picks[f])
		g.centerRidge(&m, j.y)
		c := challenge{model: g.refine(m, j.y, j.pool.ss, j.e)}
		c.rss = g.profile(&c.model, j.y)
		c.aicc, c.why = g.score(f, c.rss, j.pool.ss)
		if k := c.knee(j.e); c.why == "" && !(k >= j.n(0) && k <= j.n(j.last()) && j.agrees(k)) {
			c.why = "the levels contradict its knee"
		}
		out = append(out, c)
	}
	return out
}

// profileBend fits the slope and the curvature of a parabola; ok is false
// where it does not bend down.
func (g *grid) profileBend(m *model, y []float64) (ok bool) {
	m.middle, m.fall = 0, 0
	square := g.column(func(x float64) float64 { return x * x })
	cross := g.cross(g.line, square)
	ly, sy := dot(g.line.v, y), dot(square.v, y)
	det := float64(g.line.vv*square.vv) - float64(cross*cross)
	if !(det > 0) {
		return false
	}
	m.middle = (float64(square.vv*ly) - float64(cross*sy)) / det
	m.fall = -(float64(g.line.vv*sy) - float64(cross*ly)) / det
	return m.fall > 0
}
