package sweep

import (
	"strings"
	"testing"

	"github.com/perfsweep/perfsweep/knee/kneetest"
	"github.com/perfsweep/perfsweep/loadgen"
)

func TestUnstableEnvironments(t *testing.T) {
	w := newWorld(kneetest.GB300(210), 0.03, 1)
	w.judge = everyNth(1, "V6")
	runs, d := w.play(t, confirmPlan())
	if len(runs) > 6 || d.Point.ConcurrencyPerGPU != 0 || !strings.Contains(d.Reason, "unstable") {
		t.Errorf("all runs stall: %d runs, %+v", len(runs), d)
	}

	// Two stalled attempts at the operating point refuse, one does not.
	for stalls, healthy := range []bool{true, true, false} {
		w := newWorld(kneetest.GB300(210), 0.03, 1)
		left := stalls
		w.judge = func(r *Run) {
			if r.Step.Purpose == Confirm && left > 0 {
				left--
				r.Violations = []Violation{{Gate: "V6"}}
			}
		}
		runs, d := w.play(t, confirmPlan())
		if d.Point.Healthy != healthy {
			t.Errorf("%d stalled attempts: %+v", stalls, d)
		}
		if last := runs[len(runs)-1]; !healthy && (last.Step.Kind != loadgen.Gate || !strings.Contains(d.Reason, "unstable")) {
			t.Errorf("the second stall did not end it: %+v", d)
		}
	}
}

// TestClientBound: where this tool was the limit, a curve that still rises is
// no lower bound of the server's.
func TestClientBound(t *testing.T) {
	for gates, want := range map[string]string{"V8": "client-bound", "V3 V8": "client-bound", "V6": "", "V2 V3": ""} {
		w := newWorld(rising(), 0.02, 1)
		w.judge = func(r *Run) {
			if r.Step.ConcurrencyPerGPU > 64 {
				for _, g := range strings.Fields(gates) {
					r.Violations = append(r.Violations, Violation{Gate: g})
				}
			}
		}
		_, d := w.play(t, confirmPlan())
		if got := d.Point.ConcurrencyPerGPU == 0; got != (want != "") || !strings.Contains(d.Reason, want) {
			t.Errorf("%s above 64 per GPU: %+v", gates, d)
		}
	}
}
