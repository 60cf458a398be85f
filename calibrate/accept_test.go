package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// knownMisses lists the targets that are known to be missed, with the figure and
// the reason. A row that gets worse than its figure fails.
func knownMisses() map[string]kneetest.Miss {
	return map[string]kneetest.Miss{}
}

// suite judges on every seed.
type suite struct {
	kneetest.Acceptance
	t *testing.T
}

func newSuite(t *testing.T) suite {
	t.Helper()
	return suite{kneetest.Begin(t, fullAcceptance, knownMisses()), t}
}

// count asks the same of every seed and counts the answers that are yes;
// trials that do not apply count for nothing.
func (s suite) count(trials int, yes func(seed uint64, trial int) (yes, applies bool)) []kneetest.Share {
	out := make([]kneetest.Share, len(s.Seeds))
	for i, seed := range s.Seeds {
		for trial := range trials {
			if ok, applies := yes(seed, trial); applies {
				out[i].All++
				if ok {
					out[i].Of++
				}
			}
		}
	}
	return out
}

// laws are the families that whole campaigns are tried on.
func laws() []kneetest.Family {
	return []kneetest.Family{kneetest.Smooth, kneetest.LinearCap, kneetest.BatchCap, kneetest.Collapse, kneetest.TwoStage, kneetest.SoftCap, kneetest.Sigmoid}
}

// draw is a deployment of trial's family with a factor of its own.
func draw(seed uint64, trial int, sw, sb float64) *deployment {
	rng := rand.New(rand.NewPCG(seed, uint64(18000+trial)))
	family := laws()[trial%len(laws())]
	return &deployment{law: kneetest.New(family, rng), rng: rng, cv: sw, factor: math.Exp(sb * rng.NormFloat64())}
}

// fresh is another deployment of the same law.
func (d *deployment) fresh(sb float64) *deployment {
	return &deployment{law: d.law, rng: d.rng, cv: d.cv, factor: math.Exp(sb * d.rng.NormFloat64())}
}

func (d *deployment) calibrate(t *testing.T) Proposal {
	t.Helper()
	p, _ := d.calibrated(t)
	return p
}

// calibrated is a calibration with the curve that later checks have as their baseline.
func (d *deployment) calibrated(t *testing.T) (Proposal, *sweep.Curve) {
	t.Helper()
	c := d.measure(t, confirmed(sweep.Standard))
	return Propose(c, recipes.Gate{}, Policy{AllowSimulated: true}), &c
}

func (d *deployment) check(t *testing.T, g recipes.Gate, base *sweep.Curve) CheckResult {
	t.Helper()
	p := sweep.DefaultPlan(sweep.Standard)
	p.Check, p.Point = true, g.ConcurrencyPerGPU
	p, _ = PlanPulse(p, g, base)
	return Check(g, d.measure(t, p), 0, base)
}

// lost is the law that a deployment with k of w workers gone follows: the
// survivors absorb the load.
func lost(c kneetest.Curve, w, k int) kneetest.Curve {
	left := float64(w-k) / float64(w)
	return kneetest.Curve{X: func(n float64) float64 { return left * c.X(n/left) }, Edge: left * c.Edge}
}

// A11 and A17: healthy environments are accepted, and what is written passes
// on another healthy deployment, fails at half speed and lies below the edge.
// C6, C7 and C11 are waived, as for every simulated target.
func TestAcceptHealthyCampaigns(t *testing.T) {
	s := newSuite(t)
	for _, c := range []struct {
		row    string
		sw, sb float64
	}{{"A11", 0.03, 0.03}, {"A17", 0.04, 0.03}} {
		trials := len(laws()) * acceptTrials
		inconclusive, passed, failed, past := newShares(s), newShares(s), newShares(s), newShares(s)
		accepted := make([]kneetest.Share, len(s.Seeds))
		for i, seed := range s.Seeds {
			for trial := range trials {
				d := draw(seed, trial, c.sw, c.sb)
				p := d.calibrate(t)
				count(&accepted[i], p.Writable)
				if !p.Writable {
					t.Logf("seed %d trial %d: %s: %s", seed, trial, p.Outcome, p.Reasons[0])
					continue
				}
				count(&past[i], d.law.Past(float64(p.Gate.ConcurrencyPerGPU)))
				healthy := d.fresh(c.sb).check(t, p.Gate, nil)
				count(&inconclusive[i], healthy.Verdict == Inconclusive)
				count(&passed[i], healthy.Verdict == Pass)
				slow := d.fresh(c.sb)
				slow.factor /= 2
				count(&failed[i], slow.check(t, p.Gate, nil).Verdict == Fail)
			}
		}
		at := fmt.Sprintf("healthy, s_w %.0f %%, s_b %.0f %%: ", 100*c.sw, 100*c.sb)
		s.Judge(t, kneetest.Shares(c.row, at+"calibrate accepts", kneetest.AtLeast, 0.90, accepted))
		s.Judge(t, kneetest.Shares(c.row, at+"check is inconclusive", kneetest.AtMost, 0.03, inconclusive))
		s.Judge(t, kneetest.Shares(c.row, at+"check passes", kneetest.Stated, 0, passed))
		s.Judge(t, kneetest.Shares(c.row, at+"check fails at half speed", kneetest.AtLeast, 0.99, failed))
		s.Judge(t, kneetest.Shares("A6", at+"written past the edge", kneetest.AtMost, 0.01, past))
	}
}

