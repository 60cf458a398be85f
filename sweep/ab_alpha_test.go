package sweep_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/knee"
	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
	"github.com/perfsweep/perfsweep/sweep/compare"
)

// abWorld makes the runs of two targets, of which B has the speed given. What
// happens around them, bursts and a random walk, meets both.
type abWorld struct {
	curve       kneetest.Curve
	rng         *rand.Rand
	cv          float64
	stalls      *kneetest.Stalls
	drift, step float64
	invalid     float64 // share of runs that fail a gate
	clock       time.Time
}

func (w *abWorld) run(s sweep.Step, speed float64) sweep.Run {
	p := w.curve.Sweep(w.rng, []int{s.ConcurrencyPerGPU}, 1, w.cv, w.stalls)[0]
	w.drift += w.step * w.rng.NormFloat64()
	began := w.clock
	w.clock = began.Add(40 * time.Second)
	e := loadgen.Estimate{
		Seconds: 30, Requests: 5000, OutputTokPerSec: p.TokPerSecPerGPU * speed * math.Exp(w.drift),
		TTFTP50MS: p.TTFTP50MS, TTFTP99MS: p.TTFTP99MS, ITLP50MS: p.ITLMS,
	}
	r := sweep.Run{Step: s, Started: began, Result: loadgen.Result{
		Kind: s.Kind, Concurrency: s.ConcurrencyPerGPU, Started: began, Ended: w.clock, Window: e,
		Measured: loadgen.Outcomes{loadgen.OK: 5000}, All: loadgen.Outcomes{loadgen.OK: 6000},
	}}
	if w.rng.Float64() < w.invalid {
		r.Violations = []sweep.Violation{{Gate: "V6"}}
	}
	return r
}

// judge plays a whole campaign and compares its pairs.
func (w *abWorld) judge(t *testing.T, p sweep.Plan, speed float64) compare.Report {
	t.Helper()
	var a, b []sweep.Run
	next := sweep.FastTurns()
	for {
		turn, err := next(p, a, b)
		if err != nil {
			t.Fatal(err)
		}
		if turn.Done {
			break
		}
		if turn.Side == sweep.SideA {
			a = append(a, w.run(turn.Step, 1))
		} else {
			b = append(b, w.run(turn.Step, speed))
		}
	}
	va, vb := sweep.ValidPairs(a, b)
	r, err := compare.Curves(side(p, va), side(p, vb), compare.Options{Confidence: 0.95, Throughput: 0.03, TTFT: 0.10, Paired: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func side(p sweep.Plan, runs []sweep.Run) compare.Side {
	c := sweep.Curve{Fingerprint: sweep.Fingerprint{GPUs: 1}, Plan: p, Runs: runs}
	return compare.Side{Runs: c.Points(), All: runs, Fit: knee.Fit{}}
}

func changed(v compare.Verdict) bool { return v == compare.Better || v == compare.Worse }

// TestEqualTargetsDoNotDiffer: of two targets that are the same one, about as
// many are told apart as the confidence allows, though A alone decides what is
// measured, however the environment behaves; and of two that differ by a tenth
// nearly all are.
func TestEqualTargetsDoNotDiffer(t *testing.T) {
	fixed := sweep.DefaultPlan(sweep.Standard)
	fixed.Levels = []int{8, 16, 32, 64, 128, 192}
	adaptive := sweep.DefaultPlan(sweep.Standard)
	for _, tt := range []struct {
		name string
		plan sweep.Plan
		set  func(*abWorld)
	}{
		{"fixed levels", fixed, func(*abWorld) {}},
		{"adaptive", adaptive, func(*abWorld) {}},
		{"drifting", fixed, func(w *abWorld) { w.step = 0.02 }},
		{"bursts", fixed, func(w *abWorld) { w.stalls = kneetest.NewStalls(w.rng, 0.3) }},
		{"INVALID runs", fixed, func(w *abWorld) { w.invalid = 0.15 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			below, told, seen := 0, 0, 0
			for seed := range uint64(abTrials) {
				w := &abWorld{curve: kneetest.GB300(210), rng: rand.New(rand.NewPCG(seed, 21)), cv: 0.03, clock: time.Unix(0, 0)}
				tt.set(w)
				plan := tt.plan
				plan.Seed = seed
				r := w.judge(t, plan, 1)
				if r.Throughput.P <= 0.05 {
					below++
				}
				if changed(r.Throughput.Verdict) {
					told++
				}
				if w.judge(t, plan, 0.9).Throughput.Verdict == compare.Worse {
					seen++
				}
			}
			n := float64(abTrials)
			t.Logf("p ≤ .05 in %.1f %% of %d, a change is told in %.1f %%; a tenth is seen in %.1f %%", 100*float64(below)/n, abTrials, 100*float64(told)/n, 100*float64(seen)/n)
			if limit := 0.05*n + 3*math.Sqrt(0.05*0.95*n); float64(below) > limit || told > below {
				t.Errorf("p ≤ .05 in %d of %d, %d of them told as a change; at most %.0f may be", below, abTrials, told, limit)
			}
			if tt.name != "bursts" && float64(seen) < 0.9*n {
				t.Errorf("a tenth is seen in %d of %d", seen, abTrials)
			}
		})
	}
}
