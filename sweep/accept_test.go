package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

// misses lists the targets that are known to be missed, with the figure and
// the reason. A row that gets worse than its figure fails.
func misses() map[string]kneetest.Miss {
	return map[string]kneetest.Miss{
		"A8 adaptive at 5 %, flat caps (B, B2) stopped at their plateau": {Value: 0.51, Why: "of 1,200 sweeps; the reference, with the same rule, has 0.60 (B) and 0.65 (B2) on the seeds that it was tuned on " +
			"and 0.50 and 0.45 on fresh ones (exp8_fresh.md): single runs at 5 % noise seldom stay within 8 % of the best of them four times. It costs runs, never the knee"},
		"O-4 A, accepted at N at 1.4 to 2 × knee": {Value: 0.32, Why: "the rule itself: there a hyperbola gains 2^0.2 within the noise of medians of 5 and 2 runs in " +
			"0.28 (3 %) and 0.36 (5 %) of 150,000 draws; the reference is of about 40 points a cell, and the curve has no edge to be past"},
	}
}

// outcome counts what became of the adaptive sweeps of a family on one seed.
type outcome struct {
	sweeps, one, half, covered, knees int
	runs, most                        int
	past, collapsed, falseStop        int
	stopped, plateau, falsePlateau    int
	shallow, wide                     int
	points                            map[int]int
}

func (o outcome) share(n int) kneetest.Share { return kneetest.Share{Of: n, All: o.sweeps} }

func (o outcome) pool(b outcome) outcome {
	o.sweeps, o.one, o.half = o.sweeps+b.sweeps, o.one+b.one, o.half+b.half
	o.covered, o.knees = o.covered+b.covered, o.knees+b.knees
	o.runs, o.most = o.runs+b.runs, max(o.most, b.most)
	o.past, o.collapsed, o.falseStop = o.past+b.past, o.collapsed+b.collapsed, o.falseStop+b.falseStop
	o.stopped, o.plateau, o.falsePlateau = o.stopped+b.stopped, o.plateau+b.plateau, o.falsePlateau+b.falsePlateau
	o.shallow, o.wide = o.shallow+b.shallow, o.wide+b.wide
	return o
}

// sweeping is how a family is swept.
type sweeping struct {
	cv     float64
	stalls float64 // share of runs
	plan   Plan
	// curve makes the curve of a sweep.
	curve func(rng *rand.Rand) kneetest.Curve
}

func drawn(f kneetest.Family) func(*rand.Rand) kneetest.Curve {
	return func(rng *rand.Rand) kneetest.Curve { return kneetest.New(f, rng) }
}

// sweeps plays trials campaigns of a family on a seed.
func (c sweeping) sweeps(t *testing.T, seed uint64, trials int) outcome {
	t.Helper()
	o := outcome{points: map[int]int{}}
	for i := range trials {
		rng := rand.New(rand.NewPCG(seed, uint64(1000+i)))
		w := newWorld(c.curve(rng), c.cv, seed<<16+uint64(i))
		if c.stalls > 0 {
			w.stalls = kneetest.NewStalls(rng, c.stalls)
		}
		runs, d := w.play(t, c.plan)
		o.add(w.curve, c.plan, runs, d)
	}
	return o
}

// swept counts the runs that a sweep makes; a confirmation has its own budget.
func swept(runs []Run) (n int) {
	for _, r := range runs {
		if r.Step.Purpose != Confirm {
			n++
		}
	}
	return n
}

func (o *outcome) add(c kneetest.Curve, p Plan, runs []Run, d Decision) {
	o.sweeps++
	o.runs += swept(runs)
	o.most = max(o.most, swept(runs))
	o.points[d.Point.ConcurrencyPerGPU]++
	truth := c.Knee(p.EStar)
	if c.Edge > 0 {
		truth = min(truth, c.Edge)
	}
	fit := fitOf(p, runs)
	if fit.Knee > 0 {
		off := math.Abs(math.Log2(fit.Knee / truth))
		o.knees++
		if off <= 1 {
			o.one++
		}
		if off <= 0.5 {
			o.half++
		}
		if fit.KneeLow/1.03 <= truth && truth <= fit.KneeHigh*1.03 {
			o.covered++
		}
	}
	op := float64(d.Point.ConcurrencyPerGPU)
	if c.Past(op) {
		o.past++
		if c.X(op) < 0.85*c.X(c.Edge) {
			o.collapsed++
		}
	}
	s := stopOf(p, runs)
	if s.kind == stopEarly && (c.Edge > 0 && float64(s.n) <= c.Edge || c.Edge == 0 && float64(s.n) < 1.4*truth) {
		o.falseStop++
	}
	o.addSearch(s, truth, fit.Knee, runs)
}

