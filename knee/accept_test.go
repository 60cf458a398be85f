package knee_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
)

// suite is the acceptance with its sizes: short ones on one seed always run,
// the tag accept runs long ones on the seeds that are given.
type suite struct {
	kneetest.Acceptance
	t      *testing.T
	trials int
}

func newSuite(t *testing.T) suite {
	t.Helper()
	s := suite{kneetest.Begin(t, fullAcceptance, misses()), t, acceptTrials}
	if testing.Short() {
		s.trials = min(s.trials, 10)
	}
	return s
}

// on asks the same of every seed.
func (s suite) on(f func(seed uint64) score) []score { return kneetest.Each(s.Seeds, f) }

// shares claims a share of the trials.
func (s suite) shares(row, what string, b kneetest.Bound, target float64, seeds []score, share func(score) kneetest.Share) {
	s.t.Helper()
	s.Judge(s.t, kneetest.Shares(row, what, b, target, kneetest.Each(seeds, share)))
}

// figures claims the median of a figure.
func (s suite) figures(row, what string, b kneetest.Bound, target float64, seeds []score, values func(score) []float64) {
	s.t.Helper()
	var all []float64
	var each []float64
	for _, o := range seeds {
		all, each = append(all, values(o)...), append(each, middle(values(o)))
	}
	s.Judge(s.t, kneetest.Figures(row, what, b, target, middle(all), each))
}

// score counts what became of the trials of one family on one seed.
type score struct {
	trials, one, half, covered, knees, past, found int
	offs, widths                                   []float64
	status                                         map[knee.Status]int
}

// truth is the tilted argmax, or where requests begin to wait if that comes
// first: a latency edge overrules throughput.
func truth(c kneetest.Curve) float64 {
	k := c.Knee(0.2)
	if c.Edge > 0 {
		k = min(k, c.Edge)
	}
	return k
}

func (s *score) add(c kneetest.Curve, fit knee.Fit) {
	if s.status == nil {
		s.status = map[knee.Status]int{}
	}
	s.trials++
	s.status[fit.Status]++
	if fit.Knee == 0 {
		return
	}
	truth := truth(c)
	off := math.Log2(fit.Knee / truth)
	s.knees++
	s.offs = append(s.offs, off)
	s.widths = append(s.widths, math.Log2(fit.KneeHigh/fit.KneeLow))
	if math.Abs(off) <= 1 {
		s.one++
	}
	if math.Abs(off) <= 0.5 {
		s.half++
	}
	if fit.KneeLow/1.03 <= truth && truth <= fit.KneeHigh*1.03 {
		s.covered++
	}
	if fit.HasKnee() {
		s.found++
		if c.Past(operatingPoint(fit)) {
			s.past++
		}
	}
}

func (s score) pool(o score) score {
	s.trials, s.one, s.half = s.trials+o.trials, s.one+o.one, s.half+o.half
	s.covered, s.knees, s.past, s.found = s.covered+o.covered, s.knees+o.knees, s.past+o.past, s.found+o.found
	s.offs, s.widths = slices.Concat(s.offs, o.offs), slices.Concat(s.widths, o.widths)
	s.status = maps.Clone(s.status)
	for status, n := range o.status {
		s.status[status] += n
	}
	return s
}

func withinOne(s score) kneetest.Share  { return kneetest.Share{Of: s.one, All: s.trials} }
func withinHalf(s score) kneetest.Share { return kneetest.Share{Of: s.half, All: s.trials} }
func covered(s score) kneetest.Share    { return kneetest.Share{Of: s.covered, All: s.knees} }
func pastEdge(s score) kneetest.Share   { return kneetest.Share{Of: s.past, All: s.trials} }
func widths(s score) []float64          { return s.widths }

func hasStatus(status knee.Status) func(score) kneetest.Share {
	return func(s score) kneetest.Share { return kneetest.Share{Of: s.status[status], All: s.trials} }
}

// errors are the distances from the truth in octaves.
func errors(s score) []float64 {
	out := make([]float64, len(s.offs))
	for i, v := range s.offs {
		out[i] = math.Abs(v)
	}
	return out
}

func middle(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// operatingPoint is O-1 without the measurements that O-2 asks for: the ladder
// floor of 0.8 × knee, not past the latency edge.
func operatingPoint(f knee.Fit) float64 {
	top := min(0.8*f.Knee, math.Sqrt2*f.KneeLow)
	if f.LatencyEdge > 0 {
		top = min(top, float64(f.LatencyEdge))
	}
	op := 1.0
	for n := 1.0; n <= 1024; n *= 2 {
		for _, v := range []float64{n, 1.5 * n} {
			if v <= top && v == math.Trunc(v) {
				op = max(op, v)
			}
		}
	}
	return op
}

// setting is how a family is measured.
type setting struct {
	levels  []int
	repeats int
	cv      float64
	opt     knee.Options
	find    func([]knee.Run, knee.Options) knee.Fit // nil means knee.Find
}

func octaves(cv float64) setting {
	return setting{levels: kneetest.Doubling(), repeats: 3, cv: cv, opt: onlyKnee}
}

func halfOctaves(cv float64) setting {
	return setting{levels: kneetest.HalfOctave(), repeats: 2, cv: cv, opt: onlyKnee}
}

// intervals asks for the interval too.
func (g setting) intervals() setting {
	g.opt = knee.Options{}
	if !fullAcceptance {
		g.opt.Bootstrap = 50
	}
	return g
}

// try fits trials curves of a family.
func (g setting) try(family kneetest.Family, seed uint64, trials int) score {
	rng := rand.New(rand.NewPCG(seed, uint64(len(g.levels)*1000+g.repeats*100)+uint64(g.cv*1e4)))
	find := g.find
	if find == nil {
		find = knee.Find
	}
	var s score
	for range trials {
		c := kneetest.New(family, rng)
		s.add(c, find(c.Sweep(rng, g.levels, g.repeats, g.cv, nil), g.opt))
	}
	return s
}

// family tries a family on every seed.
func (s suite) family(f kneetest.Family, g setting, trials int) []score {
	return s.on(func(seed uint64) score { return g.try(f, seed, trials) })
}

// pooled joins families seed by seed.
func pooled(families ...[]score) []score {
	out := slices.Clone(families[0])
	for _, f := range families[1:] {
		for i, s := range f {
			out[i] = out[i].pool(s)
		}
	}
	return out
}
