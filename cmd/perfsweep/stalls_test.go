package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/perfsweep/perfsweep/calibrate"
)

// TestVirtualStalls: an engine that stands still in 1, 3 or 7 of ten windows is
// never calibrated, and the reasons name the stalls. What the runs between them
// read is not averaged with them.
func TestVirtualStalls(t *testing.T) {
	last := uint64(2)
	if testing.Short() {
		last = 1
	}
	for _, share := range []string{"0.1", "0.3", "0.7"} {
		for seed := uint64(1); seed <= last; seed++ {
			t.Run(fmt.Sprintf("%s/%d", share, seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					plan := quickPlan()
					plan.Seed = seed
					curve, _, p := virtual(t, fmt.Sprintf("batch-cap?chunk=32&stall=%s&seed=%d", share, seed), longOSL, plan)
					r := propose(curve)
					said := strings.Join(r.Reasons, "; ")
					if r.Writable || r.Outcome != calibrate.OutcomeUnstable && r.Outcome != calibrate.OutcomeInvalid {
						t.Errorf("%s, writable %v: %s", r.Outcome, r.Writable, said)
					}
					if !strings.Contains(said, "stalled") && !strings.Contains(said, "stood still") {
						t.Errorf("the stalls are not named: %s", said)
					}
					if truth := p.Throughput(float64(r.Point.ConcurrencyPerGPU)); r.TokPerSecPerGPU > 0 && r.TokPerSecPerGPU < 0.85*truth {
						t.Errorf("%.0f tok/s at %d per GPU, where the engine without stalls gives %.0f", r.TokPerSecPerGPU, r.Point.ConcurrencyPerGPU, truth)
					}
				})
			})
		}
	}
}
