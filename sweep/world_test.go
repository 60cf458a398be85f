package sweep

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

// world answers steps from a curve whose law is known.
type world struct {
	curve  kneetest.Curve
	rng    *rand.Rand
	cv     float64
	stalls *kneetest.Stalls
	gpus   int
	// judge may fail a run, or change it.
	judge func(*Run)
}

func newWorld(c kneetest.Curve, cv float64, seed uint64) *world {
	return &world{curve: c, rng: rand.New(rand.NewPCG(seed, 77)), cv: cv, gpus: 1}
}

func (w *world) run(s Step, seq int) Run {
	p := w.curve.Sweep(w.rng, []int{s.ConcurrencyPerGPU}, 1, w.cv, w.stalls)[0]
	start := time.Unix(int64(seq)*100, 0)
	e := loadgen.Estimate{
		Seconds: 30, Requests: 5000, OutputTokens: 30 * p.TokPerSecPerGPU * float64(w.gpus),
		OutputTokPerSec: p.TokPerSecPerGPU * float64(w.gpus),
		TTFTP50MS:       min(p.TTFTP50MS, p.TTFTP99MS), TTFTP99MS: p.TTFTP99MS, ITLP50MS: p.ITLMS,
	}
	r := Run{Seq: seq, Step: s, Started: start, Result: loadgen.Result{
		Kind: s.Kind, Concurrency: s.ConcurrencyPerGPU * w.gpus, Started: start, Ended: start.Add(40 * time.Second),
		Window: e, WholeRun: e, Measured: loadgen.Outcomes{loadgen.OK: 5000}, All: loadgen.Outcomes{loadgen.OK: 6000},
	}}
	if w.judge != nil {
		w.judge(&r)
	}
	return r
}

// play runs a plan to its end.
func (w *world) play(t *testing.T, p Plan) ([]Run, Decision) {
	t.Helper()
	var runs []Run
	find := remember(knee.Find)
	for range 500 {
		d := nextStep(p, runs, find)
		if d.Done {
			return runs, d
		}
		runs = append(runs, w.run(d.Step, len(runs)+1))
	}
	t.Fatal("the planner asked for more than 500 runs")
	return nil, Decision{}
}

func fitOf(p Plan, runs []Run) knee.Fit {
	return Curve{Fingerprint: Fingerprint{GPUs: 1}, Plan: p, Runs: runs}.Fit()
}
