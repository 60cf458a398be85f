package main

import (
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
	"github.com/perfsweep/perfsweep/sweep"
)

// stallWatch: a target that stood still with a single request in flight was
// cold or stalls; a check then watches ten times as long as the silence was,
// so that a stall that recurs is seen rather than hoped away.
func stallWatch(p sweep.Plan, pre loadgen.Preflight) time.Duration {
	slow, warm := pre.SlowestTTFTMS, pre.TTFTMS
	if !p.Check || slow <= 2000 || slow <= 20*warm {
		return 0
	}
	return time.Duration(10 * slow * float64(time.Millisecond))
}