func newShares(s suite) []kneetest.Share { return make([]kneetest.Share, len(s.Seeds)) }

func count(s *kneetest.Share, yes bool) {
	s.All++
	if yes {
		s.Of++
	}
}

// A10: what is accepted is not degraded.
func TestAcceptSickCampaigns(t *testing.T) {
	s := newSuite(t)
	for _, c := range []struct {
		name  string
		share float64
	}{{"1/10", 0.1}, {"⅓", 1.0 / 3}, {"⅔", 2.0 / 3}} {
		accepted, degraded, seen := newShares(s), newShares(s), newShares(s)
		for i, seed := range s.Seeds {
			for trial := range len(laws()) * acceptTrials {
				d := draw(seed, trial, 0.04, 0.03)
				d.stalls = kneetest.NewStalls(d.rng, c.share)
				p := d.calibrate(t)
				count(&accepted[i], p.Writable)
				count(&seen[i], p.Writable && d.stalls.Count > 0)
				truth := d.factor * d.law.X(float64(p.Gate.ConcurrencyPerGPU))
				count(&degraded[i], p.Writable && p.TokPerSecPerGPU < 0.9*truth)
			}
		}
		s.Judge(t, kneetest.Shares("A10", c.name+" of the runs stalled: accepted", kneetest.Stated, 0, accepted))
		s.Judge(t, kneetest.Shares("A10", c.name+" of the runs stalled: accepted though a run stalled", kneetest.Stated, 0, seen))
		s.Judge(t, kneetest.Shares("A10", c.name+" of the runs stalled: accepted and > 10 % degraded", kneetest.AtMost, 0.01, degraded))
	}
}

// A10, steady wrong environments: nothing inside a campaign can see them, so a
// real target without an anchor is never written; a point past the knee is
// refused whatever is waived.
func TestAcceptSteadyWrongCampaigns(t *testing.T) {
	s := newSuite(t)
	trials := len(laws()) * max(acceptTrials/4, 1)
	for name, change := range map[string]func(*deployment){
		"−20 % throughout":          func(d *deployment) { d.factor *= 0.8 },
		"5 of 8 workers throughout": func(d *deployment) { d.law = lost(d.law, 8, 3) },
	} {
		written := s.count(trials, func(seed uint64, trial int) (bool, bool) {
			d := draw(seed, trial, 0.04, 0.03)
			d.real = true
			change(d)
			p := Propose(d.measure(t, confirmed(sweep.Standard)), recipes.Gate{}, Policy{})
			return p.Writable, true
		})
		s.Judge(t, kneetest.Shares("A10", name+", a real target without an anchor: written", kneetest.AtMost, 0.01, written))
	}
	past := s.count(trials, func(seed uint64, trial int) (bool, bool) {
		rng := rand.New(rand.NewPCG(seed, uint64(19000+trial)))
		d := &deployment{law: kneetest.GB300(130 + 110*rng.Float64()), rng: rng, cv: 0.04, factor: 1}
		p := confirmed(sweep.Standard)
		p.Point = 256
		return Propose(d.measure(t, p), recipes.Gate{}, Policy{AllowSimulated: true}).Writable, true
	})
	s.Judge(t, kneetest.Shares("A10", "GB300 at 256 per GPU, past its knee: accepted", kneetest.AtMost, 0.01, past))
}

