package knee

// ridge keeps the two slopes of TWO apart where the levels cannot.
const ridge = 1e-9

// stagePair is one pair of corners of TWO: ln X = ln A + F + e1·M − γ·R with
// F = min(ln n, t1), M the way from t1 to t2 and R the way past t2. All dots
// between them are known before y is.
type stagePair struct {
	i, j       int
	ff         float64 // F·F
	fm, fr     float64 // F·M, F·R
	mm, mr, rr float64
}

// addStages pairs every second inner point of k, at least two apart.
func (g *grid) addStages(k []float64) {
	for i := 2; i < len(k)-1; i += 2 {
		g.t = append(g.t, k[i])
		t := k[i]
		g.stages = append(g.stages, g.column(func(x float64) float64 { return min(x, t) }))
	}
	g.stepT = 2 * spacing(k)
	n := len(g.t)
	cross := make([]float64, n*n)
	line := make([]float64, n)
	for i := range n {
		line[i] = g.cross(g.line, g.stages[i])
		for j := range n {
			cross[i*n+j] = g.cross(g.stages[i], g.stages[j])
		}
	}
	for i := range n {
		for j := i + 2; j < n; j++ {
			ii, ij, jj := cross[i*n+i], cross[i*n+j], cross[j*n+j]
			g.pairs = append(g.pairs, stagePair{
				i: i, j: j, ff: ii,
				fm: ij - ii, fr: line[i] - ij,
				mm: jj - 2*ij + ii,
				mr: (line[j] - jj) - (line[i] - ij),
				rr: g.line.vv - 2*line[j] + jj,
			})
		}
	}
}

// solve fits the two slopes to y, given y·y, y·F, y·M and y·R. ok is false
// where the slopes are not those of a two-stage curve.
func (p stagePair) solve(yy, yf, ym, yr float64) (rss, middle, fall float64, ok bool) {
	tt := yy - 2*yf + p.ff
	bm, br := ym-p.fm, -(yr - p.fr) // R enters with a minus sign
	mm, mr, rr := p.mm+ridge, -p.mr, p.rr+ridge
	det := float64(mm*rr) - float64(mr*mr)
	if !(det > 0) {
		return 0, 0, 0, false
	}
	middle = (float64(rr*bm) - float64(mr*br)) / det
	fall = (float64(mm*br) - float64(mr*bm)) / det
	if !(middle >= minMiddle && middle <= maxMiddle && fall >= 0) {
		return 0, 0, 0, false
	}
	rss = tt - 2*(float64(middle*bm)+float64(fall*br)) + float64(middle*middle*p.mm) + float64(2*middle*fall*mr) + float64(fall*fall*p.rr)
	return rss, middle, fall, true
}