// stopOf replays the ascending pass of a campaign.
func stopOf(p Plan, runs []Run) stop {
	s, _ := newTape(p, runs, func([]knee.Run, knee.Options) knee.Fit { return knee.Fit{} }).coarse()
	return s
}

// suite judges on every seed.
type suite struct {
	kneetest.Acceptance
	t      *testing.T
	trials int
}

func newSuite(t *testing.T) suite {
	t.Helper()
	return suite{kneetest.Begin(t, fullAcceptance, misses()), t, acceptTrials}
}

func (s suite) on(c sweeping, trials int) []outcome {
	s.t.Helper()
	return kneetest.Each(s.Seeds, func(seed uint64) outcome { return c.sweeps(s.t, seed, trials) })
}

func (s suite) shares(row, what string, b kneetest.Bound, target float64, seeds []outcome, of func(outcome) kneetest.Share) {
	s.t.Helper()
	s.Judge(s.t, kneetest.Shares(row, what, b, target, kneetest.Each(seeds, of)))
}

func pooled(families ...[]outcome) []outcome {
	out := make([]outcome, len(families[0]))
	for _, f := range families {
		for i, o := range f {
			out[i] = out[i].pool(o)
		}
	}
	return out
}

func withinOne(o outcome) kneetest.Share     { return o.share(o.one) }
func withinHalf(o outcome) kneetest.Share    { return o.share(o.half) }
func pastEdge(o outcome) kneetest.Share      { return o.share(o.past) }
func inCollapse(o outcome) kneetest.Share    { return o.share(o.collapsed) }
func falsePlateaus(o outcome) kneetest.Share { return o.share(o.falsePlateau) }
func falseStops(o outcome) kneetest.Share    { return o.share(o.falseStop) }
func covered(o outcome) kneetest.Share       { return kneetest.Share{Of: o.covered, All: o.knees} }

// runs claims the number of runs: on average, and the most of any sweep.
func (s suite) runs(row, who string, mean, most float64, seeds []outcome) {
	s.t.Helper()
	var all outcome
	var each, tops []float64
	for _, o := range seeds {
		all = all.pool(o)
		each, tops = append(each, float64(o.runs)/float64(o.sweeps)), append(tops, float64(o.most))
	}
	s.Judge(s.t, kneetest.Figures(row, who+", runs on average", kneetest.AtMost, mean, float64(all.runs)/float64(all.sweeps), each))
	s.Judge(s.t, kneetest.Figures(row, who+", most runs of a sweep", kneetest.AtMost, most, float64(all.most), tops))
}

// A6 to A8, and the accuracy that the sweep reaches, on the families of the
// design: the ladder is refined where the knee is, and the curve is confirmed.
func TestAcceptSearch(t *testing.T) {
	s := newSuite(t)
	edged := []kneetest.Family{kneetest.LinearCap, kneetest.BatchCap, kneetest.Collapse, kneetest.TwoStage, kneetest.Sigmoid}
	other := []kneetest.Family{kneetest.Smooth, kneetest.SoftCap}
	for _, cv := range []float64{0.03, 0.05} {
		var withEdge, all [][]outcome
		for i, f := range append(edged, other...) {
			got := s.on(sweeping{cv: cv, plan: DefaultPlan(Standard), curve: drawn(f)}, s.trials)
			all = append(all, got)
			if i < len(edged) {
				withEdge = append(withEdge, got)
			}
		}
		at := fmt.Sprintf("adaptive at %.0f %%", 100*cv)
		if cv == 0.03 {
			s.shares("A6", at+", operating point past the edge", kneetest.AtMost, 0.01, pooled(withEdge...), pastEdge)
			s.runs("A7", at, 20, 40, pooled(all...))
			s.shares("A7", at+", ±½ octave", kneetest.AtLeast, 0.90, pooled(all...), withinHalf)
			s.shares("A7", at+", ±1 octave", kneetest.AtLeast, 0.95, pooled(all...), withinOne)
		}
		s.shares("A8", at+", false early stops", kneetest.AtMost, 0.01, pooled(all...), falseStops)
		s.shares("A8", at+", false plateau stops", kneetest.AtMost, 0.01, pooled(all...), falsePlateaus)
		s.search(at, pooled(all...))
		flat := map[float64]float64{0.03: 0.72, 0.05: 0.60} // knee.md §18.2, the lower end
		s.shares("A8", at+", flat caps (B, B2) stopped at their plateau", kneetest.AtLeast, flat[cv], pooled(all[:2]...), plateaus)
	}
}

