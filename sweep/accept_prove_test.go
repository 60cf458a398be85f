package sweep

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/perfsweep/perfsweep/knee/kneetest"
)

// proveBins are N/knee up to these values, and above the last one.
var proveBins = []float64{0.5, 0.8, 1, 1.4, 2}

// proveReference are the rates at which O-4 accepts a point, by N/knee, at 3 and
// at 5 % noise, as knee.md §18.2 has them (exp8_op.md, 480 points a row).
func proveReference() map[kneetest.Family][2][]float64 {
	capped := []float64{1, 1, 0.78, 0.04, 0, 0}
	filled := []float64{1, 1, 0.79, 0.04, 0, 0}
	return map[kneetest.Family][2][]float64{
		kneetest.Smooth:    {{1, 1, 1, 0.88, 0.15, 0.02}, {1, 0.92, 0.88, 0.78, 0.22, 0.07}},
		kneetest.LinearCap: {capped, capped},
		kneetest.BatchCap:  {filled, filled},
		kneetest.Collapse:  {{1, 0.97, 0.21, 0, 0, 0}, {1, 0.95, 0.25, 0, 0, 0}},
		kneetest.TwoStage:  {{1, 1, 0.53, 0, 0, 0}, {1, 1, 0.55, 0, 0, 0}},
		kneetest.Sigmoid:   {{1, 0.97, 0.44, 0, 0, 0}, {1, 0.97, 0.56, 0, 0, 0}},
	}
}

// proved are the points that were accepted, by bin.
type proved [6]kneetest.Share

func (p *proved) add(b proved) {
	for i := range p {
		p[i].Of, p[i].All = p[i].Of+b[i].Of, p[i].All+b[i].All
	}
}

// provePoints tries to prove points of the ladder on curves of a family.
func provePoints(t *testing.T, f kneetest.Family, cv float64, seed uint64, trials int) (out proved) {
	t.Helper()
	levels := []int{8, 16, 24, 32, 48, 64, 96, 128, 192, 256}
	for i := range trials {
		rng := rand.New(rand.NewPCG(seed, uint64(8000+i)+uint64(1e6*cv)))
		w := newWorld(kneetest.New(f, rng), cv, seed<<16+uint64(i))
		p := DefaultPlan(Standard)
		p.Point = levels[rng.IntN(len(levels))]
		_, d := w.play(t, p)
		bin, _ := slices.BinarySearch(proveBins, float64(p.Point)/w.curve.Knee(p.EStar))
		out[bin].All++
		if d.Point.Healthy {
			out[bin].Of++
		}
	}
	return out
}

// TestAcceptProve: the rates of §18.2's table for O-4. What lies below the knee
// is accepted; of the curves that end in a cap or a collapse, next to nothing
// past it; a smooth curve has no edge to be past, and little is accepted beyond
// 1.4 times its knee.
func TestAcceptProve(t *testing.T) {
	s := newSuite(t)
	ended := make([]proved, len(s.Seeds))
	smooth, all := slices.Clone(ended), slices.Clone(ended)
	for i, cv := range []float64{0.03, 0.05} {
		for _, f := range []kneetest.Family{kneetest.Smooth, kneetest.LinearCap, kneetest.BatchCap, kneetest.Collapse, kneetest.TwoStage, kneetest.Sigmoid} {
			got := kneetest.Each(s.Seeds, func(seed uint64) proved { return provePoints(t, f, cv, seed, 6*s.trials) })
			for j, p := range got {
				all[j].add(p)
				if f == kneetest.Smooth {
					smooth[j].add(p)
				} else {
					ended[j].add(p)
				}
			}
			for bin, ref := range proveReference()[f][i] {
				s.proved(fmt.Sprintf("%s at %.0f %%, accepted at %s (reference %.2f)", f, 100*cv, binText(bin), ref), kneetest.Stated, 0, got, bin)
			}
		}
	}
	s.proved("pooled, accepted at "+binText(0), kneetest.AtLeast, 0.995, all, 0)
	s.proved("pooled, accepted at "+binText(1), kneetest.AtLeast, 0.92, all, 1)
	s.proved("B B2 C H S, accepted at "+binText(3), kneetest.AtMost, 0.04, ended, 3)
	s.proved("B B2 C H S, accepted at "+binText(4), kneetest.AtMost, 0.005, ended, 4)
	s.proved("B B2 C H S, accepted at "+binText(5), kneetest.AtMost, 0.005, ended, 5)
	s.proved("A, accepted at "+binText(4), kneetest.AtMost, 0.22, smooth, 4)
	s.proved("A, accepted at "+binText(5), kneetest.AtMost, 0.07, smooth, 5)
}

func (s suite) proved(what string, b kneetest.Bound, target float64, seeds []proved, bin int) {
	s.t.Helper()
	s.Judge(s.t, kneetest.Shares("O-4", what, b, target, kneetest.Each(seeds, func(p proved) kneetest.Share { return p[bin] })))
}

func binText(bin int) string {
	switch bin {
	case 0:
		return fmt.Sprintf("N ≤ %g × knee", proveBins[0])
	case len(proveBins):
		return fmt.Sprintf("N > %g × knee", proveBins[bin-1])
	}
	return fmt.Sprintf("N at %g to %g × knee", proveBins[bin-1], proveBins[bin])
}
