package calibrate

import (
	"context"
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
	spells *spells
	later  time.Duration // when its runs begin
	real   bool          // not simulated
	// listed, if not 0, is how many of its eight workers the frontend lists.
	listed int
}

// measure makes the runs of a plan, as the planner asks for them.
func (d *deployment) measure(t *testing.T, p sweep.Plan) sweep.Curve {
	t.Helper()
	return d.run(t, sweep.Campaign{Curve: sweep.Curve{
		Fingerprint: sweep.Fingerprint{Target: "sim:law", Simulated: !d.real, Model: testModel, GPUs: 1, Effort: p.Effort, Labels: map[string]string{"workers": "8"}},
		Plan:        p,
	}})
}

// again confirms the point of a campaign in its next window, on a deployment of
// the given name.
func (d *deployment) again(t *testing.T, c sweep.Curve, id string) sweep.Curve {
	t.Helper()
	c.Plan.Window = c.Windows() + 1
	return d.run(t, sweep.Campaign{Curve: c, Deployment: id})
}

func (d *deployment) run(t *testing.T, c sweep.Campaign) sweep.Curve {
	t.Helper()
	c.Measure = func(_ context.Context, s sweep.Step, _ uint64) (loadgen.Result, error) {
		r := d.law.Sweep(d.rng, []int{s.ConcurrencyPerGPU}, 1, d.cv, d.stalls)[0]
		started := time.Unix(0, 0).Add(d.later + time.Duration(len(c.Curve.Runs))*runEvery)
		x := d.factor * r.TokPerSecPerGPU
		e := loadgen.Estimate{
			Seconds: 30, Requests: 5000, OutputTokens: 30 * x, OutputTokPerSec: x, RequestsPerSec: x / 128,
			TTFTP50MS: r.TTFTP50MS, TTFTP99MS: r.TTFTP99MS, ITLP50MS: r.ITLMS,
		}
		out := loadgen.Result{
			Kind: s.Kind, Concurrency: s.ConcurrencyPerGPU, Started: started, Ended: started.Add(40 * time.Second), Window: e, WholeRun: e,
			Measured: loadgen.Outcomes{loadgen.OK: 5000}, All: loadgen.Outcomes{loadgen.OK: 5000},
			Series: d.series(x), SeriesSeconds: 1, OutputTokensPerRequest: 128, RequestedOutputTokens: 128,
			Health: loadgen.Health{LittleMeasured: true, CPUShare: 0.1},
		}
		if d.spells != nil {
			d.spells.spoil(&out)
		}
		return out, nil
	}
	if d.listed > 0 {
		c.Workers = &sweep.WorkerWatch{Expected: 8, From: "as the baseline", Read: d.workers}
	}
	if _, err := c.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return c.Curve
}

func (d *deployment) workers(context.Context) ([]uint64, error) {
	ids := make([]uint64, d.listed)
	for i := range ids {
		ids[i] = math.MaxUint64 - uint64(i)
	}
	return ids, nil
}

// runEvery is the time from one run to the next.
const runEvery = 100 * time.Second

// series is half a minute of steady throughput, a value a second.
func (d *deployment) series(x float64) []float64 {
	out := make([]float64, 30)
	for i := range out {
		out[i] = x * math.Exp(0.03*d.rng.NormFloat64())
	}
	return out
}

func confirmed(e sweep.Effort) sweep.Plan {
	p := sweep.DefaultPlan(e)
	p.Confirm = true
	return p
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