// A8 under stalls.
func TestAcceptStopsUnderStalls(t *testing.T) {
	s := newSuite(t)
	var all [][]outcome
	for _, f := range []kneetest.Family{kneetest.Smooth, kneetest.BatchCap, kneetest.Collapse} {
		all = append(all, s.on(sweeping{cv: 0.03, stalls: 1.0 / 3, plan: DefaultPlan(Standard), curve: drawn(f)}, s.trials))
	}
	s.shares("A8", "⅓ of the runs stalled, false early stops", kneetest.AtMost, 0.05, pooled(all...), falseStops)
}

// A4, the adaptive half: families written after the estimator was frozen.
func TestAcceptHeldOutFamilies(t *testing.T) {
	s := newSuite(t)
	var all [][]outcome
	for _, f := range []kneetest.Family{kneetest.Network, kneetest.Cliff, kneetest.LateCollapse, kneetest.Creep} {
		got := s.on(sweeping{cv: 0.03, plan: DefaultPlan(Standard), curve: drawn(f)}, s.trials)
		s.shares("A4", fmt.Sprintf("%s, adaptive, ±1 octave at 3 %%", f), kneetest.AtLeast, 0.90, got, withinOne)
		s.shares("A4", fmt.Sprintf("%s, adaptive, ±½ octave at 3 %%", f), kneetest.AtLeast, 0.75, got, withinHalf)
		all = append(all, got)
	}
	s.runs("A7", "W Z Y V, adaptive", 20, 40, pooled(all...))
	s.shares("A8", "W Z Y V, adaptive, false early stops", kneetest.AtMost, 0.01, pooled(all...), falseStops)
	s.shares("A8", "W Z Y V, adaptive, false plateau stops", kneetest.AtMost, 0.01, pooled(all...), falsePlateaus)
	s.shares("A4", "W Z Y V, adaptive, operating point inside a collapse", kneetest.AtMost, 0, pooled(all...), inCollapse)
	s.shares("A4", "W Z Y V, adaptive, operating point past the edge", kneetest.Stated, 0, pooled(all...), pastEdge)
	for _, f := range []kneetest.Family{kneetest.LogRise, kneetest.Stairs} {
		s.shares("§16", fmt.Sprintf("%s, adaptive, ±½ octave at 3 %%", f), kneetest.Stated, 0, s.on(sweeping{cv: 0.03, plan: DefaultPlan(Standard), curve: drawn(f)}, s.trials), withinHalf)
	}
}

// The families of mechanism, adaptive: how good the tool is on what nobody
// tuned it on.
func TestAcceptMechanisms(t *testing.T) {
	s := newSuite(t)
	var all [][]outcome
	for _, f := range kneetest.Mechanisms() {
		got := s.on(sweeping{cv: 0.03, plan: DefaultPlan(Standard), curve: drawn(f)}, s.trials)
		s.shares("own", fmt.Sprintf("%s, adaptive, ±½ octave", f), kneetest.AtLeast, 0.70, got, withinHalf)
		all = append(all, got)
	}
	who := "mechanisms pooled, adaptive, "
	s.shares("own", who+"±1 octave", kneetest.AtLeast, 0.95, pooled(all...), withinOne)
	s.shares("own", who+"±½ octave", kneetest.AtLeast, 0.90, pooled(all...), withinHalf)
	s.shares("own", who+"interval covers", kneetest.AtLeast, 0.85, pooled(all...), covered)
	s.shares("own", who+"operating point past the edge", kneetest.AtMost, 0.01, pooled(all...), pastEdge)
	s.shares("own", who+"operating point inside a collapse", kneetest.AtMost, 0, pooled(all...), inCollapse)
	s.shares("own", who+"false early stops", kneetest.AtMost, 0.01, pooled(all...), falseStops)
	s.shares("own", who+"false plateau stops", kneetest.AtMost, 0.01, pooled(all...), falsePlateaus)
	s.runs("own", "mechanisms pooled, adaptive", 20, 40, pooled(all...))
	s.search("mechanisms, adaptive", pooled(all...))
}

