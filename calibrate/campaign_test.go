package calibrate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/recipes"
	"github.com/perfsweep/perfsweep/sweep"
)

// deployment is a curve with known law under run-to-run noise, with a factor
// of its own.
type deployment struct {
	law    kneetest.Curve
	rng    *rand.Rand
	cv     float64
	factor float64
	stalls *kneetest.Stalls
}

// measure makes the runs of a plan, as the planner asks for them.
func (d *deployment) measure(t *testing.T, p sweep.Plan) sweep.Curve {
	t.Helper()
	c := sweep.Campaign{Curve: sweep.Curve{
		Fingerprint: sweep.Fingerprint{Target: "sim:law", Simulated: true, Model: testModel, GPUs: 1, Effort: p.Effort},
		Plan:        p,
	}}
	c.Measure = func(_ context.Context, s sweep.Step, _ uint64) (loadgen.Result, error) {
		r := d.law.Sweep(d.rng, []int{s.ConcurrencyPerGPU}, 1, d.cv, d.stalls)[0]
		started := time.Unix(int64(100*len(c.Curve.Runs)), 0)
		x := d.factor * r.TokPerSecPerGPU
		e := loadgen.Estimate{
			Seconds: 30, Requests: 5000, OutputTokens: 30 * x, OutputTokPerSec: x, RequestsPerSec: x / 128,
			TTFTP50MS: r.TTFTP50MS, TTFTP99MS: r.TTFTP99MS, ITLP50MS: r.ITLMS,
		}
		return loadgen.Result{
			Kind: s.Kind, Concurrency: s.ConcurrencyPerGPU, Started: started, Ended: started.Add(40 * time.Second), Window: e, WholeRun: e,
			Measured: loadgen.Outcomes{loadgen.OK: 5000}, All: loadgen.Outcomes{loadgen.OK: 5000},
			Series: series(x), SeriesSeconds: 1, OutputTokensPerRequest: 128, RequestedOutputTokens: 128,
			Health: loadgen.Health{LittleMeasured: true, CPUShare: 0.1},
		}, nil
	}
	if _, err := c.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return c.Curve
}

// series is half a minute of even throughput.
func series(x float64) []float64 {
	out := make([]float64, 30)
	for i := range out {
		out[i] = x * (1 + 0.01*float64(1-2*(i%2)))
	}
	return out
}

func confirmed(e sweep.Effort) sweep.Plan {
	p := sweep.DefaultPlan(e)
	p.Confirm = true
	return p
}

// Whole campaigns over laws that nobody tuned on: a healthy deployment is
// accepted (A17), its gate passes on another healthy one and fails at half
// speed; what is accepted lies below the edge.
func TestCampaignsEndInAGate(t *testing.T) {
	families := []kneetest.Family{kneetest.Smooth, kneetest.LinearCap, kneetest.BatchCap, kneetest.Collapse, kneetest.TwoStage, kneetest.SoftCap, kneetest.Sigmoid}
	accepted, all := 0, 0
	for _, family := range families {
		for seed := range uint64(campaignSeeds) {
			rng := rand.New(rand.NewPCG(seed, 18))
			d := &deployment{law: kneetest.New(family, rng), rng: rng, cv: 0.04, factor: math.Exp(0.03 * rng.NormFloat64())}
			p := Propose(d.measure(t, confirmed(sweep.Standard)), recipes.Gate{}, Policy{AllowSimulated: true})
			all++
			if !p.Writable {
				t.Logf("%s seed %d: %s: %s", family, seed, p.Outcome, p.Reasons[0])
				continue
			}
			accepted++
			if d.law.Past(float64(p.Gate.ConcurrencyPerGPU)) {
				t.Errorf("%s seed %d: %d per GPU lies past the edge", family, seed, p.Gate.ConcurrencyPerGPU)
			}
			check := sweep.DefaultPlan(sweep.Standard)
			check.Check, check.Point = true, p.Gate.ConcurrencyPerGPU
			for i, want := range []Verdict{Pass, Fail} {
				fresh := &deployment{law: d.law, rng: rng, cv: d.cv, factor: 1 - float64(i)/2}
				if r := Check(p.Gate, fresh.measure(t, check), 0, nil); r.Verdict != want {
					t.Errorf("%s seed %d at speed %v: %s %q", family, seed, fresh.factor, r.Verdict, r.Reasons)
				}
			}
		}
	}
	t.Logf("%d of %d healthy campaigns were accepted", accepted, all)
	if float64(accepted) < 0.9*float64(all)-1 {
		t.Errorf("%d of %d healthy campaigns were accepted, the target is 90 %%", accepted, all)
	}
}

