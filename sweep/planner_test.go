package sweep

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/perfsweep/perfsweep/knee/kneetest"
)

func TestTmp(t *testing.T) {
	for _, f := range []kneetest.Family{"A", "B", "B2", "C", "H", "P", "S", "E", "F"} {
		total, half, past, has, maxRuns := 0, 0, 0, 0, 0
		reasons := map[string]int{}
		const trials = 12
		for seed := range uint64(trials) {
			rng := rand.New(rand.NewPCG(seed, 5))
			c := kneetest.New(f, rng)
			w := newWorld(c, .03, seed)
			runs, d := w.play(t, DefaultPlan(Standard))
			total += len(runs)
			maxRuns = max(maxRuns, len(runs))
			fit := fitOf(DefaultPlan(Standard), runs)
			if d.Point.ConcurrencyPerGPU > 0 {
				has++
			} 
			reasons[string(fit.Status)+"/"+d.Point.Bound]++
			if c.Past(float64(d.Point.ConcurrencyPerGPU)) {
				past++
			}
			if fit.Knee > 0 && math.Abs(math.Log2(fit.Knee/c.Knee(.2))) <= .5 {
				half++
			}
		}
		t.Logf("%s avg %.1f max %d half %d/%d op %d past %d %v", f, float64(total)/trials, maxRuns, half, trials, has, past, reasons)
	}
	p := DefaultPlan(Standard)
	p.Confirm = true
	for seed := range uint64(20) {
		w := newWorld(kneetest.GB300(210), .03, seed)
		runs, d := w.play(t, p)
		t.Logf("%d runs %d: %s", seed, len(runs), d.Reason)
		if seed == 0 {
			for _, r := range runs {
				t.Log(r.Seq, r.Step.ConcurrencyPerGPU, r.Step.Kind, r.Step.Purpose, r.Step.Why)
			}
		}
	}
}
