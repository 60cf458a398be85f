package main

import (
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/sweep"
)

// foretold holds what --plan would have said before a campaign against what the
// campaign took. The bound on runs holds surely; of the time only its size can
// be told from a request alone.
func foretold(t *testing.T, curve sweep.Curve) {
	t.Helper()
	before := sweep.Curve{Fingerprint: curve.Fingerprint, Plan: curve.Plan, Preflight: curve.Preflight}.Outlook()
	var took time.Duration
	for _, r := range curve.Runs {
		took += r.Result.Ended.Sub(r.Result.Started)
	}
	t.Logf("foretold %d runs (at most %d), %v; took %d, %v: ratio of time %.2f", before.Runs, before.MostRuns, before.Time, len(curve.Runs), took, took.Seconds()/before.Time.Seconds())
	if len(curve.Runs) > before.MostRuns {
		t.Errorf("%d runs were made, and --plan would have said at most %d", len(curve.Runs), before.MostRuns)
	}
}