// A curve without a knee ends in its status, whoever allows what.
func TestCampaignsWithoutAKnee(t *testing.T) {
	for family, want := range map[kneetest.Family][]Outcome{
		kneetest.Rising: {OutcomeNotSaturated}, kneetest.Flat: {OutcomeSaturatedAtMin},
	} {
		rng := rand.New(rand.NewPCG(3, 18))
		d := &deployment{law: kneetest.New(family, rng), rng: rng, cv: 0.02, factor: 1}
		if p := Propose(d.measure(t, confirmed(sweep.Quick)), recipes.Gate{}, Policy{AllowSimulated: true}); !slices.Contains(want, p.Outcome) || p.Writable {
			t.Errorf("%s: %s %q, want one of %s", family, p.Outcome, p.Reasons, want)
		}
	}
}

// With a third of the runs stalled, hardly anything is accepted, and what is
// accepted is not degraded (A10).
func TestStallingCampaigns(t *testing.T) {
	accepted := 0
	for seed := range uint64(3 * campaignSeeds) {
		rng := rand.New(rand.NewPCG(seed, 19))
		d := &deployment{law: kneetest.New(kneetest.BatchCap, rng), rng: rng, cv: 0.04, factor: 1, stalls: kneetest.NewStalls(rng, 1.0/3)}
		p := Propose(d.measure(t, confirmed(sweep.Standard)), recipes.Gate{}, Policy{AllowSimulated: true})
		if !p.Writable {
			continue
		}
		accepted++
		if truth := d.law.X(float64(p.Gate.ConcurrencyPerGPU)); p.TokPerSecPerGPU < 0.9*truth {
			t.Errorf("seed %d: accepted at %.0f of %.0f tok/s", seed, p.TokPerSecPerGPU, truth)
		}
	}
	t.Logf("%d of %d stalling campaigns were accepted", accepted, 3*campaignSeeds)
	if float64(accepted) > 0.1*float64(3*campaignSeeds)+1 {
		t.Errorf("%d of %d stalling campaigns were accepted", accepted, 3*campaignSeeds)
	}
}

// A13 on fresh deployments: how often one gate run fails healthy and slow ones.
func TestFloorsCatch(t *testing.T) {
	for _, c := range []struct {
		sw, sb                        float64
		portable30, portable40, reg30 float64 // least share caught
	}{
		{0.03, 0.03, 0.95, 0.99, 0.90}, // √(s_w² + s_b²) = .0424 ≤ .043
		{0.05, 0.03, 0.84, 0.99, 0.90},
	} {
		t.Run(fmt.Sprintf("%v/%v", c.sw, c.sb), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(13, uint64(1000*c.sw)))
			var alarm, p30, p40, r30 float64
			for range floorDraws {
				draw := func(n int) []float64 {
					b := c.sb * rng.NormFloat64()
					out := make([]float64, n)
					for i := range out {
						out[i] = math.Exp(b + c.sw*rng.NormFloat64())
					}
					return out
				}
				l, err := FloorLimits([][]float64{draw(8)})
				if err != nil {
					t.Fatal(err)
				}
				x := draw(1)[0]
				for _, h := range []struct {
					count *float64
					x, f  float64
				}{{&alarm, x, l.Portable}, {&p30, 0.7 * x, l.Portable}, {&p40, 0.6 * x, l.Portable}, {&r30, 0.7 * x, l.Regression}} {
					if h.x < 0.9*h.f {
						*h.count += 1.0 / floorDraws
					}
				}
			}
			t.Logf("portable: false alarm %.4f, −30 %% %.3f, −40 %% %.3f; regression: −30 %% %.3f", alarm, p30, p40, r30)
			// Three standard errors of a share near the limit.
			slack := 3 * math.Sqrt(0.1*0.9/floorDraws)
			if alarm > 0.001+slack/10 || p30 < c.portable30-slack || p40 < c.portable40-slack || r30 < c.reg30-slack {
				t.Errorf("outside of A13")
			}
		})
	}
}
