//go:build verify

package dynamo

import (
	"fmt"
	"testing"
	"time"
)

// TestLostWorkerOften: ten of ten, and with all four the same check passes.
// Five are noticed by the frontend before the check, five are killed when it
// begins, in its first gate run, and in the run after that.
func TestLostWorkerOften(t *testing.T) {
	bin := build(t)
	t.Run("all there", func(t *testing.T) {
		s, dir := lostDeployment(t, bin)
		if a, c := check(t, s, dir, bin); a.exit != 0 {
			t.Errorf("exit status %d, verdict %s; stderr:\n%s", a.exit, c.Verdict, a.stderr)
		}
	})
	moments := []time.Duration{0, 0, 0, 0, 0, time.Millisecond, 3 * time.Second, 8 * time.Second, 25 * time.Second, 50 * time.Second}
	for i, after := range moments {
		t.Run(fmt.Sprintf("%d after %s", i+1, after), func(t *testing.T) { lostWorker(t, bin, after) })
	}
}
