package sweep

import (
	"testing"

	"github.com/perfsweep/perfsweep/loadgen"
)

// TestLimitedHere: a run that was stopped, or lost a generator, failed V8 and is
// no sign that this machine is too small.
func TestLimitedHere(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*loadgen.Result)
		want   bool
	}{
		"too busy":         {func(r *loadgen.Result) { r.Health.CPUShare = 0.95 }, true},
		"stopped":          {func(r *loadgen.Result) { r.Suspended = []loadgen.Suspension{{LengthS: 3}} }, false},
		"lost a generator": {func(r *loadgen.Result) { r.LostPods = []string{"load-1"} }, false},
		"healthy":          {func(*loadgen.Result) {}, false},
	} {
		r := Run{Step: Step{ConcurrencyPerGPU: 8}, Result: healthyRun(loadgen.Steady)}
		c.change(&r.Result)
		r.Violations = Validate(r.Result, eos, 0, 2000)
		if got := (Curve{Runs: []Run{r}}).ClientBound(); got != c.want {
			t.Errorf("%s: %v, %+v", name, got, r.Violations)
		}
	}
}
