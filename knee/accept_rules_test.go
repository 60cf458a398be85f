package knee_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
)

// F6: healthy sweeps are not split, whatever their noise, and sweeps with
// stalls are found. The targets are the figures of knee.md §18.2; valleys count
// too. Cleaning alone is asked, so that a share of less than 1 % has the sweeps
// that it needs: on 1,000 the noise of the draw is half of what is left.
func TestAcceptGapRule(t *testing.T) {
	s := newSuite(t)
	// 14 levels × 2: the ladder of a refined sweep.
	ladder := kneetest.HalfOctave()[4:]
	count := func(cv, stalled float64) []score {
		return s.on(func(seed uint64) (o score) {
			rng := rand.New(rand.NewPCG(seed, 600+uint64(1000*cv)))
			for range 40 * s.trials {
				var stalls *kneetest.Stalls
				if stalled > 0 {
					stalls = kneetest.NewStalls(rng, stalled)
				}
				runs := kneetest.New(kneetest.BatchCap, rng).Sweep(rng, ladder, 2, cv, stalls)
				if stalls != nil && stalls.Count == 0 {
					continue
				}
				o.trials++
				if knee.Splits(runs) {
					o.found++
				}
			}
			return o
		})
	}
	flagged := func(o score) kneetest.Share { return kneetest.Share{Of: o.found, All: o.trials} }
	for _, c := range []struct{ cv, target float64 }{{0.03, 0.006}, {0.05, 0.009}, {0.08, 0.011}} {
		s.shares("F6", fmt.Sprintf("healthy 14 × 2 at %s: split", percent(c.cv)), atMost, c.target, count(c.cv, 0), flagged)
	}
	for _, cv := range []float64{0.03, 0.05} {
		s.shares("F6", fmt.Sprintf("⅓ stalled, 14 × 2 at %s: found", percent(cv)), atLeast, 0.97, count(cv, 1.0/3), flagged)
	}
}

// The ×3 step of §18.2 on half-octave ladders (§18.6), where a slope of 1.6
// alone is only ×1.9: what it does to each kind of shape, with and without.
func TestAcceptLatencyStep(t *testing.T) {
	s := newSuite(t)
	without := func(runs []knee.Run, opt knee.Options) knee.Fit { return knee.FindStep(runs, opt, 1) }
	trials := max(s.trials/2, 10)
	for _, c := range []struct {
		name     string
		families []kneetest.Family
		worst    float64 // loss that is accepted for what GB300 gains
	}{
		{"caps and collapses", []kneetest.Family{kneetest.LinearCap, kneetest.BatchCap, kneetest.Collapse, kneetest.Cliff}, 0.01},
		{"plateaus with rising TTFT", []kneetest.Family{kneetest.LateCollapse, kneetest.Creep}, 0.10},
	} {
		for _, cv := range []float64{0.03, 0.05} {
			var with, alone [][]score
			for _, f := range c.families {
				g := halfOctaves(cv)
				with = append(with, s.family(f, g, trials))
				g.find = without
				alone = append(alone, s.family(f, g, trials))
			}
			at := fmt.Sprintf("%s at %s, half octaves: ", c.name, percent(cv))
			a, b := pooled(with...), pooled(alone...)
			s.shares("×3", at+"±½ octave with the ×3 step", stated, 0, a, withinHalf)
			s.shares("×3", at+"±½ octave by slope alone", stated, 0, b, withinHalf)
			s.shares("×3", at+"operating point past the edge with it", atMost, 0.01, a, pastEdge)
			s.shares("×3", at+"operating point past the edge by slope alone", stated, 0, b, pastEdge)
			lost := make([]float64, len(a))
			total := 0.0
			for i := range a {
				lost[i] = max(0, float64(b[i].half-a[i].half)/float64(a[i].trials))
				total += float64(b[i].half-a[i].half) / float64(a[i].trials) / float64(len(a))
			}
			s.Judge(t, kneetest.Figures("×3", at+"share that it loses", atMost, c.worst, max(0, total), lost))
		}
	}
}

// What GB300 gains: jitter one level below its edge is no latency edge.
func TestAcceptLatencyStepOnGB300(t *testing.T) {
	s := newSuite(t)
	levels := []int{4, 8, 16, 32, 64, 96, 128, 192, 256}
	for name, step := range map[string]float64{"with the ×3 step": 3, "by slope alone": 1} {
		right := s.on(func(seed uint64) (o score) {
			rng := rand.New(rand.NewPCG(seed, 300))
			for range 2 * s.trials {
				c := kneetest.GB300(190 + 50*rng.Float64())
				runs := append(c.Sweep(rng, levels, 2, 0.05, nil), c.Sweep(rng, []int{128}, 3, 0.05, nil)...)
				o.trials++
				if operatingPoint(knee.FindStep(runs, onlyKnee, step)) == 128 {
					o.found++
				}
			}
			return o
		})
		found := func(o score) kneetest.Share { return kneetest.Share{Of: o.found, All: o.trials} }
		what := "GB300, edge 190 to 240 at 5 %, " + name + ": 128 per GPU"
		if step == 3 {
			s.shares("×3", what, atLeast, 0.95, right, found)
		} else {
			s.shares("×3", what, stated, 0, right, found)
		}
	}
}

// F7 and the staircase bias, which no rule that was tried removes: what is
// reached, and that the interval tells.
func TestAcceptKnownBiases(t *testing.T) {
	s := newSuite(t)
	for _, f := range []kneetest.Family{kneetest.SecondWind, kneetest.Stairs} {
		for _, cv := range []float64{0.03, 0.05} {
			got := s.family(f, halfOctaves(cv).intervals(), max(s.trials/2, 10))
			row := map[kneetest.Family]string{kneetest.SecondWind: "F7", kneetest.Stairs: "F8"}[f]
			at := fmt.Sprintf("%s, half octaves at %s: ", f, percent(cv))
			s.shares(row, at+"±½ octave", stated, 0, got, withinHalf)
			s.shares(row, at+"interval covers", atLeast, 0.85, got, covered)
			bias, n := 0.0, 0
			for _, o := range got {
				for _, v := range o.offs {
					bias += v
					n++
				}
			}
			s.Judge(t, kneetest.Figures(row, at+"size of the mean bias in octaves", stated, 0, math.Abs(bias/float64(max(n, 1))), nil))
		}
	}
}
