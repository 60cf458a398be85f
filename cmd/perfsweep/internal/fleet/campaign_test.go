package fleet

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// TestCampaignRepeats: a campaign over a fleet that loses a generator in the
// middle of a level keeps the run as INVALID, makes the level again and comes to
// its end; the engine has delivered what the valid runs counted, and more.
func TestCampaignRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, pods, f := simulated(t, "kneed?chunk=32", 3)
		cfg, pre := level(t, f, loadgen.Steady, 12)
		plan := sweep.DefaultPlan(sweep.Quick)
		plan.Levels, plan.Repeats = []int{6, 12}, 1
		curve := sweep.Curve{
			Fingerprint: sweep.Fingerprint{Target: "sim:kneed", Simulated: true, Model: pre.Model, GPUs: 1, Workload: cfg.Workload.Spec(), Effort: sweep.Quick},
			Plan:        plan, Started: time.Now(), Preflight: pre,
		}
		j, err := sweep.CreateJournal(filepath.Join(t.TempDir(), "j.jsonl"), curve)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = j.Close() }() // each line is synced as it is written
		runs := 0
		c := &sweep.Campaign{Curve: curve, Journal: j, Measure: func(ctx context.Context, s sweep.Step, first uint64) (loadgen.Result, error) {
			if runs++; runs == 2 {
				time.AfterFunc(5*time.Second, func() { pods[2].kill(); pods[2].start() })
			}
			own := cfg
			own.Concurrency, own.Kind, own.FirstRequest = s.ConcurrencyPerGPU, s.Kind, first
			own.Limits.MinRequests = int64(12 * s.ConcurrencyPerGPU)
			return f.Run(ctx, own, pre)
		}}
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		valid := map[int]int{}
		lost := 0
		for _, r := range c.Curve.Runs {
			if r.Valid() {
				valid[r.Step.ConcurrencyPerGPU]++
			}
			if len(r.Result.LostPods) > 0 {
				lost++
				if len(r.Violations) != 1 || r.Violations[0].Gate != "V8" {
					t.Errorf("%+v", r.Violations)
				}
			}
		}
		if lost != 1 || valid[6] == 0 || valid[12] == 0 || runs != len(c.Curve.Runs) {
			t.Errorf("%d runs lost a generator, %v are valid of %d", lost, valid, runs)
		}
	})
}