// O-3: the curve through GB300's public points, with the whole confirmation.
func TestAcceptGB300(t *testing.T) {
	s := newSuite(t)
	p := DefaultPlan(Standard)
	p.Confirm = true
	for _, c := range []struct {
		edge   float64
		most   int
		share  float64
		points []int // that are right
	}{
		{130, 128, 0.97, []int{96}}, {150, 128, 0.97, []int{96}}, {170, 128, 0.97, []int{96, 128}}, {190, 128, 0.97, []int{96, 128}},
		{200, 128, 0.95, []int{128}}, {210, 128, 0.95, []int{128}}, {240, 128, 0.95, []int{128}},
	} {
		got := s.on(sweeping{cv: 0.03, plan: p, curve: func(*rand.Rand) kneetest.Curve { return kneetest.GB300(c.edge) }}, max(s.trials/2, 4))
		s.shares("O-3", fmt.Sprintf("GB300, adaptive and confirmed, edge %.0f: %v per GPU", c.edge, c.points), kneetest.AtLeast, c.share, got, func(o outcome) kneetest.Share {
			right := 0
			for _, n := range c.points {
				right += o.points[n]
			}
			return o.share(right)
		})
		for _, o := range got {
			for n := range o.points {
				if n > c.most {
					t.Errorf("edge %.0f: an operating point of %d", c.edge, n)
				}
			}
		}
	}
}

// E and F, adaptive: not_saturated has a lower bound, saturated_at_min a look
// below the lowest level.
func TestAcceptNoKnee(t *testing.T) {
	s := newSuite(t)
	for _, c := range []struct {
		family kneetest.Family
		point  int
	}{{kneetest.Rising, 384}, {kneetest.Flat, 0}} {
		got := s.on(sweeping{cv: 0.03, plan: DefaultPlan(Standard), curve: drawn(c.family)}, s.trials)
		s.shares("A5", fmt.Sprintf("%s, adaptive: operating point %d", c.family, c.point), kneetest.AtLeast, 0.98, got, func(o outcome) kneetest.Share {
			return o.share(o.points[c.point])
		})
	}
}

// Valid-looking stalls: what the planner accepts is hardly ever degraded (A10
// has the whole pipeline, in calibrate).
func TestAcceptStalledPoints(t *testing.T) {
	s := newSuite(t)
	p := DefaultPlan(Standard)
	p.Confirm = true
	refused, degraded := make([]kneetest.Share, len(s.Seeds)), make([]kneetest.Share, len(s.Seeds))
	for i, seed := range s.Seeds {
		for j := range s.trials {
			rng := rand.New(rand.NewPCG(seed, uint64(6000+j)))
			w := newWorld(kneetest.New(kneetest.BatchCap, rng), 0.03, seed<<16+uint64(j))
			w.stalls = kneetest.NewStalls(rng, 1.0/3)
			runs, d := w.play(t, p)
			refused[i].All++
			degraded[i].All++
			op := d.Point.ConcurrencyPerGPU
			switch {
			case !d.Point.Healthy:
				refused[i].Of++
			case gateMedian(runs, op) < 0.9*w.curve.X(float64(op)):
				degraded[i].Of++
			}
		}
	}
	s.Judge(t, kneetest.Shares("A10", "⅓ stalled, the planner alone: refused", kneetest.Stated, 0, refused))
	s.Judge(t, kneetest.Shares("A10", "⅓ stalled, the planner alone: accepted and > 10 % degraded", kneetest.AtMost, 0.01, degraded))
}

// gateMedian is what a floor is made of.
func gateMedian(runs []Run, n int) float64 {
	var x []float64
	for _, r := range runs {
		if r.Step.Purpose == Confirm && r.Step.Kind == loadgen.Gate && r.Step.ConcurrencyPerGPU == n && r.Valid() {
			x = append(x, r.Result.WholeRun.OutputTokPerSec)
		}
	}
	return Median(x)
}
