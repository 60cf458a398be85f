package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/perfsweep/perfsweep/knee/kneetest"
)

// design is how many runs each deployment of a calibration gave.
type design struct {
	name string
	runs []int
}

func designs() []design {
	return []design{{"1 × 8", []int{8}}, {"5 + 3", []int{5, 3}}, {"3 × 2", []int{2, 2, 2}}, {"3 × 3", []int{3, 3, 3}}}
}

// caught are the probabilities that one gate run of a new deployment fails,
// for what a floor of one calibration compares with. The chance over that run
// is exact, so that a probability of 1e-4 needs no million draws.
type caught struct{ alarm, slow20, slow30, slow40 float64 }

func (c *caught) add(floor, spread float64, draws int) {
	fails := func(speed float64) float64 {
		return phi((math.Log(0.9*floor)-math.Log(speed))/spread) / float64(draws)
	}
	c.alarm += fails(1)
	c.slow20 += fails(0.8)
	c.slow30 += fails(0.7)
	c.slow40 += fails(0.6)
}

// floorsOf calibrates draws times on deployments of spread s_w and s_b.
func floorsOf(t *testing.T, seed uint64, d design, sw, sb float64) (portable, regression caught) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, uint64(1000*sw)<<8|uint64(1000*sb)))
	spread := math.Hypot(sw, sb)
	for range floorDraws {
		var all [][]float64
		for _, n := range d.runs {
			b := sb * rng.NormFloat64()
			x := make([]float64, n)
			for i := range x {
				x[i] = 1000 * math.Exp(b+sw*rng.NormFloat64())
			}
			all = append(all, x)
		}
		l, err := FloorLimits(all)
		if err != nil {
			t.Fatal(err)
		}
		portable.add(l.Portable/1000, spread, floorDraws)
		regression.add(l.Regression/1000, spread, floorDraws)
	}
	return portable, regression
}

// A13 as §18.2 has it: a single gate run on a new deployment, s_w ≤ 5 %, s_b ≤
// 3 %, all designs. The worst design and spread is the one that is claimed.
func TestAcceptFloors(t *testing.T) {
	s := newSuite(t)
	type worst struct {
		value float64
		seeds []float64
		where string
	}
	var alarm, p30, p30Any, p40, regAlarm, r20, r20Pairs, r30 worst
	keep := func(w *worst, atMost bool, pooled float64, seeds []float64, where string) {
		if w.seeds == nil || atMost && pooled > w.value || !atMost && pooled < w.value {
			*w = worst{pooled, seeds, where}
		}
	}
	for _, d := range designs() {
		for _, v := range [][2]float64{{0.01, 0}, {0.03, 0}, {0.03, 0.03}, {0.04, 0.015}, {0.04, 0.03}, {0.05, 0.03}} {
			where := fmt.Sprintf("%s, %.0f/%.1f %%", d.name, 100*v[0], 100*v[1])
			var port, reg []caught
			for _, seed := range s.Seeds {
				p, r := floorsOf(t, seed, d, v[0], v[1])
				port, reg = append(port, p), append(reg, r)
			}
			figure := func(c []caught, of func(caught) float64) (mean float64, each []float64) {
				for _, x := range c {
					each = append(each, of(x))
					mean += of(x) / float64(len(c))
				}
				return mean, each
			}
			see := func(w *worst, atMost bool, c []caught, of func(caught) float64) {
				mean, each := figure(c, of)
				keep(w, atMost, mean, each, where)
			}
			see(&alarm, true, port, func(c caught) float64 { return c.alarm })
			see(&p30Any, false, port, func(c caught) float64 { return c.slow30 })
			see(&p40, false, port, func(c caught) float64 { return c.slow40 })
			see(&regAlarm, true, reg, func(c caught) float64 { return c.alarm })
			see(&r30, false, reg, func(c caught) float64 { return c.slow30 })
			if math.Hypot(v[0], v[1]) <= 0.043 {
				see(&p30, false, port, func(c caught) float64 { return c.slow30 })
				least := &r20
				if v[0] == 0.04 && d.name == "3 × 2" { // §18.2 names 3 × 2 at s_w = 4 % apart
					least = &r20Pairs
				}
				see(least, false, reg, func(c caught) float64 { return c.slow20 })
			}
		}
	}
	claim := func(what string, b kneetest.Bound, target float64, w worst) {
		t.Logf("%s: worst at %s", what, w.where)
		s.Judge(t, kneetest.Figures("A13", what+", worst of 4 designs and 6 spreads", b, target, w.value, w.seeds))
	}
	claim("portable floor: false alarm", kneetest.AtMost, 1e-4, alarm)
	claim("portable floor: −30 % caught, spread ≤ .043", kneetest.AtLeast, 0.95, p30)
	claim("portable floor: −30 % caught, any spread", kneetest.AtLeast, 0.84, p30Any)
	claim("portable floor: −40 % caught", kneetest.AtLeast, 0.99, p40)
	claim("regression floor: false alarm", kneetest.AtMost, 5e-3, regAlarm)
	claim("regression floor: −20 % caught, spread ≤ .043", kneetest.AtLeast, 0.85, r20)
	claim("regression floor: −20 % caught, 3 × 2 at s_w 4 %", kneetest.AtLeast, 0.74, r20Pairs)
	claim("regression floor: −30 % caught", kneetest.AtLeast, 0.90, r30)
}

// A14: the factors of the classic one-sided 95/95 tolerance limit.
func TestAcceptFactors(t *testing.T) {
	s := newSuite(t)
	off := 0.0
	for r, want := range map[float64]float64{3: 7.656, 5: 4.203, 10: 2.911, 20: 2.396} {
		off = max(off, math.Abs(kFactor(r-1, r)-want))
	}
	s.Judge(t, kneetest.Figures("A14", "k-factors 95/95 at 3, 5, 10 and 20 runs, largest distance", kneetest.AtMost, 1e-3, off, nil))
}
