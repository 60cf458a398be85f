package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// spells is a two-state process in time: good and bad spells whose lengths are
// exponential, so that a run may fall into a bad one, or meet its end. A bad
// spell is of one kind throughout: throughput falls by 30 to 85 %, TTFT p99 grows
// 6- to 110-fold, as in kneetest.Stalls.
type spells struct {
	rng             *rand.Rand
	good, bad       time.Duration // means
	inBad           bool
	until           time.Time
	speed, tail     float64
	runs, met, pure int // runs made, those that met a bad spell, and those wholly in one
}

func newSpells(rng *rand.Rand, good, bad time.Duration) *spells {
	s := &spells{rng: rng, good: good, bad: bad, until: time.Unix(0, 0)}
	s.begin(rng.Float64() < float64(bad)/float64(good+bad))
	return s
}

func (s *spells) begin(bad bool) {
	s.inBad = bad
	mean := s.good
	if bad {
		mean = s.bad
		s.speed, s.tail = 0.15+0.55*s.rng.Float64(), 6+104*s.rng.Float64()
		if s.rng.Float64() < 0.5 {
			s.speed, s.tail = 0.68+0.01*s.rng.NormFloat64(), 6+4*s.rng.Float64()
		}
	}
	s.until = s.until.Add(time.Duration(float64(mean) * s.rng.ExpFloat64()))
}

// spoil lets a run be as it is in the spells that it falls into.
func (s *spells) spoil(r *loadgen.Result) {
	hit, left := 0, 0.0 // seconds in a bad spell, and what they left of the throughput
	tail := 1.0
	for i := range r.Series {
		for at := r.Started.Add(time.Duration(i) * time.Second); !s.until.After(at); {
			s.begin(!s.inBad)
		}
		if !s.inBad {
			left++
			continue
		}
		r.Series[i] *= s.speed
		hit, left, tail = hit+1, left+s.speed, max(tail, s.tail)
	}
	s.runs++
	if hit == 0 {
		return
	}
	s.met++
	all := float64(len(r.Series))
	if hit == len(r.Series) {
		s.pure++
	}
	for _, e := range []*loadgen.Estimate{&r.Window, &r.WholeRun} {
		e.OutputTokPerSec *= left / all
		e.OutputTokens *= left / all
		e.RequestsPerSec *= left / all
		e.TTFTP99MS *= tail
		if 2*hit > len(r.Series) {
			e.TTFTP50MS *= math.Sqrt(tail)
		}
	}
}

// spelled is what became of calibrations in up to three windows.
type spelled struct {
	accepted, degraded [3]kneetest.Share
	// mixed were accepted in one window though some of its runs met a bad spell,
	// and some did not.
	mixed kneetest.Share
}

func (s *spelled) add(t *testing.T, d *deployment, gap time.Duration) {
	t.Helper()
	var c sweep.Curve
	writable := true
	for w := range s.accepted {
		if s.accepted[w].All++; writable {
			if w == 0 {
				c = d.measure(t, confirmed(sweep.Standard))
			} else {
				d.later += gap
				c = d.again(t, c, "")
			}
			p := Propose(c, recipes.Gate{}, Policy{AllowSimulated: true})
			writable = p.Writable
			s.degraded[w].Of += btoi(writable && p.TokPerSecPerGPU < 0.9*d.factor*d.law.X(float64(p.Gate.ConcurrencyPerGPU)))
		}
		s.degraded[w].All++
		s.accepted[w].Of += btoi(writable)
		if w == 0 {
			count(&s.mixed, writable && d.spells.met > 0 && d.spells.pure < d.spells.runs)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A10 in time: an environment that is bad for a third or a tenth of the time, in
// spells of minutes to hours, over one to three windows of one deployment. What
// is accepted in one window of an hour can be no rarer than an hour without a
// bad spell; and a spell that outlasts all windows is a steady wrong environment,
// which only an anchor shows. What is claimed is that a campaign which saw both
// kinds of spells is not accepted.
func TestAcceptSpells(t *testing.T) {
	s, trials := newSuite(t), 2
	if s.Full {
		trials = 8 * len(laws())
	}
	const min = time.Minute
	for _, c := range []struct{ good, bad, gap time.Duration }{
		{10 * min, 5 * min, 31 * min}, {30 * min, 15 * min, 31 * min}, {60 * min, 30 * min, 31 * min}, {60 * min, 30 * min, 360 * min},
		{240 * min, 120 * min, 31 * min}, {240 * min, 120 * min, 360 * min}, {90 * min, 10 * min, 31 * min},
	} {
		seeds := kneetest.Each(s.Seeds, func(seed uint64) (out spelled) {
			for trial := range trials {
				d := draw(seed, trial, 0.04, 0.03)
				d.spells = newSpells(d.rng, c.good, c.bad)
				out.add(t, d, c.gap)
			}
			return out
		})
		what := fmt.Sprintf("bad spells of %.0f min, good ones of %.0f, windows %.0f min apart: ", c.bad.Minutes(), c.good.Minutes(), c.gap.Minutes())
		for w := range 3 {
			windows := fmt.Sprintf("%d windows: ", w+1)
			s.Judge(t, kneetest.Shares("A10", what+windows+"accepted", kneetest.Stated, 0, kneetest.Each(seeds, func(o spelled) kneetest.Share { return o.accepted[w] })))
			s.Judge(t, kneetest.Shares("A10", what+windows+"accepted and > 10 % degraded", kneetest.Stated, 0, kneetest.Each(seeds, func(o spelled) kneetest.Share { return o.degraded[w] })))
		}
		s.Judge(t, kneetest.Shares("A10", what+"accepted in one though it met both kinds", kneetest.Stated, 0, kneetest.Each(seeds, func(o spelled) kneetest.Share { return o.mixed })))
	}
}
