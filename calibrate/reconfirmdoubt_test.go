package calibrate

import (
	"strings"
	"testing"
	"time"

	"github.com/perfsweep/perfsweep/sweep"
)

// What a check would doubt keeps no gate: runs of two kinds have a spread that
// explains any loss, and what a gate was derived from cannot confirm it.
func TestReconfirmDoubts(t *testing.T) {
	p, _ := proved(newFixture().simulated())
	n := p.Gate.ConcurrencyPerGPU
	for name, c := range map[string]struct {
		x, p99  []float64
		later   time.Duration
		quick   bool
		state   ReconfirmState
		because string
	}{
		"healthy":               {x: []float64{21300, 21000, 21100}, p99: []float64{670, 680, 665}, later: 240 * time.Hour, state: ReconfirmKept},
		"just inside":           {x: []float64{19300, 19200, 19250}, p99: []float64{670, 680, 665}, later: 240 * time.Hour, state: ReconfirmKept},
		"just outside":          {x: []float64{18700, 18800, 18750}, p99: []float64{670, 680, 665}, later: 240 * time.Hour, state: ReconfirmChanged},
		"one of two kinds":      {x: []float64{21300, 17600, 17500}, p99: []float64{670, 680, 665}, later: 240 * time.Hour, state: ReconfirmRefused, because: "two clusters (C1"},
		"one that stood still":  {x: []float64{21300, 21000, 12000}, p99: []float64{670, 680, 665}, later: 240 * time.Hour, state: ReconfirmRefused, because: "two clusters (C1"},
		"tails apart":           {x: []float64{21300, 21000, 21100}, p99: []float64{670, 680, 2200}, later: 240 * time.Hour, state: ReconfirmRefused, because: "TTFT p99 fell apart (C2"},
		"short runs":            {x: []float64{21300, 21000, 21100}, p99: []float64{670, 680, 665}, later: 240 * time.Hour, quick: true, state: ReconfirmRefused, because: "their TTFT p99 is not used"},
		"older than the gate":   {x: []float64{21300, 21000, 21100}, p99: []float64{670, 680, 665}, later: -240 * time.Hour, state: ReconfirmRefused, because: "before what it is held against was measured"},
		"the gate's own runs":   {x: healthyX(), p99: healthyP99(), state: ReconfirmRefused, because: "runs that the gate rests on"},
		"one of its own, later": {x: []float64{21300, 21197, 21100}, p99: []float64{670, 677, 665}, later: 240 * time.Hour, state: ReconfirmRefused, because: "runs that the gate rests on"},
	} {
		f := newFixture().simulated()
		f.attempts(sweep.Confirm, n, c.x, c.p99)
		for i := range f.curve.Runs {
			r := &f.curve.Runs[i]
			r.Started, r.Result.Started, r.Result.Ended = r.Started.Add(c.later), r.Result.Started.Add(c.later), r.Result.Ended.Add(c.later)
			if c.quick {
				r.Result.WholeRun.Requests = 900
			}
		}
		got := p.Reconfirm("s.json", f.curve, sweep.Decision{Done: true, Point: sweep.OperatingPoint{ConcurrencyPerGPU: n, Healthy: true}})
		if why := strings.Join(got.Reasons, " "); got.State != c.state || !strings.Contains(why, c.because) {
			t.Errorf("%s: %s, want %s: %s", name, got.State, c.state, why)
		}
	}
}