// capacity counts what checks say of deployments with k of 8 workers lost.
type capacity struct {
	caught, gate, unsure []kneetest.Share
	// counted are those that V1 caught, where the server lists its workers.
	counted []kneetest.Share
	// predicted sums up what the fault-power report says of the same.
	predicted []float64
}

// add checks deployments of a calibration's law that lost k workers.
func (c *capacity) add(t *testing.T, seed, deployments, k int, d *deployment, p Proposal, base *sweep.Curve) {
	t.Helper()
	for range deployments {
		other := d.fresh(0.03)
		other.law = lost(d.law, 8, k)
		r := other.check(t, p.Gate, base)
		if r.Verdict != Inconclusive && r.Pulse.State != PulsePassed && r.Pulse.State != PulseFailed {
			t.Fatalf("no pulse: %+v", r.Pulse)
		}
		count(&c.caught[seed], r.Verdict == Fail)
		count(&c.gate[seed], r.Verdict == Fail && !r.Effective.Pass)
		count(&c.unsure[seed], r.Verdict == Inconclusive)
		for _, l := range r.Sensitivity {
			if l.Loss == fmt.Sprintf("%d of 8 workers lost", k) {
				c.predicted[seed] += l.CheckCaught
			}
		}
	}
	listing := d.fresh(0.03)
	listing.law, listing.listed = lost(d.law, 8, k), 8-k
	r := listing.check(t, p.Gate, base)
	v1 := strings.HasPrefix(r.Reasons[0], fmt.Sprintf("V1, in 3 of 3 runs: %d of 8 workers ready", 8-k))
	count(&c.counted[seed], v1 && r.Verdict == Inconclusive)
}

// A18 with worker counts, and without: the gate at the operating point and the
// capacity pulse, and the part that the gate alone would see.
func TestAcceptLostWorkers(t *testing.T) {
	s := newSuite(t)
	losses := []int{0, 1, 3}
	counts := map[int]*capacity{}
	for _, k := range losses {
		counts[k] = &capacity{newShares(s), newShares(s), newShares(s), newShares(s), make([]float64, len(s.Seeds))}
	}
	for i, seed := range s.Seeds {
		for trial := range len(laws()) * acceptTrials {
			d := draw(seed, trial, 0.03, 0.03)
			p, base := d.calibrated(t)
			if !p.Writable {
				continue
			}
			for _, k := range losses {
				deployments := 1
				if k == 0 && s.Full { // a share of 1 % needs more of them
					deployments = 4
				}
				counts[k].add(t, i, deployments, k, d, p, base)
			}
		}
	}
	for _, k := range losses {
		c, what := counts[k], fmt.Sprintf("%d of 8 workers lost, no worker counts: ", k)
		listed := fmt.Sprintf("%d of 8 workers lost, a server that lists its workers: check refuses by V1", k)
		switch k {
		case 0:
			s.Judge(t, kneetest.Shares("A18", listed, kneetest.AtMost, 0, c.counted))
		default:
			s.Judge(t, kneetest.Shares("A18", listed, kneetest.AtLeast, 1, c.counted))
		}
		switch k {
		case 0:
			s.Judge(t, kneetest.Shares("A18", what+"check fails", kneetest.AtMost, 0.01, c.caught))
		case 1: // in half of the deployments the survivors carry the load: nothing can see it
			s.Judge(t, kneetest.Shares("A18", what+"check fails", kneetest.Stated, 0, c.caught))
		case 3:
			s.Judge(t, kneetest.Shares("A18", what+"check fails", kneetest.AtLeast, 0.99, c.caught))
		}
		if k > 0 {
			mean := 0.0
			for i := range c.predicted {
				c.predicted[i] /= float64(max(c.caught[i].All, 1))
				mean += c.predicted[i] / float64(len(c.predicted))
			}
			if mean == 0 {
				t.Errorf("%d lost: nothing was predicted", k)
			}
			s.Judge(t, kneetest.Figures("A18", what+"check fails, as the fault-power report predicts it", kneetest.Stated, 0, mean, c.predicted))
		}
		s.Judge(t, kneetest.Shares("A18", what+"the gate at the operating point fails", kneetest.Stated, 0, c.gate))
		s.Judge(t, kneetest.Shares("A18", what+"check is inconclusive", kneetest.Stated, 0, c.unsure))
	}
}
