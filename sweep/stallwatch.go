package sweep

import (
	"time"

	"github.com/perfsweep/perfsweep/loadgen"
)

// StallWatch is how long a check has to watch, 0 for no longer than any: a target
// that stood still with a single request in flight was cold or stalls, and ten
// times as long as the silence was shows whether a stall recurs.
func StallWatch(pre loadgen.Preflight) time.Duration {
	const longest = 365 * 24 * time.Hour // no preflight waits for a tenth of that
	slow, warm := pre.SlowestTTFTMS, pre.TTFTMS
	if slow <= 2000 || slow <= 20*warm {
		return 0
	}
	return time.Duration(min(10*slow*float64(time.Millisecond), float64(longest)))
}
